/** One thing that is wrong with the configuration. Line and column count from 1. */
export interface ConfigIssue {
  readonly file: string;
  /** Absent where the whole file is meant, as when there is none. */
  readonly line?: number;
  readonly column?: number;
  /** Where in the configuration, as `panels[0].url`; empty for the whole of it. */
  readonly path: string;
  /** What is wrong and what was expected; never holds a secret. */
  readonly message: string;
}

/** The issues as lines of `file:line:column: path: message`, without a newline at the end. */
export function formatIssues(issues: readonly ConfigIssue[]): string {
  return issues.map(formatIssue).join('\n');
}

function formatIssue({ file, line, column, path, message }: ConfigIssue): string {
  const place = line === undefined ? file : `${file}:${line}:${column ?? 1}`;
  return path === '' ? `${place}: ${message}` : `${place}: ${path}: ${message}`;
}

/** The issues in the order of their places. */
export function sortIssues(issues: readonly ConfigIssue[]): readonly ConfigIssue[] {
  return issues.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
}
