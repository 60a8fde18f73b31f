import { chmod } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { readableByAll } from '../../../../src/commands/file-warnings.ts';
import { loadWebConfig } from '../../../../src/http/web-config/load-web-config.ts';
import { formatIssues } from '../../../../src/yaml/issues.ts';
import { pairOf, TLS, WebConfigFiles } from '../../../support/web-config-files.ts';

let files: WebConfigFiles;

beforeAll(async () => {
  files = await WebConfigFiles.create();
});
afterAll(() => files.end());
afterEach(() => files.clear());

async function problemsOf(contents: Readonly<Record<string, string>>, file?: string): Promise<string> {
  const path = await files.write(contents);
  const loaded = await loadWebConfig(file ?? path, {});
  if (loaded.ok) throw new Error('expected problems');
  return files.relative(formatIssues(loaded.issues));
}

test('loading reads the files it refers to relative to its own folder', async () => {
  const loaded = await loadWebConfig(await files.write({ 'web.yml': TLS, ...pairOf(files.first) }), {});
  expect(loaded).toMatchObject({ ok: true, settings: { tls: { context: files.first } }, warnings: [] });
  expect(loaded.files.map((file) => files.relative(file))).toEqual(['web.yml', 'server.crt', 'server.key']);
});

test.each([
  ['all users', 0o644, 'web.yml:1:55: tls_server_config.key_file'],
  ['one user', 0o600, undefined],
])('loading finds out whether all users can read the private key: %s', async (_, mode, place) => {
  const file = await files.write({ 'web.yml': TLS, ...pairOf(files.first) });
  await chmod(files.path('server.key'), mode);
  const loaded = await loadWebConfig(file, {});
  if (!loaded.ok) throw new Error(formatIssues(loaded.issues));
  const lines = files.relative((await readableByAll(loaded.secretFiles)).join());
  expect(lines.split(': all users of this machine can read')[0]).toBe(place ?? '');
});

test('loading reports a missing file', async () => {
  expect(await problemsOf({ other: '' }, '/nowhere/web.yml')).toBe(
    "/nowhere/web.yml: can't be read: no such file; correct --web.config.file",
  );
});

test('loading reports all problems together', async () => {
  expect(await problemsOf({ 'web.yml': `${TLS}rate_limits: 1\n` })).toBe(
    [
      'web.yml:1:33: tls_server_config.cert_file: the file "server.crt" can\'t be read: no such file',
      'web.yml:1:55: tls_server_config.key_file: the file "server.key" can\'t be read: no such file',
      'web.yml:2:1: rate_limits: unknown key, did you mean rate_limit?',
    ].join('\n'),
  );
});

test.each([
  [
    'no certificate',
    () => ({ ...pairOf(files.first), 'server.crt': 'x' }),
    '1:33: tls_server_config.cert_file: the file "server.crt" is not a certificate in PEM',
  ],
  [
    'no key',
    () => ({ ...pairOf(files.first), 'server.key': 'x' }),
    '1:55: tls_server_config.key_file: the file "server.key" is not a private key in PEM without a passphrase',
  ],
  [
    "another certificate's key",
    () => ({ ...pairOf(files.first), 'server.key': files.second.key }),
    "1:55: tls_server_config.key_file: can't be used with the certificate: key values mismatch",
  ],
])('loading reports a file with %s', async (_, material, problem) => {
  expect(await problemsOf({ 'web.yml': TLS, ...material() })).toBe(`web.yml:${problem}`);
});

test('loading reports a CA file without certificates', async () => {
  const clients = TLS.replace('}', ', client_ca_file: ca.crt, client_auth_type: VerifyClientCertIfGiven }');
  expect(await problemsOf({ 'web.yml': clients, ...pairOf(files.first), 'ca.crt': 'nobody' })).toBe(
    'web.yml:1:84: tls_server_config.client_ca_file: the file "ca.crt" is not a certificate in PEM',
  );
});
