import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { readableByAll } from '../../../../src/commands/check-warnings.ts';
import { loadWebConfig } from '../../../../src/http/web-config/load.ts';
import { formatIssues } from '../../../../src/yaml/issues.ts';
import { type Authority, type Certificate, createAuthority } from '../../../support/certificates.ts';

const TLS = 'tls_server_config: { cert_file: server.crt, key_file: server.key }\n';

let authority: Authority;
let first: Certificate;
let second: Certificate;
let folder: string;

beforeAll(async () => {
  authority = await createAuthority();
  [first, second] = [await authority.issue('IP:127.0.0.1'), await authority.issue('IP:127.0.0.1')];
});
afterAll(() => authority.end());
afterEach(async () => {
  await rm(folder, { recursive: true });
});

/** Writes files into a temporary folder; returns the first one's path. */
async function files(contents: Readonly<Record<string, string>>): Promise<string> {
  folder = await mkdtemp(join(tmpdir(), 'web-config-'));
  for (const [name, content] of Object.entries(contents)) await writeFile(join(folder, name), content);
  return join(folder, Object.keys(contents)[0] ?? '');
}

const pair = ({ cert, key }: Certificate) => ({ 'server.crt': cert, 'server.key': key });

async function problemsOf(contents: Readonly<Record<string, string>>, file?: string): Promise<string> {
  const path = await files(contents);
  const loaded = await loadWebConfig(file ?? path, {});
  if (loaded.ok) throw new Error('expected problems');
  return formatIssues(loaded.issues).replaceAll(`${folder}/`, '');
}

test('loading reads the files it refers to relative to its own folder', async () => {
  const loaded = await loadWebConfig(await files({ 'web.yml': TLS, ...pair(first) }), {});
  expect(loaded).toMatchObject({ ok: true, settings: { tls: { context: first } }, warnings: [] });
  expect(loaded.files.map((file) => file.replace(`${folder}/`, ''))).toEqual([
    'web.yml',
    'server.crt',
    'server.key',
  ]);
});

test.each([
  ['all users', 0o644, 'web.yml:1:55: tls_server_config.key_file'],
  ['one user', 0o600, undefined],
])('loading finds out whether all users can read the private key: %s', async (_, mode, place) => {
  const file = await files({ 'web.yml': TLS, ...pair(first) });
  await chmod(join(folder, 'server.key'), mode);
  const loaded = await loadWebConfig(file, {});
  if (!loaded.ok) throw new Error(formatIssues(loaded.issues));
  const lines = (await readableByAll(loaded.secretFiles)).join().replaceAll(`${folder}/`, '');
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
    () => ({ ...pair(first), 'server.crt': 'x' }),
    '1:33: tls_server_config.cert_file: the file "server.crt" is not a certificate in PEM',
  ],
  [
    'no key',
    () => ({ ...pair(first), 'server.key': 'x' }),
    '1:55: tls_server_config.key_file: the file "server.key" is not a private key in PEM without a passphrase',
  ],
  [
    "another certificate's key",
    () => ({ ...pair(first), 'server.key': second.key }),
    "1:55: tls_server_config.key_file: can't be used with the certificate: key values mismatch",
  ],
])('loading reports a file with %s', async (_, material, problem) => {
  expect(await problemsOf({ 'web.yml': TLS, ...material() })).toBe(`web.yml:${problem}`);
});

test('loading reports a CA file without certificates', async () => {
  const clients = TLS.replace('}', ', client_ca_file: ca.crt, client_auth_type: VerifyClientCertIfGiven }');
  expect(await problemsOf({ 'web.yml': clients, ...pair(first), 'ca.crt': 'nobody' })).toBe(
    'web.yml:1:84: tls_server_config.client_ca_file: the file "ca.crt" is not a certificate in PEM',
  );
});
