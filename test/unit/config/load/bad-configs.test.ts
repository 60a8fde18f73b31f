import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../../../src/config/load.ts';
import { formatIssues } from '../../../../src/yaml/issues.ts';
import { BAD_CONFIG_ENV, BAD_CONFIGS, badConfigFolder } from '../../../support/bad-configs.ts';

const { folder, remove } = badConfigFolder();
afterAll(remove);

describe('an invalid configuration', () => {
  test.each(BAD_CONFIGS)('gives exactly the messages of the table: $name', async ({ name, expected }) => {
    const result = await loadConfig(join(folder, `${name}.yaml`), BAD_CONFIG_ENV);
    const lines = result.ok ? 'no issues' : formatIssues(result.issues).replaceAll(`${folder}/`, '');
    expect(`${lines}\n`).toBe(expected);
  });

  // Every secret in the table contains the same word.
  test('gives messages without secrets', () => {
    expect(BAD_CONFIGS.length).toBeGreaterThan(100);
    expect(BAD_CONFIGS.filter(({ expected }) => expected.includes('TopSecret'))).toEqual([]);
  });
});
