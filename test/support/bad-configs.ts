// The invalid configurations of `test/fixtures/config/bad.txt`, with the expected messages.
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FIXTURES = fileURLToPath(new URL('../fixtures/config', import.meta.url));

/** The environment variables that these configurations use. */
export const BAD_CONFIG_ENV = {
  EMPTY: '',
  STRAY_SECRET: 'TopSecret3',
  BEARER_KEY: 'Bearer TopSecret1\n',
  UNSEEN_KEY: '\u200bTopSecret1',
};

interface BadConfig {
  readonly name: string;
  readonly yaml: string;
  /** The expected messages, with `NAME.yaml` as the file. */
  readonly expected: string;
}

/**
 * An entry of the file: `=== NAME`, the configuration, and a line `==> LINE:COLUMN: PATH: MESSAGE`
 * for each problem.
 */
const ROW = /^=== (?<name>.+)\n(?<yaml>[^]*?)(?<problems>(?:^==> .*\n)+)/gm;

/** The configurations, one for each possible mistake. */
export const BAD_CONFIGS: readonly BadConfig[] = [
  ...readFileSync(join(FIXTURES, 'bad.txt'), 'utf8').matchAll(ROW),
].map(({ groups: { name = '', yaml = '', problems = '' } = {} }) => ({
  name,
  yaml,
  expected: problems.replaceAll(/^==> /gm, `${name}.yaml:`),
}));

/** The messages about the configuration with this name, one per line. */
export function messagesOfBad(name: string): string {
  const found = BAD_CONFIGS.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no invalid configuration ${name}`);
  return found.expected;
}

/**
 * Creates a folder with every invalid configuration as `NAME.yaml`, and the files that they name.
 */
export function badConfigFolder(): { readonly folder: string; readonly remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'bad-configs-'));
  symlinkSync(join(FIXTURES, 'files'), join(folder, 'files'));
  for (const { name, yaml } of BAD_CONFIGS) writeFileSync(join(folder, `${name}.yaml`), yaml);
  return { folder, remove: () => rmSync(folder, { recursive: true }) };
}
