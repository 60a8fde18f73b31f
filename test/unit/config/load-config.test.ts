import { generateKeyPairSync } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Config } from '../../../src/config/config.ts';
import { loadConfig } from '../../../src/config/load-config.ts';
import { formatIssues } from '../../../src/yaml/issues.ts';
import { BAD_CONFIG_ENV, BAD_CONFIGS, badConfigFolder } from '../../support/bad-configs.ts';

const CERTIFICATE = 'test/fixtures/config/files/cert.pem';
const UUID = '1A7CE997-259b-452e-8b4e-cecc464142ca';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'config-'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  return rm(directory, { recursive: true });
});

async function load(text: string | Uint8Array, env: Record<string, string> = {}, name = 'config.yaml') {
  const file = join(directory, name);
  await writeFile(file, text);
  return loadConfig(file, env);
}

const issuesOf = (result: Awaited<ReturnType<typeof load>>) => (result.ok ? '' : formatIssues(result.issues));

async function loadValid(text: string, env: Record<string, string> = {}): Promise<Config> {
  const result = await load(text, env);
  if (!result.ok) throw new Error(formatIssues(result.issues));
  return result.config;
}

const keyOf = async (text: string) => (await loadValid(text)).panels[0]?.apiKey.reveal();

const withKey = (key: string, id = 'd3aac109') => `panels:
  - name: main
    url: https://panel.example.com/games/
    ${key}
    servers:
      - id: ${id}
`;

test('a small configuration is completed with defaults', async () => {
  const config = await loadValid(withKey('api_key: TopSecret1'));
  expect(config).toEqual({
    log: { level: 'info', format: 'auto' },
    panels: [
      {
        name: 'main',
        url: 'https://panel.example.com/games',
        origin: 'https://panel.example.com',
        apiKey: expect.objectContaining({}),
        apiKeySource: 'inline',
        keyPerShard: false,
        pollIntervalMs: 30_000,
        stalenessMs: 60_000,
        listing: { intervalMs: 300_000 },
        requestTimeoutMs: 25_000,
        connectTimeoutMs: 10_000,
        authTimeoutMs: 12_000,
        allowInsecure: false,
        servers: [
          {
            panel: 'main',
            id: 'd3aac109',
            name: 'd3aac109',
            labels: {},
            expect: 'running',
            mode: 'auto',
            limits: {},
          },
        ],
      },
    ],
  });
  expect(config.panels[0]?.apiKey.reveal()).toBe('TopSecret1');
});

test('every setting is loaded', async () => {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  await mkdir(join(directory, 'tls'));
  await writeFile(join(directory, 'tls/key.pem'), privateKey);
  await copyFile(CERTIFICATE, join(directory, 'tls/cert.pem'));
  const { panels, compatibility, log } = await loadValid(
    `
panels:
  - name: main
    url: http://panel.example.com:8080
    origin: https://other.example.com
    api_key: prefix-\${KEY}
    requests_per_minute: 100
    poll_interval: 20s
    staleness: 1m30s
    request_timeout: 1s
    connect_timeout: 2s
    auth_timeout: 500ms
    allow_insecure: true
    socket_hosts: [Node1.example.com, '::1']
    tls_config:
      ca_file: tls/cert.pem
      cert_file: ./tls/cert.pem
      key_file: ${join(directory, 'tls/key.pem')}
      server_name: inner.example.com
      insecure_skip_verify: true
    proxy_url: http://me:pass@proxy.example.com:3128
    servers:
      - id: ${UUID}
        name: survival
        labels: { game: minecraft }
        expect: any
        mode: poll
        limits: { memory: 4GiB, disk: unlimited, cpu_cores: 1.5 }
compatibility: pterodactyl_exporter
log: { level: debug, format: pretty }
`,
    { KEY: 'x' },
  );
  expect(compatibility).toBe('pterodactyl_exporter');
  expect(log).toEqual({ level: 'debug', format: 'pretty' });
  expect(panels[0]).toMatchObject({
    url: 'http://panel.example.com:8080',
    origin: 'https://other.example.com',
    apiKeySource: 'variable',
    requestsPerMinute: 100,
    pollIntervalMs: 20_000,
    stalenessMs: 90_000,
    requestTimeoutMs: 1_000,
    connectTimeoutMs: 2_000,
    authTimeoutMs: 500,
    allowInsecure: true,
    socketHosts: ['node1.example.com', '[::1]'],
    tls: { serverName: 'inner.example.com', insecureSkipVerify: true },
    proxyUrl: 'http://me:pass@proxy.example.com:3128',
    servers: [
      {
        panel: 'main',
        id: UUID,
        uuid: UUID.toLowerCase(),
        name: 'survival',
        labels: { game: 'minecraft' },
        expect: 'any',
        mode: 'poll',
        limits: { memoryBytes: 2 ** 32, diskBytes: 'unlimited', cpuCores: 1.5 },
      },
    ],
  });
  expect(panels[0]?.apiKey.reveal()).toBe('prefix-x');
  expect(panels[0]?.tls?.ca).toContain('BEGIN CERTIFICATE');
  expect(panels[0]?.tls?.cert).toBe(panels[0]?.tls?.ca);
  expect(panels[0]?.tls?.key?.reveal()).toBe(privateKey);
});

