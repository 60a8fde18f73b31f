import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { formatIssues } from '../../../src/yaml/issues.ts';

const DIRECTORY = join(dirname(fileURLToPath(import.meta.url)), '../../fixtures/config/bad');
const ENV = { EMPTY: '', STRAY_SECRET: 'TopSecret3' };

const files = readdirSync(DIRECTORY).filter((name) => name.endsWith('.yaml'));

/** The issues of a file, with paths relative to its directory. */
async function messagesOf(name: string): Promise<string> {
  const result = await loadConfig(join(DIRECTORY, name), ENV);
  return result.ok ? 'no issues' : formatIssues(result.issues).replaceAll(`${DIRECTORY}/`, '');
}

const expectedOf = (name: string) =>
  readFileSync(join(DIRECTORY, name.replace(/\.yaml$/, '.expected')), 'utf8');

describe('an invalid configuration', () => {
  test.each(files)('%s gives exactly the messages in the .expected file', async (name) => {
    expect(`${await messagesOf(name)}\n`).toBe(expectedOf(name));
  });

  // Every secret in the fixtures contains the same word.
  test('gives messages without secrets', () => {
    expect(files.filter((name) => expectedOf(name).includes('TopSecret'))).toEqual([]);
  });
});
