// Runs the linter on files of a test.
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const OXLINT = join(import.meta.dirname, '../../node_modules/.bin/oxlint');

interface Diagnostic {
  readonly code: string;
  readonly filename: string;
  readonly labels: readonly { readonly span: { readonly line: number } }[];
}

/**
 * Lints these files with the project's rules. The result has the `file:line` of each error of the
 * given rules, sorted.
 */
export async function rejected(
  files: ReadonlyMap<string, readonly string[]>,
  rules: readonly string[],
): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'linted-'));
  try {
    await Promise.all(
      ['.oxlintrc.json', 'scripts/layers.oxlintrc.json'].map((file) => cp(file, join(folder, file))),
    );
    for (const [file, lines] of files) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), lines.join('\n'));
    }
    const { stdout } = await promisify(execFile)(OXLINT, ['--format', 'json', '.'], {
      cwd: folder,
      maxBuffer: 64 * 2 ** 20,
    }).catch((error: { stdout: string }) => error);
    const { diagnostics } = JSON.parse(stdout) as { diagnostics: readonly Diagnostic[] };
    return diagnostics
      .filter(({ code }) => rules.some((rule) => code.includes(rule)))
      .map(({ filename, labels }) => `${filename}:${labels[0]?.span.line}`)
      .toSorted();
  } finally {
    await rm(folder, { recursive: true });
  }
}
