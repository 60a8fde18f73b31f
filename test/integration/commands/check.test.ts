import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkCommand } from '../../../src/commands/check.ts';
import type { Simulator } from '../../../src/simulator/api.ts';
import type { ServerSpec } from '../../../src/simulator/schema.ts';
import { startSimulator } from '../../../src/simulator/simulator.ts';

let panel: Simulator;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'check-'));
  const names = ['survival-1', 'survival-2', 'survival-test', 'lobby', 'creative'];
  panel = await startSimulator({ servers: names.map((name) => ({ name })) });
});

afterEach(async () => {
  process.exitCode = undefined;
  await panel.stop();
  await rm(folder, { recursive: true });
});

let warnings = '';
/** The configuration as it is shown before the server list. */
let settings = '';

async function check(discover: string, key = panel.apiKey): Promise<string> {
  const file = join(folder, 'config.yaml');
  await writeFile(
    file,
    `panels: [{ name: main, url: ${panel.url}, api_key: ${key}, ${discover} }, { name: other, url: ${panel.url}, api_key: ${key}, servers: [{ id: 1a7ce997 }] }]`,
    { mode: 0o600 },
  );
  let out = '';
  warnings = '';
  const command = checkCommand().configureOutput({
    writeOut: (text) => (out += text),
    writeErr: (text) => (warnings += text.replaceAll(`${folder}/`, '')),
  });
  await command.parseAsync(['--listing', file], { from: 'user' });
  const end = out.indexOf('\nlog: ');
  settings = out.slice(0, end);
  return out.slice(end);
}