test('discovery and backups are loaded', async () => {
  const { panels } = await loadValid(`
panels:
  - name: main
    url: https://panel.example.com
    api_key: key
    discover:
      type: admin-all
      interval: 10m
      include: { name: ['[EU]*', 7], id: [d3aac109], node: [fra-*], egg: [Paper] }
      exclude: { name: ['*-test'] }
      expect: [{ match: { name: [prod-*] } }, { match: { egg: [Paper] }, state: any }]
      labels: { team: games }
      mode: socket
      max_servers: 200
    backups: { interval: 2h }
  - name: small
    url: https://panel.example.com
    api_key: key
    discover: {}
    backups: true
  - name: facts
    url: https://panel.example.com
    api_key: key
    backups: false
    servers: [{ id: d3aac109 }]
  - name: alone
    url: https://panel.example.com
    api_key: key
    limits_from_listing: false
    daemon: wings
    servers: [{ id: d3aac109 }, { id: 1a7ce997, daemon: elytra }]
`);
  expect(panels[0]).toMatchObject({
    servers: [],
    backups: { intervalMs: 7_200_000 },
    listing: {
      type: 'admin-all',
      intervalMs: 600_000,
      discover: {
        include: { name: ['[EU]*', '7'], id: ['d3aac109'], node: ['fra-*'], egg: ['Paper'] },
        exclude: { name: ['*-test'] },
        expect: [
          { match: { name: ['prod-*'] }, state: 'running' },
          { match: { egg: ['Paper'] }, state: 'any' },
        ],
        labels: [{ match: {}, labels: { team: 'games' } }],
        mode: 'socket',
        maxServers: 200,
      },
    },
  });
  expect(panels[1]?.listing).toEqual({
    intervalMs: 300_000,
    discover: {
      include: {},
      exclude: {},
      expect: [],
      query: [],
      labels: [],
      mode: 'auto',
      maxServers: 15_000,
    },
  });
  expect(panels[1]?.backups).toEqual({ intervalMs: 3_600_000 });
  expect(panels[2]?.listing).toEqual({ intervalMs: 300_000 });
  expect(panels[2]?.backups).toBeUndefined();
  expect(panels[3]?.listing).toBeUndefined();
  expect(panels[3]?.servers.map(({ daemon }) => daemon)).toEqual(['wings', 'elytra']);
});

const LONG_ID = 'd3aac109-259b-452e-8b4e-cecc464142ca';
const SERV_ID = 'serv_2ovmccjftncs5c2oz3gemqkczi';

test.each([
  ['d3aac109', 'd3aac109'],
  ['D3AAC109', 'D3AAC109'],
  [LONG_ID, LONG_ID],
  [SERV_ID, LONG_ID],
])('server %s without a name is named after its identifier', async (written, id) => {
  const { panels } = await loadValid(withKey('api_key: key', written));
  expect(panels[0]?.servers[0]).toMatchObject({ id, name: 'd3aac109' });
  expect(panels[0]?.servers[0]?.uuid).toBe(id.length > 8 ? id : undefined);
});

test.each(['d3aac109', LONG_ID, SERV_ID])('server %s is the one with a serv_ identifier', async (other) => {
  const result = await load(`${withKey('api_key: key', SERV_ID)}      - id: ${other}\n        name: other\n`);
  expect(issuesOf(result)).toContain('expected each server once');
});

test('the path of a key file is relative to the configuration, and its final newline is removed', async () => {
  await writeFile(join(directory, 'key'), 'TopSecret1\n');
  const config = await loadValid(withKey('api_key_file: ./key'));
  expect(config.panels[0]?.apiKey.reveal()).toBe('TopSecret1');
  expect(config.panels[0]?.apiKeySource).toBe('file ./key');
});

const KEY_SOURCES: Readonly<Record<string, (key: string) => Promise<Config['panels'][number] | undefined>>> =
  {
    file: async (key) => {
      await writeFile(join(directory, 'key'), key);
      return (await loadValid(withKey('api_key_file: key'))).panels[0];
    },
    variable: async (key) => (await loadValid(withKey('api_key: ${KEY}'), { KEY: key })).panels[0],
    inline: async (key) => (await loadValid(withKey(`api_key: ${JSON.stringify(key)}`))).panels[0],
  };

