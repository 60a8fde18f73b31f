import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { apiKeyOfFile, apiKeyProblem } from './api-key.ts';
import type { Config } from './config.ts';
import type { ConfigIssue } from './issue.ts';
import type { FileReference } from './parse.ts';
import { parseConfig, sortIssues } from './parse.ts';
import { quote, withoutKeys } from './quoting.ts';
import { resolveConfig } from './resolve.ts';
import type { Environment } from './variables.ts';

/** A configuration that can be used, or everything that is wrong with it. */
export type LoadResult =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly issues: readonly ConfigIssue[] };

type FileResult =
  | { readonly ok: true; readonly content: string }
  | { readonly ok: false; readonly problem: string };

/**
 * Reads the configuration and the files that it names, whose relative paths start at the configuration's
 * directory. Bad input of any kind comes back as issues.
 */
export async function loadConfig(file: string, env: Environment): Promise<LoadResult> {
  const read = await readTextFile(file);
  if (!read.ok) {
    const message = `can't be read: ${read.problem}; copy config.example.yaml there, or name another file with --config`;
    return { ok: false, issues: [{ file: withoutKeys(file), path: '', message }] };
  }
  const { shape, issues, files, variables } = parseConfig(read.content, file, env);
  const contents = new Map<string, string>();
  const fileIssues = await Promise.all(
    files.map(async (reference): Promise<ConfigIssue[]> => {
      const { path, line, column } = reference;
      const secret = await readTextFile(resolve(dirname(file), reference.file));
      const problem = secret.ok
        ? contentProblem(reference, secret.content)
        : `can't be read: ${secret.problem}`;
      if (secret.ok) contents.set(path, secret.content);
      return problem === undefined
        ? []
        : [{ file, line, column, path, message: `the file ${quote(reference.file)} ${problem}` }];
    }),
  );
  const all = sortIssues([...issues, ...fileIssues.flat()]);
  if (shape === undefined || all.length > 0) return { ok: false, issues: all };
  return { ok: true, config: resolveConfig(shape, { contents, variables }) };
}

/** Text that is not UTF-8 would go on as replacement characters: a key that nobody can find fault with. */
async function readTextFile(file: string): Promise<FileResult> {
  try {
    return { ok: true, content: new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file)) };
  } catch (error) {
    return { ok: false, problem: readProblem(error) };
  }
}

function readProblem(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'there is no such file';
    case 'EISDIR':
      return 'it is a directory';
    case 'EACCES':
    case 'EPERM':
      return 'permission denied';
    case 'ERR_ENCODING_INVALID_ENCODED_DATA':
      return 'it is not UTF-8 text';
    default:
      return typeof code === 'string' ? code : 'unknown error';
  }
}

function contentProblem({ path }: FileReference, content: string): string | undefined {
  if (path.endsWith('.api_key_file')) {
    const problem = apiKeyProblem(apiKeyOfFile(content));
    return problem && `is no key: ${problem}`;
  }
  const isKey = path.endsWith('.key_file');
  try {
    createSecureContext(isKey ? { key: content } : { cert: content });
    return undefined;
  } catch {
    return isKey ? 'holds no private key in PEM, or one with a passphrase' : 'holds no certificate in PEM';
  }
}
