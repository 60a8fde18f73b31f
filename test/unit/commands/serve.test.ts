import { join } from 'node:path';
import { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { serveCommand } from '../../../src/commands/serve.ts';

beforeEach(() => vi.stubEnv('TOTAL_SHARDS', undefined));
afterEach(() => void vi.unstubAllEnvs());

/** Runs the command as a program's default command. Returns its error. */
async function complaint(...args: readonly string[]): Promise<string> {
  let err = '';
  const command = serveCommand();
  const root = new Command('gameserver-exporter').addCommand(command, { isDefault: true });
  for (const each of [root, command])
    each.exitOverride().configureOutput({ writeErr: (text) => (err += text) });
  const run = root.parseAsync(args, { from: 'user' });
  const error: unknown = await run.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return err === '' ? String(error) : err;
}

describe('as the default command, serve', () => {
  it.each<[readonly string[], string]>([
    [['serv'], "error: unknown command 'serv'\n"],
    [['--log.level', 'debug', 'chekc'], "error: unknown command 'chekc'\n"],
    [['serve', 'a.yaml', 'b.yaml'], "error: too many arguments: expected only 'a.yaml'\n"],
  ])('rejects %j', async (args, message) => {
    expect(await complaint(...args)).toBe(message);
  });

  it('rejects shards that do not exist', async () => {
    expect(await complaint('serve', '--shard', '5', '--total-shards', '5')).toMatch(/^error: .*shard/);
  });

  it('reads the file that is its argument', async () => {
    const file = join('nowhere', 'other.yaml');
    expect(await complaint('serve', file)).toContain(file);
    expect(await complaint('serve', '--config', file)).toContain(file);
  });
});
