import { dirname, resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { apiKeyOfFile, apiKeyProblem } from './api-key.ts';
import type { Config } from './config.ts';
import { type ConfigIssue, sortIssues } from './issue.ts';
import { type FileReference, type ParsedConfig, parseConfig } from './parse.ts';
import { quote, withoutKeys } from './quoting.ts';
import { resolveConfig } from './resolve.ts';
import { readTextFile } from './text-file.ts';
import type { Environment } from './variables.ts';

/** A configuration that can be used, or everything that is wrong with it. */
export type LoadResult =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly issues: readonly ConfigIssue[] };

/** How a configuration is loaded. */
export interface LoadOptions {
  /** Leaves the files with API keys alone, for a user who has a key of his own and may not read them: those keys are then empty. */
  readonly skipKeyFiles?: boolean;
  /** Reads the text; `parseConfig` where absent. */
  readonly parse?: (text: string, file: string, env: Environment) => ParsedConfig | Promise<ParsedConfig>;
}

/**
 * Reads the configuration and the files that it names, whose relative paths start at the configuration's
 * directory. Bad input of any kind comes back as issues.
 */
export async function loadConfig(
  file: string,
  env: Environment,
  { skipKeyFiles = false, parse = parseConfig }: LoadOptions = {},
): Promise<LoadResult> {
  const read = await readTextFile(file);
  if (!read.ok) {
    const message = `can't be read: ${read.problem}; copy config.example.yaml there, or name another file with --config`;
    return { ok: false, issues: [{ file: withoutKeys(file), path: '', message }] };
  }
  const { shape, issues, files, variables } = await parse(read.content, file, env);
  const contents = new Map<string, string>();
  const fileIssues = await Promise.all(
    files.map(async (reference): Promise<ConfigIssue[]> => {
      const { path, line, column } = reference;
      if (skipKeyFiles && isKeyFile(path)) return [];
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

function isKeyFile(path: string): boolean {
  return path.endsWith('.api_key_file');
}

function contentProblem({ path }: FileReference, content: string): string | undefined {
  if (isKeyFile(path)) {
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
