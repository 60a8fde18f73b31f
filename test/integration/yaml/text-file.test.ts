import { execFile } from 'node:child_process';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { loadConfig } from '../../../src/config/load-config.ts';
import { formatIssues } from '../../../src/yaml/issues.ts';
import {
  API_KEY_FILE,
  CONFIGURATION_FILE,
  readText,
  readTextFile,
  TLS_FILE,
} from '../../../src/yaml/text-file.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'text-files-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function pipe(): Promise<string> {
  const file = join(folder, 'pipe');
  await promisify(execFile)('mkfifo', [file]);
  return file;
}

describe('a file that a user named', () => {
  it.each([
    ['an API key', API_KEY_FILE, "can't be read: larger than 4 KiB, expected only the API key in it"],
    [
      'TLS',
      TLS_FILE,
      "can't be read: larger than 1 MiB, expected only certificates or a private key in it, in PEM",
    ],
    [
      'a configuration',
      CONFIGURATION_FILE,
      "can't be read: larger than 16 MiB, expected only settings in YAML in it",
    ],
  ])('for %s is read up to a limit, even if it has no end', async (_use, kind, problem) => {
    expect(await readTextFile('/dev/zero', kind)).toEqual({ ok: false, problem });
    const file = join(folder, 'file');
    const full = 'a'.repeat(kind.maxKibibytes * 1_024);
    await writeFile(file, full);
    expect(await readTextFile(file, kind)).toEqual({ ok: true, content: full });
    await writeFile(file, `${full}a`);
    expect(await readTextFile(file, kind)).toEqual({ ok: false, problem });
  });

  it('is read up to the limit from standard input, too', async () => {
    const endless = Readable.from(
      (function* () {
        for (;;) yield Buffer.alloc(1_024);
      })(),
    );
    expect(await readText(endless, API_KEY_FILE)).toMatchObject({ ok: false });
  });

  it('may be a pipe, of which all is read, whenever it is written', async () => {
    const file = await pipe();
    const writer = await open(file, 'r+');
    const read = readTextFile(file, API_KEY_FILE);
    await writer.write('one ');
    // Node.js reads and writes in the same threads, so the first part has been read by now.
    await writer.write('two');
    await writer.close();
    expect(await read).toEqual({ ok: true, content: 'one two' });
  });

  it('may be a pipe that is never written to or never ends, and reading it times out', async () => {
    const file = await pipe();
    expect(await readTextFile(file, API_KEY_FILE)).toEqual({ ok: true, content: '' });
    const silent = await open(file, 'r+');
    onTestFinished(() => silent.close());
    expect(await readTextFile(file, API_KEY_FILE)).toEqual({
      ok: false,
      problem:
        "can't be read: its data doesn't end within 5 s; close the other end of the pipe, or name an ordinary file",
    });
  });
});

describe('an endless file', () => {
  const problemsOf = async (result: ReturnType<typeof loadConfig>) => {
    const loaded = await result;
    return loaded.ok ? '' : formatIssues(loaded.issues);
  };

  it('is refused as configuration, and wherever a configuration refers to a file', async () => {
    expect(await problemsOf(loadConfig('/dev/zero', {}))).toBe(
      "/dev/zero: can't be read: larger than 16 MiB, expected only settings in YAML in it",
    );
    const file = join(folder, 'config.yaml');
    const panel = 'panels:\n  - name: main\n    url: https://panel.example.com\n    discover: true\n';
    await writeFile(file, `${panel}    api_key_file: /dev/zero\n    tls_config:\n      ca_file: /dev/zero\n`);
    expect(await problemsOf(loadConfig(file, {}))).toMatch(
      /api_key_file: the file "\/dev\/zero" can't be read: larger than 4 KiB.*\n.*ca_file: the file "\/dev\/zero" can't be read: larger than 1 MiB/,
    );
  });
});
