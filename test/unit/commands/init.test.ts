import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { initCommand } from '../../../src/commands/init.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'init-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true });
  vi.unstubAllEnvs();
});

/** Runs the command without a terminal. Returns the error with which it ended. */
async function complaint(...args: readonly string[]): Promise<string> {
  let err = '';
  const command = initCommand();
  const root = new Command('gameserver-exporter').addCommand(command);
  for (const each of [root, command])
    each.exitOverride().configureOutput({ writeErr: (text) => (err += text) });
  const config = ['--config', join(folder, 'config.yaml')];
  const error: unknown = await root.parseAsync(['init', ...config, ...args], { from: 'user' }).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return err === '' ? String(error) : err;
}

const URL_FLAG = ['--url', 'https://panel.example.com'] as const;

describe('without a terminal', () => {
  it.each<[string, readonly string[], string]>([
    [
      'two sources of the key',
      [...URL_FLAG, '--key-file', 'key', '--key-variable', 'KEY'],
      'expected either --key-file or --key-variable, got both',
    ],
    ['no key', URL_FLAG, 'missing --key-file <file> (or --key-variable <name>): required without a terminal'],
    ['no address', ['--key-file', 'key'], 'missing --url <url>: required without a terminal'],
  ])('is incorrect usage with %s', async (_what, flags, message) => {
    expect(await complaint(...flags)).toBe(`error: ${message}\n`);
  });

  it('is incorrect usage with one file for configuration and key, before a flag that is missing', async () => {
    const file = join(folder, 'config.yaml');
    expect(await complaint('--save-key-to', file)).toBe(
      `error: expected different files for the configuration and the key, got ${file} for --config and ${file} for --save-key-to\n`,
    );
  });

  it.each<[string, readonly string[], string]>([
    [
      'a variable that is not set',
      [...URL_FLAG, '--key-variable', 'NOT_SET_ANYWHERE'],
      '--key-variable: the environment variable "NOT_SET_ANYWHERE" is not set',
    ],
    [
      'http to another machine',
      ['--url', 'http://panel.example.com', '--key-variable', 'KEY'],
      '--url: expected https, because http sends the API key in clear text (--allow-insecure permits it)',
    ],
  ])('fails and writes nothing with %s', async (_what, flags, message) => {
    vi.stubEnv('NOT_SET_ANYWHERE', undefined);
    vi.stubEnv('KEY', `ptlc_${'k'.repeat(43)}`);
    expect(await complaint(...flags)).toContain(message);
    expect(await readdir(folder)).toEqual([]);
  });

  it('replaces no file that exists', async () => {
    await writeFile(join(folder, 'config.yaml'), 'panels: []\n');
    const message = await complaint(...URL_FLAG, '--key-variable', 'KEY');
    expect(message).toContain(join(folder, 'config.yaml'));
    expect(message).toContain('--force');
  });
});