describe('check --listing', () => {
  it("offers all servers of the panel if none is listed for an administrator's key", async () => {
    for (const { uuid } of panel.servers) panel.deleteServer(uuid);
    panel.addServer({ name: "somebody else's", owned: false });
    expect(await check('discover: true')).toContain('panel main: 0 servers listed');
    expect(warnings).not.toContain('admin-all');
    panel.set({ admin: true });
    await check('discover: true');
    expect(warnings).toContain('discover: { type: admin-all }');
    expect(await check('discover: { type: admin-all }')).toContain(
      'panel main: 1 server listed, 1 of them monitored',
    );
    expect(warnings).not.toContain('admin-all');
  });

  it('reports how many servers each rule covers; the first match wins', async () => {
    const rules = '{ match: { name: ["survival-*"] } }, { match: { name: ["*-1", lobby] }, state: any }';
    const text = await check(`discover: { exclude: { name: ["*-test"] }, expect: [${rules}] }`);
    expect(text.replaceAll(/ {2,}/g, '  ')).toContain(`
panel main: 5 servers listed, 4 of them monitored

  EXPECT  SERVERS
  running where name survival-*  2
  any where name *-1 or lobby  1
  auto for all other servers  1

  API calls: 0.7 per minute for 4 servers
`);
    expect(settings).toContain('  API calls      depend on the server list: see below\n');
    expect(settings).not.toContain('--listing');
    expect(text).not.toContain('not contacted');
    // What to do next is the last line.
    expect(text).toMatch(/\nTo test the panels: .*\n$/);
    expect(process.exitCode).toBe(0);
  });

  it('counts only the servers that the limit admits, and warns about the others, or if none is left', async () => {
    expect(await check('discover: { max_servers: 2 }')).toContain('5 servers listed, 2 of them monitored');
    expect(warnings).toMatch(/3 servers left out \(max_servers: 2\); first: .*Raise discover\.max_servers/);
    expect(await check('discover: { exclude: { name: ["*"] } }')).toContain('5 servers listed, 0 of them');
    expect(warnings).toContain('discover excludes all 5 listed servers. Check discover.include');
  });

  it('omits the line for servers without a rule if a rule matches all of them', async () => {
    const text = await check('discover: { expect: [{ match: {}, state: auto }] }');
    expect(text.match(/auto for all/g)).toHaveLength(1);
    expect(text).toMatch(/auto for all servers +5\n/);
  });

  it('shows which eggs are not queried, and why', async () => {
    for (const [name, egg] of [
      ['bedrock', 'Vanilla Bedrock'],
      ['bot', 'Discord.js'],
      ['hub', 'Velocity'],
    ] as const)
      panel.addServer({ name, egg });
    const auto = await check('discover: { include: { name: [bedrock, bot, hub] }, query: auto }');
    expect(auto).toMatch(/auto every 30s for all servers +2\n/);
    expect(auto).toMatch(/NOT QUERIED +SERVERS\n +egg Discord\.js: no known query type +1\n/);
    const rule = '{ match: { egg: [Velocity] }, type: minecraft }';
    const rules = await check(`discover: { include: { name: [bedrock, hub] }, query: [${rule}] }`);
    expect(rules).toMatch(/NOT QUERIED +SERVERS\n +egg Vanilla Bedrock: no rule matches +1\n/);
  });

  it('shows where servers are queried', async () => {
    const queried: readonly ServerSpec[] = [
      { name: 'plain-1' },
      { name: 'plain-2' },
      {
        name: 'named',
        allocation: { port: 28_015, otherPorts: [28_017] },
        variables: { QUERY_PORT: '28017' },
      },
      { name: 'everywhere', allocation: { ip: '0.0.0.0' } },
      { name: 'nowhere', allocation: null },
    ];
    for (const spec of queried) panel.addServer({ egg: 'Rust', ...spec });
    const names = '[plain-1, plain-2, named, everywhere, nowhere]';
    const text = await check(`discover: { include: { name: ${names} }, query: auto }`);
    const rows = [
      'QUERIED AT +SERVERS',
      'nowhere: the server list has no default allocation +1',
      'the default allocation +2',
      'the default allocation, at the port that a variable contains +1',
      "the node's address +1",
    ];
    expect(text).toMatch(new RegExp(rows.join(String.raw`\n +`)));
    const ruled = '[{ match: {}, type: rust, address: 203.0.113.8 }]';
    const hosted = await check(`discover: { include: { name: [plain-1, named] }, query: ${ruled} }`);
    expect(hosted).toMatch(/QUERIED AT.*\n +the host of query\.address +1\n +the host of query.address, at/);
  });

  it("fails with the reason if a server list can't be read", async () => {
    await expect(check('discover: {}', 'ptlc_not_a_key_of_this_panel_at_all')).rejects.toThrow(
      /^panel main: GET .*returned 401/,
    );
  });

  it('reports that no panel discovers servers', async () => {
    expect(await check('servers: [{ id: d3aac109 }]')).toContain('no panel uses discover');
  });

  it('reports rules and globs that match no server, which are usually misspelled', async () => {
    const text = await check(
      'discover: { exclude: { name: ["*-tset", "*-test"] }, include: { name: ["*"], node: ["node-*"] }, expect: [{ match: { name: [survivall] } }] }',
    );
    expect(text).toMatch(/running where name survivall +0 \(matches no server\)\n/);
    expect(warnings.trimEnd().split('\n')).toEqual([
      'warning: config.yaml: panel main: discover.exclude: name *-tset matches none of the 5 listed servers',
      'warning: config.yaml: panel main: discover.expect: name survivall matches none of the 5 listed servers',
    ]);
    expect(process.exitCode).toBe(0);
  });

  it("warns if the panel's limit, or a pinned rate, is too low for the discovered servers", async () => {
    panel.set({ rateLimitPerMinute: 1 });
    await check('discover: true, poll_interval: 20s');
    expect(warnings).toMatch(
      /^warning: config\.yaml: panel main: 5 servers need 0\.82 API calls per minute, but 80 % of the panel's limit of 1 allows 0\.8: sockets reconnect late .*\. Raise /,
    );
    panel.set({ rateLimitPerMinute: 6_000 });
    await check('discover: { mode: poll }, requests_per_minute: 5');
    expect(warnings).toMatch(
      /^warning: config\.yaml: panel main: 5 servers need 10\.2 API calls per minute, but requests_per_minute allows 5: sockets reconnect late /,
    );
    const text = await check('discover: true, servers: [{ id: ffffffff }]');
    expect(warnings).toBe('');
    expect(text).toMatch(/\n {2}API calls: \d+\.\d per minute for 6 servers\n/);
    expect(settings).toMatch(
      /API calls +\d+\.\d per minute for the servers below, plus discovered servers: see below\n/,
    );
  });

  it("shows in its first line what to do if a server list can't be read", async () => {
    await expect(check('discover: true', 'ptlc_not_a_key_of_this_panel_at_all')).rejects.toThrow(
      /^panel main: GET [^\n]*\. Create a client API key in the panel/,
    );
  });
});
