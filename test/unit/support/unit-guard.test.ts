import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { loadInThread } from '../../../src/config/load-config.ts';
import { BcryptThread } from '../../../src/http/passwords.ts';

it('a unit test cannot start a program', async () => {
  await expect(async () => promisify(execFile)('true')).rejects.toThrow("can't start a program");
  expect(() => spawnSync('true')).toThrow("can't start a program");
});

it('a unit test cannot start a thread from a build', async () => {
  await expect(loadInThread('config.yaml', {})).rejects.toThrow("can't start a thread");
  await expect(new BcryptThread().compare({ password: 'secret', hash: 'hash' })).rejects.toThrow(
    "can't start a thread",
  );
});
