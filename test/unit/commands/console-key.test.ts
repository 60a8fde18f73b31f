import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { CommandFailure } from '../../../src/commands/command-failure.ts';
import { KEY_VARIABLE, ownKey } from '../../../src/commands/console-key.ts';

const folder = mkdtempSync(join(tmpdir(), 'console-key-'));
const KEY = 'ptlc_0123456789abcdefghijklmnopqrstuvwxyz';

afterEach(() => {
  vi.unstubAllEnvs();
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function fileWith(content: string): string {
  const file = join(folder, 'key');
  writeFileSync(file, content);
  return file;
}

/** The key and its source, without the folder. */
async function read(file: string | undefined, variable?: string) {
  vi.stubEnv(KEY_VARIABLE, variable);
  const own = await ownKey(file);
  return own && [own.key.reveal(), own.source.replace(folder, '')];
}

describe("the user's own key", () => {
  it('comes from the file, or else from the variable', async () => {
    expect(await read(fileWith(`${KEY}\n`), 'ptlc_other')).toEqual([KEY, 'the file "/key"']);
    expect(await read(undefined, KEY)).toEqual([KEY, KEY_VARIABLE]);
  });

  it.each([undefined, ''])('is missing if neither is there: %j', async (variable) => {
    expect(await read(undefined, variable)).toBeUndefined();
  });

  it.each([
    [
      'of another kind',
      () => read(undefined, 'ptla_0123456789'),
      `${KEY_VARIABLE}: expected a client API key`,
    ],
    ['in an empty file', () => read(fileWith('\n')), 'the file "'],
    ['in a file that is missing', () => read(join(folder, 'none')), '--api-key-file "'],
  ])('is rejected if it is one %s', async (_what, reading, message) => {
    const failure: unknown = await reading().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(CommandFailure);
    expect((failure as Error).message.startsWith(message)).toBe(true);
  });
});
