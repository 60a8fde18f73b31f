// A problem in a configuration file, printed with its position.

/** One problem in the configuration. Line and column count from 1. */
export interface ConfigIssue {
  readonly file: string;
  /** Absent if the issue is about the whole file, such as a missing one. */
  readonly line?: number;
  readonly column?: number;
  /** The path in the configuration, such as `panels[0].url`; empty for the whole configuration. */
  readonly path: string;
  /** What is wrong and what was expected, never with a secret. */
  readonly message: string;
}

/** The issues as lines of `file:line:column: path: message`, without a trailing newline. */
export function formatIssues(issues: readonly ConfigIssue[]): string {
  const lines = issues.map(({ file, line, column, path, message }) => {
    const place = line === undefined ? file : `${file}:${line}:${column ?? 1}`;
    return path === '' ? `${place}: ${message}` : `${place}: ${path}: ${message}`;
  });
  return lines.join('\n');
}
