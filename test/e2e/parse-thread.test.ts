import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { loadConfig, loadInThread } from '../../src/config/load-config.ts';

const ENV = { KEY: 'ptlc_key', NAME: 'survival' };

const EVERY_KIND = `
compatibility: pterodactyl_exporter
log: { level: debug }
panels:
  - name: main
    url: https://panel.example.com
    api_key: \${KEY}
    requests_per_minute: 240
    poll_interval: 1m
    socket_hosts: [node.example.com]
    tls_config: { ca_file: cert.pem }
    backups: { interval: 1h }
    discover:
      type: owner
      include: { name: ['prod-*'], node: ['fra-?'] }
      expect:
        - match: { egg: [Paper*] }
          state: any
      labels: { game: minecraft }
    servers:
      - { id: 1a7ce997, name: "\${NAME}", labels: { constructor: 'yes' }, limits: { memory: 4GiB, cpu_cores: unlimited } }
      - { id: d3aac109, expect: any, mode: poll }
`;

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parse-thread-'));
  await copyFile('test/fixtures/config/files/cert.pem', join(folder, 'cert.pem'));
});
afterEach(() => rm(folder, { recursive: true }));

async function written(text: string): Promise<string> {
  const file = join(folder, 'config.yaml');
  await writeFile(file, text);
  return file;
}

const MANY = Array.from({ length: 450 }, (_, index) => {
  const id = (0x10_00_00_00 + index).toString(16);
  return `      - { id: ${id}, labels: { game: minecraft }, limits: { memory: 4GiB } }`;
}).join('\n');

it.each([
  { what: 'a valid configuration', text: EVERY_KIND },
  { what: 'a configuration of hundreds of servers', text: `${EVERY_KIND}${MANY}\n` },
  {
    what: 'a configuration with several problems',
    text: EVERY_KIND.replace('1m', 'soon').replace('any', 'most').replace('cert.pem', 'none.pem'),
  },
  { what: 'a configuration that is nested too deeply', text: '['.repeat(100_000) },
])('the thread loads $what with the same result as in-process', async ({ text }) => {
  const file = await written(text);
  expect(await loadInThread(file, ENV)).toEqual(await loadConfig(file, ENV));
});

it('the thread loads keys, and names the files that contain them', async () => {
  await writeFile(join(folder, 'key'), 'ptlc_TopSecret1');
  const loaded = await loadInThread(
    await written(EVERY_KIND.replace('api_key: ${KEY}', 'api_key_file: key')),
    ENV,
  );
  if (!loaded.ok) throw new Error('expected a valid configuration');
  expect(loaded.config.panels[0]?.apiKey.reveal()).toBe('ptlc_TopSecret1');
  expect(loaded.config.panels[0]?.tls?.ca).toContain('BEGIN CERTIFICATE');
});

it('servers that are as in the running configuration are the same objects, all others are new', async () => {
  const text = `${EVERY_KIND}${MANY}\n`;
  const before = await loadInThread(await written(text), ENV);
  if (!before.ok) throw new Error('expected a valid configuration');
  const file = await written(text.replace('id: d3aac109, expect: any', 'id: d3aac109, expect: running'));
  const after = await loadInThread(file, ENV, before.config);
  expect(after).toEqual(await loadConfig(file, ENV));
  if (!after.ok) throw new Error('expected a valid configuration');
  const servers = ({ config }: typeof before) => config.panels.flatMap((panel) => panel.servers);
  const isSame = servers(after).map((server, index) => server === servers(before)[index]);
  expect(isSame.filter((same) => !same)).toHaveLength(1);
  expect(isSame[1]).toBe(false);
});
