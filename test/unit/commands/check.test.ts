import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { checkCommand } from '../../../src/commands/check.ts';

const VALID = `compatibility: pterodactyl_exporter
panels:
  - name: main
    url: https://panel.example.com/
    api_key_file: key
    proxy_url: http://me:TopSecret2@proxy.example.com:3128
    servers:
      - id: 1a7ce997
        name: survival
        labels: { game: minecraft }
        limits: { memory: 40GiB, disk: 1536MiB, cpu_cores: 4 }
      - id: d3aac109
        expect: any
  - name: second
    url: https://other.example.com
    api_key: TopSecret3
    servers: [{ id: 5b1f0c7e }]
`;

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'check-'));
  await writeFile(join(directory, 'key'), 'TopSecret1\n', { mode: 0o600 });
});
afterEach(async () => {
  process.exitCode = undefined;
  await rm(directory, { recursive: true });
});

async function check(text: string, ...option: readonly string[]) {
  const file = join(directory, 'config.yaml');
  await writeFile(file, text, { mode: 0o600 });
  let out = '';
  let err = '';
  const command = checkCommand().configureOutput({
    writeOut: (written) => (out += written),
    writeErr: (written) => (err += written),
  });
  await command.parseAsync([...option, file], { from: 'user' });
  return {
    out: out.replaceAll(directory, ''),
    err: err.replaceAll(directory, ''),
    exitCode: process.exitCode,
  };
}

test('prints a valid configuration as it was understood, without secrets', async () => {
  const { out, err, exitCode } = await check(VALID);
  expect(err).toBe('');
  expect(exitCode).toBe(0);
  expect(out).not.toContain('TopSecret');
  expect(out).toBe(`/config.yaml is valid

panel main
  url            https://panel.example.com
  origin         https://panel.example.com
  API key        file key
  API budget     80 % of the panel's rate limit
  poll interval  30s
  staleness      1m
  timeouts       request 25s, connect 10s, auth 12s
  socket hosts   any public host that the panel returns
  proxy          http://<secret>@proxy.example.com:3128
  server list    every 5m, for node, egg and limits
  servers        2: expect running 1, any 1

panel second
  url            https://other.example.com
  origin         https://other.example.com
  API key        inline
  API budget     80 % of the panel's rate limit
  poll interval  30s
  staleness      1m
  timeouts       request 25s, connect 10s, auth 12s
  socket hosts   any public host that the panel returns
  proxy          from the environment
  server list    every 5m, for node, egg and limits
  servers        1: expect running 1

compatibility: also serves the metric names of pterodactyl_exporter
log: level info, format auto

The panels were not contacted. To test the panels: gameserver-exporter doctor --config /config.yaml
`);
});

test('prints discovery and backups as they were understood', async () => {
  const { out } = await check(`panels:
  - name: main
    url: https://panel.example.com
    api_key: TopSecret1
    discover:
      type: owner
      include: { name: [survival-*, creative-*], node: [fra-*] }
      exclude: { egg: [Velocity] }
      expect: [{ match: { name: [survival-*], node: [fra-1] } }, { match: {}, state: any }]
      query:
        - { match: { egg: ["Paper*", "Vanilla*"], node: [fra-1] }, type: minecraft }
        - { match: {}, type: rust, address: 203.0.113.7, interval: 2m }
      labels: { team: games }
      mode: poll
    query_hosts: [127.0.0.1]
    backups: { interval: 2h }
  - name: second
    url: https://other.example.com
    api_key: TopSecret2
    limits_from_listing: true
    backups: true
    servers: [{ id: 5b1f0c7e }]
`);
  expect(out).toContain(`
  discover       servers that the account owns, every 5m
    include      name survival-* or creative-*
    include      node fra-*
    exclude      egg Velocity
    expect       running where name survival-* and node fra-1
    expect       any for all other servers
    query        minecraft every 30s where node fra-1 and egg Paper* or Vanilla*
    query        rust at 203.0.113.7 every 2m for all other servers
    mode         poll
    labels       team="games"
  backups        every 2h
  servers        all are discovered
`);
  expect(out).toContain(`
  server list    every 5m, for node, egg and limits
  backups        every 1h
`);
  expect(out).toContain('  query hosts    127.0.0.1\n');
});

const panel = (more: string) => `panels:
  - name: main
    url: https://panel.example.com
    api_key: TopSecret1
    ${more}
`;