test.each(
  Object.entries(KEY_SOURCES).flatMap(([source, panelWith]) =>
    ['', '\n', '\r\n', '\r', '\n\n'].map((end) => ({ source, panelWith, end })),
  ),
)('a key from a $source may end in $end', async ({ source, panelWith, end }) => {
  const panel = await panelWith(`TopSecret1${end}`);
  expect(panel?.apiKey.reveal()).toBe('TopSecret1');
  expect(panel?.apiKeySource).toBe(source === 'file' ? 'file key' : source);
});

test('a path that begins with ~/ is in the home directory', async () => {
  vi.stubEnv('HOME', directory);
  await writeFile(join(directory, 'panel-key'), 'TopSecret1');
  expect(await keyOf(withKey('api_key_file: ~/panel-key'))).toBe('TopSecret1');
});

test('a byte order mark and Windows line endings are accepted', async () => {
  const text = `\u{feff}${withKey('api_key: TopSecret1').replaceAll('\n', '\r\n')}`;
  expect(await keyOf(text)).toBe('TopSecret1');
});

test('no way of printing the configuration shows a secret', async () => {
  const config = await loadValid(withKey('api_key: TopSecret1'));
  const key = config.panels[0]?.apiKey;
  for (const printed of [
    inspect(config, { depth: 9 }),
    JSON.stringify(config),
    String(key),
    `${key?.toString()}`,
  ]) {
    expect(printed).not.toContain('TopSecret');
  }
});

test('if the file is missing, the message shows how to create one', async () => {
  const file = join(directory, 'none.yaml');
  expect(issuesOf(await loadConfig(file, {}))).toBe(
    `${file}: can't be read: no such file; create it with init, copy config.example.yaml there, or name another file with --config`,
  );
});

test('a file that exists has another remedy', async () => {
  expect(issuesOf(await loadConfig(directory, {}))).toBe(`${directory}: can't be read: it is a directory`);
});

test('an impossible path is reported like any other issue', async () => {
  expect(issuesOf(await load(withKey('api_key_file: "a\\0b"')))).toContain("can't be read");
});

test('files that are loaded at the same time read their own keys', async () => {
  const loaded = ['first', 'second', 'third'].map(async (name) => {
    await writeFile(join(directory, `${name}-key`), `Key0OfThe${name}`);
    const result = await load(withKey(`api_key_file: ${name}-key`), {}, `${name}.yaml`);
    expect(result.ok && result.config.panels[0]?.apiKey.reveal()).toBe(`Key0OfThe${name}`);
  });
  await Promise.all(loaded);
});

test('queries are loaded with their defaults', async () => {
  const { panels } = await loadValid(`panels:
  - name: main
    url: https://panel.example.com
    api_key: key
    query_hosts: [LOCALHOST, '::1']
    discover:
      query:
        - match: { egg: ['Paper*'] }
          type: minecraft
    servers:
      - { id: 1a7ce997, query: { type: minecraft } }
      - { id: d3aac109, query: { type: valheim, address: 'Play.Example.com:2457', interval: 10s } }
      - { id: 5b1f0c7e, query: { type: rust, address: '2001:DB8::7' } }
      - { id: 0f0f0f0f }
`);
  expect(panels[0]?.queryHosts).toEqual(['localhost', '[::1]']);
  expect(panels[0]?.listing?.discover?.query).toEqual([
    { match: { egg: ['Paper*'] }, query: { type: 'minecraft', intervalMs: 30_000 } },
  ]);
  expect(panels[0]?.servers.map(({ query }) => query)).toEqual([
    { type: 'minecraft', intervalMs: 30_000 },
    { type: 'valheim', address: 'play.example.com:2457', intervalMs: 10_000 },
    { type: 'rust', address: '[2001:db8::7]', intervalMs: 30_000 },
    undefined,
  ]);
});

test('labels of discovered servers are a map, or rules of which each has its own', async () => {
  const labelsOf = async (labels: string) => {
    const { panels } = await loadValid(`panels:
  - name: main
    url: https://panel.example.com
    api_key: key
    discover:
      labels: ${labels}
`);
    return panels[0]?.listing?.discover?.labels;
  };
  expect(await labelsOf('{ team: games, tier: 2 }')).toEqual([
    { match: {}, labels: { team: 'games', tier: '2' } },
  ]);
  expect(
    await labelsOf('[{ match: { name: [vip-*] }, labels: { importance: high } }, { labels: { tier: a } }]'),
  ).toEqual([
    { match: { name: ['vip-*'] }, labels: { importance: 'high' } },
    { match: {}, labels: { tier: 'a' } },
  ]);
  expect(await labelsOf('[]')).toEqual([]);
});

describe('an invalid configuration', () => {
  const { folder, remove } = badConfigFolder();
  afterAll(remove);

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
