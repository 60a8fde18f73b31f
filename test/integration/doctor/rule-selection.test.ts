import { beforeEach, describe, expect, it } from 'vitest';
import { select, withServer } from '../../../src/commands/doctor-selection.ts';
import type { Config } from '../../../src/config/config.ts';
import type { DoctorReport } from '../../../src/doctor/report.ts';
import type { Selection } from '../../../src/doctor/rule-selection.ts';
import type { RunOptions } from '../../../src/doctor/run.ts';
import type { Simulator } from '../../../src/simulator/simulator-interface.ts';
import type { ServerSpec } from '../../../src/simulator/simulator-schema.ts';
import { examined, foundProblems, reportText } from '../../support/doctor.ts';
import { simulated } from '../../support/stage.ts';

let panel: Simulator;

beforeEach(async () => {
  const names = ['survival-1', 'survival-2', 'survival-test', 'lobby', 'creative'];
  panel = await simulated({ servers: names.map((name) => ({ name })) });
});

/** Runs doctor on a panel with these settings, without queries of games. */
function withDiscover(settings: string): Promise<DoctorReport> {
  return examined({
    yaml: `panels: [{ name: main, url: ${panel.url}, api_key: ${panel.apiKey}, ${settings} }]`,
    queryClient: { query: () => Promise.resolve({ players: 1, query_duration_seconds: 0 }) },
  });
}

async function selectionWith(settings: string): Promise<Selection | undefined> {
  return (await withDiscover(settings)).panels[0]?.selection;
}

describe('what the rules of discover select', () => {
  it('is how many servers each rule covers; the first match wins', async () => {
    const rules = '{ match: { name: ["survival-*"] } }, { match: { name: ["*-1", lobby] }, state: any }';
    const report = await withDiscover(`discover: { exclude: { name: ["*-test"] }, expect: [${rules}] }`);
    expect(reportText(report)).toContain(`
  discover: 5 servers listed, 4 of them monitored

  SERVERS  EXPECT
  2        running where name survival-*
  1        any where name *-1 or lobby
  1        auto for all other servers
`);
    expect(reportText(report)).not.toContain('QUERIED');
  });

  it('counts only the servers that max_servers admits', async () => {
    expect(await selectionWith('discover: { max_servers: 2 }')).toMatchObject({ listed: 5, monitored: 2 });
    const none = await withDiscover('discover: { exclude: { name: ["*"] } }');
    expect(none.panels[0]?.selection).toMatchObject({ listed: 5, monitored: 0 });
    expect(foundProblems(none)).toMatchObject([
      { cause: 'all_excluded', detail: '`discover` excludes all 5 listed servers' },
    ]);
  });

  it('has no line for servers without a rule if a rule matches all of them', async () => {
    const selection = await selectionWith('discover: { expect: [{ match: {}, state: auto }] }');
    expect(selection?.expect).toEqual([{ description: 'auto for all servers', servers: 5 }]);
  });

  it('contains the eggs that are not queried, and why', async () => {
    for (const [name, egg] of [
      ['bedrock', 'Vanilla Bedrock'],
      ['bot', 'Discord.js'],
      ['hub', 'Velocity'],
    ] as const)
      panel.addServer({ name, egg });
    const auto = await selectionWith('discover: { include: { name: [bedrock, bot, hub] }, query: auto }');
    expect(auto?.query).toEqual([{ description: 'auto every 30s for all servers', servers: 2 }]);
    expect(auto?.not_queried).toEqual([{ description: 'egg Discord.js: no known query type', servers: 1 }]);
    const rule = '{ match: { egg: [Velocity] }, type: minecraft }';
    const rules = await selectionWith(`discover: { include: { name: [bedrock, hub] }, query: [${rule}] }`);
    expect(rules?.not_queried).toEqual([{ description: 'egg Vanilla Bedrock: no rule matches', servers: 1 }]);
  });

  it('contains where servers are queried', async () => {
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
    const report = await withDiscover(`discover: { include: { name: ${names} }, query: auto }`);
    expect(reportText(report)).toContain(`
  SERVERS  QUERIED AT
  1        no address: the server list has no default allocation
  2        the default allocation
  1        the default allocation, with the port from a server variable
  1        the node's address
`);
    const ruled = '[{ match: {}, type: rust, address: 203.0.113.8 }]';
    const hosted = await selectionWith(`discover: { include: { name: [plain-1, named] }, query: ${ruled} }`);
    expect(hosted?.queried_at).toEqual([
      { description: 'the host of query.address', servers: 1 },
      { description: 'the host of query.address, with the port from a server variable', servers: 1 },
    ]);
  });

  it('is absent without rules', async () => {
    expect(await selectionWith(`servers: [{ id: ${panel.server('lobby').identifier} }]`)).toBeUndefined();
  });

  it('contains the patterns that match no server, which are usually misspelled', async () => {
    const report = await withDiscover(
      'discover: { exclude: { name: ["*-tset", "*-test"] }, include: { name: ["*"], node: ["node-*"] }, expect: [{ match: { name: [survivall] } }] }',
    );
    expect(report.panels[0]?.selection?.unmatched).toEqual([
      'discover.exclude: name *-tset',
      'discover.expect: name survivall',
    ]);
    expect(reportText(report)).toContain('\n  discover.exclude: name *-tset matches no server\n');
  });
});

describe('a server of the configuration that only the server list names', () => {
  const nameless = () =>
    `servers: [{ id: ${panel.server('lobby').identifier}, expect: running, query: { type: minecraft } }]`;
  const yaml = () =>
    `panels: [{ name: main, url: ${panel.url}, api_key: ${panel.apiKey}, discover: true, ${nameless()} }]`;
  const queryClient = {
    query: () =>
      Promise.resolve({
        query_problem: { cause: 'query_refused', detail: 'nothing listens there' },
      } as const),
  };

  it('has the same result by its name as without it, with the settings of its entry', async () => {
    const whole = await examined({ yaml: yaml(), queryClient });
    const meant = await selectedBy('lobby');
    const findLobby = (report: DoctorReport) =>
      report.panels[0]?.servers.filter(({ name }) => name === 'lobby');
    expect(findLobby(whole)).toMatchObject([{ result: 'failed', problems: [{ cause: 'query_refused' }] }]);
    expect(meant.panels[0]?.servers).toEqual(findLobby(whole));
    expect(foundProblems(meant)).toEqual(foundProblems(whole));
  });

  async function selectedBy(server: string): Promise<DoctorReport> {
    const text = yaml();
    let isMeant: RunOptions['isMeant'];
    const change = (config: Config): Config => {
      const selected = select(config, { server });
      if (typeof selected === 'string') throw new Error(selected);
      isMeant = selected.isMeant;
      return selected.config;
    };
    const report = await examined({
      yaml: text,
      queryClient,
      change,
      isMeant: (one) => isMeant?.(one) ?? true,
    });
    const named = withServer(report, server);
    if (typeof named === 'string') throw new Error(named);
    return named;
  }
});