test.each([
  [
    'all servers are allowed to be off',
    'servers: [{ id: 1a7ce997, expect: any }, { id: d3aac109, expect: any }]',
    true,
  ],
  ['a rule allows all servers to be off', 'discover: { expect: [{ match: {}, state: any }] }', true],
  [
    'a rule is never reached',
    'discover: { expect: [{ match: {}, state: any }, { match: { name: [a] } }] }',
    true,
  ],
  [
    'one server should run',
    'servers: [{ id: 1a7ce997, expect: any }, { id: d3aac109, expect: auto }]',
    false,
  ],
  [
    'a specific rule comes first',
    'discover: { expect: [{ match: { name: [a] } }, { match: {}, state: any }] }',
    false,
  ],
  ['there are no rules', 'discover: {}', false],
])('checks whether any server of a panel can be expected to run: %s', async (_title, more, warned) => {
  const { err, exitCode } = await check(panel(more));
  expect(exitCode).toBe(0);
  expect(err === '').toBe(!warned);
  if (warned)
    expect(err).toMatch(
      /^warning: \/config\.yaml: panel main: `expect` is `any` for every server, so no alert fires when one stops/,
    );
});

test('shows the default if no rule matches', async () => {
  expect((await check(panel('discover: {}'))).out).toContain('expect       auto for all servers');
  const { out } = await check(panel('discover: { expect: [{ match: { name: [a] } }] }'));
  expect(out).toContain('expect       auto for all other servers');
});

test('shows that a panel on this machine may use sockets to this machine', async () => {
  const { out } = await check(
    panel('discover: true').replace('https://panel.example.com', 'http://127.0.0.1:8080'),
  );
  expect(out).toContain('any host that the panel returns, including this machine\n');
});

test('with --listing says that doctor reads the server lists', async () => {
  const command = checkCommand()
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  await expect(command.parseAsync(['--listing', 'config.yaml'], { from: 'user' })).rejects.toThrow(
    'check contacts no panel: to count the servers of each rule, run gameserver-exporter doctor --config config.yaml',
  );
});

test.each([
  [
    'unknown limits',
    'limits_from_listing: false\n    servers: [{ id: 1a7ce997, name: a, limits: { cpu_cores: 1 } }, { id: d3aac109, name: b, mode: poll }]',
    /no CPU limit is set for b, so .*\n.*no disk limit is set for a, b, so .*\n.*no memory limit is set for b, so alerts on that limit can't fire: set `limits_from_listing: true`, or `limits` for these servers\n$/,
  ],
  [
    'a rule after one that matches every server',
    'discover: { expect: [{ match: {}, state: auto }, { match: { name: [a] } }] }',
    /the last rule of `discover\.expect` has no effect, because rule 1 matches every server: move that rule to the end/,
  ],
])('warns about %s', async (_title, more, expected) => {
  const { err, exitCode } = await check(panel(more));
  expect(err).toMatch(expected);
  expect(exitCode).toBe(0);
});

test.each([
  [0o644, 'mode 0644'],
  [0o640, undefined],
  [0o600, undefined],
])('checks whether other users can read the key file: mode %o', async (mode, shown) => {
  await chmod(join(directory, 'key'), mode);
  const { err, exitCode } = await check(VALID);
  expect(exitCode).toBe(0);
  expect(err).toBe(
    shown === undefined
      ? ''
      : `warning: /config.yaml:5:19: panels[0].api_key_file: all users of this machine can read the file "key" (${shown}): run \`chmod o-rwx key\`\n`,
  );
});

test.each([
  [0o644, 'api_key: TopSecret3', 'mode 0644'],
  [0o640, 'api_key: TopSecret3', undefined],
  [0o644, 'api_key: ${PANEL_KEY}', undefined],
])(
  'checks whether other users can read a key in the configuration: mode %o, %s',
  async (mode, key, shown) => {
    vi.stubEnv('PANEL_KEY', 'TopSecret3');
    onTestFinished(() => void vi.unstubAllEnvs());
    const file = join(directory, 'config.yaml');
    await writeFile(file, '');
    await chmod(file, mode);
    const { err, exitCode } = await check(VALID.replaceAll(/api_key_file: \S+|api_key: \S+/g, key));
    expect(exitCode).toBe(0);
    expect(err).toBe(
      shown === undefined
        ? ''
        : `warning: /config.yaml: panels[0].api_key: all users of this machine can read the file "/config.yaml" (${shown}): run \`chmod o-rwx /config.yaml\`\n`,
    );
  },
);
