import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkCommand } from '../../../src/commands/check.ts';

const VALID = `panels:
  - name: main
    url: https://panel.example.com/
    api_key_file: key
    proxy_url: http://me:TopSecret2@proxy.example.com:3128
    servers:
      - id: 1a7ce997
        name: survival
        labels: { game: minecraft }
        limits: { memory: 1KiB, cpu_cores: 2 }
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
  await writeFile(join(directory, 'key'), 'TopSecret1\n');
});
afterEach(async () => {
  process.exitCode = undefined;
  await rm(directory, { recursive: true });
});

async function check(text: string, ...option: readonly string[]) {
  const file = join(directory, 'config.yaml');
  await writeFile(file, text);
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

test('a valid configuration is shown as it was understood, without secrets', async () => {
  const { out, err, exitCode } = await check(VALID);
  expect(err).toBe('');
  expect(exitCode).toBe(0);
  expect(out).not.toContain('TopSecret');
  expect(out).toBe(`/config.yaml is valid

panel main
  url            https://panel.example.com
  origin         https://panel.example.com
  API key        file key
  requests       80 % of the panel's limit
  poll interval  30s
  staleness      1m
  timeouts       request 25s, connect 10s, auth 12s
  socket hosts   any public host that the panel names
  proxy          http://<secret>@proxy.example.com:3128
  expect         running 1, any 1 of the servers below
  listing        for node, egg and limits, every 5m

  NAME      ID        EXPECT   MODE  LIMITS                    LABELS
  survival  1a7ce997  running  auto  memory 1024 bytes, cpu 2  game="minecraft"
  d3aac109  d3aac109  any      auto  -                         -

panel second
  url            https://other.example.com
  origin         https://other.example.com
  API key        inline
  requests       80 % of the panel's limit
  poll interval  30s
  staleness      1m
  timeouts       request 25s, connect 10s, auth 12s
  socket hosts   any public host that the panel names
  proxy          as in the environment
  expect         running 1 of the servers below
  listing        for node, egg and limits, every 5m

  NAME      ID        EXPECT   MODE  LIMITS  LABELS
  5b1f0c7e  5b1f0c7e  running  auto  -       -

log: level info, format auto
`);
});

test('discovery and backups are shown as they were understood', async () => {
  const { out } = await check(`panels:
  - name: main
    url: https://panel.example.com
    api_key: TopSecret1
    discover:
      type: owner
      include: { name: [survival-*, creative-*], node: [fra-*] }
      exclude: { egg: [Velocity] }
      expect: [{ match: { name: [survival-*], node: [fra-1] } }, { match: {}, state: any }]
      labels: { team: games }
      mode: poll
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
    expect       any where no rule above fits
    mode         poll
    labels       team="games"
  backups        every 2h

  no servers of its own: all are discovered
`);
  expect(out).toContain(`
  listing        for node, egg and limits, every 5m
  backups        every 1h
`);
});

test('all errors go to stderr, and the exit code is 1', async () => {
  const { out, err, exitCode } = await check(
    VALID.replace('1a7ce997', 'nope').replace('any', 'never'),
    '--config',
  );
  expect(out).toBe('');
  expect(exitCode).toBe(1);
  expect(err.trimEnd().split('\n')).toEqual([
    expect.stringMatching(/^\/config\.yaml:7:13: panels\[0\]\.servers\[0\]\.id: .*, got "nope"$/),
    expect.stringMatching(/^\/config\.yaml:12:17: panels\[0\]\.servers\[1\]\.expect: .*, got "never"$/),
  ]);
});

test('names of another exporter are told where they are wanted', async () => {
  const { out } = await check(`compatibility: pterodactyl_exporter\n${VALID}`);
  expect(out).toContain('\ncompatibility: the names of pterodactyl_exporter, too\nlog: level info');
});

const panel = (more: string) => `panels:
  - name: main
    url: https://panel.example.com
    api_key: TopSecret1
    ${more}
`;

test.each([
  [
    'servers that may all be off',
    'servers: [{ id: 1a7ce997, expect: any }, { id: d3aac109, expect: any }]',
    true,
  ],
  ['a rule for all that they may be off', 'discover: { expect: [{ match: {}, state: any }] }', true],
  [
    'a rule that is never reached',
    'discover: { expect: [{ match: {}, state: any }, { match: { name: [a] } }] }',
    true,
  ],
  [
    'one server that should run',
    'servers: [{ id: 1a7ce997, expect: any }, { id: d3aac109, expect: auto }]',
    false,
  ],
  [
    'a rule that comes first',
    'discover: { expect: [{ match: { name: [a] } }, { match: {}, state: any }] }',
    false,
  ],
  ['no rules', 'discover: {}', false],
])('warns of a panel none of whose servers is ever expected to run: %s', async (_title, more, warned) => {
  const { err, exitCode } = await check(panel(more));
  expect(exitCode).toBe(0);
  expect(err === '').toBe(!warned);
  if (warned)
    expect(err).toMatch(/^\/config\.yaml: panel main: no server can ever be expected to run, .*expect/);
});

test('says what holds where no rule fits', async () => {
  expect((await check(panel('discover: {}'))).out).toContain('expect       auto where no rule above fits');
  const { out } = await check(panel('discover: { expect: [{ match: { name: [a] } }] }'));
  expect(out).toContain('expect       auto where no rule above fits');
});
