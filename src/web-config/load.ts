import { dirname, resolve } from 'node:path';
import { type ConfigIssue, sortIssues } from '../config/issue.ts';
import type { FileReference } from '../config/parse.ts';
import { quote, withoutKeys } from '../config/quoting.ts';
import { readTextFile } from '../config/text-file.ts';
import type { Environment } from '../config/variables.ts';
import type { WebSettings } from '../http/web-settings.ts';
import { type ParsedWebConfig, parseWebConfig } from './parse.ts';
import { materialProblem, resolveWebConfig } from './resolve.ts';
import type { WebConfigShape } from './schema.ts';

/** Settings that can be used, or everything that is wrong with the file. */
export type WebConfigResult = { readonly files: readonly string[] } & (
  | { readonly ok: true; readonly settings: WebSettings; readonly warnings: readonly ConfigIssue[] }
  | { readonly ok: false; readonly issues: readonly ConfigIssue[] }
);

/** Reads a web configuration and the files that it names, whose relative paths start at its directory. Bad input comes back as issues. */
export async function loadWebConfig(file: string, env: Environment): Promise<WebConfigResult> {
  const text = await readTextFile(file);
  if (!text.ok) {
    const message = `can't be read: ${text.problem}; correct --web.config.file`;
    return { ok: false, files: [file], issues: [{ file: withoutKeys(file), path: '', message }] };
  }
  const parsed = parseWebConfig(text.content, file, env);
  const files = [file, ...parsed.files.map((reference) => resolve(dirname(file), reference.file))];
  const contents: Record<string, string> = {};
  const missing = await Promise.all(
    parsed.files.map(async (reference): Promise<ConfigIssue[]> => {
      const read = await readTextFile(resolve(dirname(file), reference.file));
      if (!read.ok) return [unreadable(reference, file, read.problem)];
      contents[keyOf(reference)] = read.content;
      return [];
    }),
  );
  const issues = sortIssues([...parsed.issues, ...missing.flat()]);
  if (parsed.shape === undefined || issues.length > 0) return { ok: false, files, issues };
  const settings = resolveWebConfig(parsed.shape, contents);
  const problem = settings.tls === undefined ? undefined : materialProblem(settings.tls);
  if (problem === undefined) return { ok: true, files, settings, warnings: parsed.warnings };
  return { ok: false, files, issues: [materialIssue(problem, parsed, parsed.shape)] };
}

function keyOf({ path }: FileReference): string {
  return path.slice(path.lastIndexOf('.') + 1);
}

function unreadable(
  { path, file: named, line, column }: FileReference,
  file: string,
  problem: string,
): ConfigIssue {
  return { file, line, column, path, message: `the file ${quote(named)} can't be read: ${problem}` };
}

function materialIssue(
  { key, message }: NonNullable<ReturnType<typeof materialProblem>>,
  { issueAt }: ParsedWebConfig,
  { tls_server_config: tls }: WebConfigShape,
): ConfigIssue {
  const named = tls?.[`${key}_file`];
  if (named === undefined) return issueAt(['tls_server_config', key], message);
  return issueAt(['tls_server_config', `${key}_file`], `the file ${quote(named)}: ${message}`);
}
