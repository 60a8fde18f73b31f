import { rename, symlink, unlink, writeFile } from 'node:fs/promises';
import { hashSync } from 'bcryptjs';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { loadWebConfig } from '../../../../src/http/web-config/load-web-config.ts';
import { LOOK_EVERY_MS, WatchedWebConfig } from '../../../../src/http/web-config/watched-web-config.ts';
import { formatIssues } from '../../../../src/yaml/issues.ts';
import { eventually } from '../../../support/eventually.ts';
import { collectingLogger } from '../../../support/logger.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { pairOf, TLS, WebConfigFiles } from '../../../support/web-config-files.ts';

const [OLD, NEW] = [hashSync('old', 4), hashSync('new', 4)];
const usersOf = (hash: string) => `basic_auth_users: { alice: "${hash}" }\n`;

let files: WebConfigFiles;
const ends: (() => void)[] = [];

beforeAll(async () => {
  files = await WebConfigFiles.create();
});
afterAll(() => files.end());
afterEach(async () => {
  for (const end of ends.splice(0)) end();
  await files.clear();
});

/** Watches a configuration. Also returns a function that makes the watcher read the files. */
async function watch(contents: Readonly<Record<string, string>>) {
  const file = await files.write(contents);
  const loaded = await loadWebConfig(file, {});
  if (!loaded.ok) throw new Error(formatIssues(loaded.issues));
  const clock = new ManualClock();
  const log = collectingLogger();
  const web = new WatchedWebConfig({ file, env: {}, clock, log }, loaded);
  const changed = vi.fn<() => void>();
  web.onChange(changed);
  web.start();
  ends.push(() => web.stop());
  const look = async (times = 1) => {
    for (let time = 0; time < times; time++) {
      await clock.advance(LOOK_EVERY_MS);
      await eventually(() => expect(clock.pending).toBe(1));
    }
  };
  await look();
  expect(changed).not.toHaveBeenCalled();
  const messages = () => log.lines.map(({ level, message }) => files.relative(`${level}: ${message}`));
  return { file, web, clock, look, changed, messages };
}

test('a watched configuration uses a change once', async () => {
  const { file, web, look, changed, messages } = await watch({ 'web.yml': usersOf(OLD) });
  await writeFile(file, usersOf(NEW));
  await look();
  expect(web.current.users.get('alice')).toBe(NEW);
  await look(3);
  expect(changed).toHaveBeenCalledTimes(1);
  expect(messages()).toEqual([
    'info: web configuration reloaded',
    'warn: web.yml:1:1: basic_auth_users: passwords are sent in clear text, because there is no `tls_server_config`',
  ]);
});

test('a watched configuration uses a renewed certificate, even if certificate and key are replaced one after the other', async () => {
  const { web, look, changed, messages } = await watch({ 'web.yml': TLS, ...pairOf(files.first) });
  await writeFile(files.path('server.crt'), files.second.cert);
  await look(3);
  expect(web.current.tls?.context.cert).toBe(files.first.cert);
  expect(messages()).toEqual([
    'error: web configuration reload failed, keeping the previous one: web.yml:1:55: tls_server_config.key_file: ' +
      "can't be used with the certificate: key values mismatch",
  ]);
  await writeFile(files.path('server.key'), files.second.key);
  await look();
  expect(web.current.tls?.context).toMatchObject(files.second);
  expect(changed).toHaveBeenCalledTimes(1);
  expect(messages().slice(1)).toEqual(['info: web configuration reloaded']);
});

test('a watched configuration follows symbolic links, as Kubernetes replaces them', async () => {
  const { file, web, look } = await watch({ 'web.yml': usersOf(OLD) });
  await writeFile(files.path('a'), usersOf(OLD));
  await writeFile(files.path('b'), usersOf(NEW));
  await unlink(file);
  await symlink('a', file);
  await look();
  await symlink('b', files.path('next'));
  await rename(files.path('next'), file);
  await look();
  expect(web.current.users.get('alice')).toBe(NEW);
});

test.each([
  ['is emptied', '', /an empty web configuration protects nothing/],
  ['has lost its users', TLS, /disabling authentication \(no basic_auth_users\) requires a restart/],
  [
    'suddenly requires client certificates',
    TLS.replace('}', ', client_auth_type: RequireAnyClientCert }') + usersOf(OLD),
    /turning TLS or client certificates on or off requires a restart/,
  ],
])(
  'a watched configuration keeps the previous one if the file %s, reports it once, and uses the file once it is fixed',
  async (_, bad, problem) => {
    const { file, web, look, changed, messages } = await watch({
      'web.yml': TLS + usersOf(OLD),
      ...pairOf(files.first),
    });
    const before = web.current;
    await writeFile(file, bad);
    await look(3);
    expect(web.current).toBe(before);
    expect(changed).not.toHaveBeenCalled();
    expect(messages()).toEqual([expect.stringMatching(problem)]);
    await writeFile(file, TLS + usersOf(NEW));
    await look();
    expect(web.current.users.get('alice')).toBe(NEW);
  },
);

test('a watched configuration keeps the previous one if the file disappears, and uses the file when it is back', async () => {
  const { file, web, look, messages } = await watch({ 'web.yml': usersOf(OLD) });
  await unlink(file);
  await look(4);
  expect(web.current.users.get('alice')).toBe(OLD);
  expect(messages()).toEqual([expect.stringContaining("can't be read: no such file")]);
  await writeFile(file, usersOf(NEW));
  await look();
  expect(web.current.users.get('alice')).toBe(NEW);
});

test('a watched configuration ends when it is stopped', async () => {
  const { web, clock } = await watch({ 'web.yml': usersOf(OLD) });
  web.stop();
  await eventually(() => expect(clock.pending).toBe(0));
});
