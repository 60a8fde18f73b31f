import { beforeEach, describe, expect, it } from 'vitest';
import type { Answer, Question } from '../../../src/query/query-model.ts';
import type { QueryClient } from '../../../src/query/query-thread.ts';
import type { Simulator } from '../../../src/simulator/simulator-interface.ts';
import type { ServerSpec } from '../../../src/simulator/simulator-schema.ts';
import { QUERY_ROWS } from '../../faults/rows/queries.ts';
import { eventually } from '../../support/eventually.ts';
import { type ExporterUnderTest, fastClock } from '../../support/exporter.ts';
import { observed, yamlOf as panelYaml, simulated } from '../../support/stage.ts';

const PAPER: ServerSpec = {
  name: 'survival',
  profile: 'steady',
  egg: 'Paper',
  allocation: { ip: '203.0.113.7', port: 25_565 },
};
const TWELVE: Answer = { players: 12, players_max: 40 };
const SERVER = { server: 'survival' };

let panel: Simulator;
let queried: Question[];
let answer: (question: Question, signal: AbortSignal) => Promise<Answer>;

const client: QueryClient = {
  query: (question, signal) => {
    queried.push(question);
    return answer(question, signal);
  },
};

/** The first address and transport that a question tries. */
const firstOf = ({ ways }: Question = { ways: [], headStartMs: 0 }) => ways[0];
const portsOf = ({ ways }: Question = { ways: [], headStartMs: 0 }) => [
  ...new Set(ways.map(({ port }) => port)),
];

beforeEach(() => {
  queried = [];
  answer = () => Promise.resolve(TWELVE);
});

/** A configuration of one server, with additional lines in its entry. */
const yamlOf = (simulator: Simulator, lines: readonly string[] = []) =>
  panelYaml(simulator, [
    'servers:',
    ...simulator.servers.flatMap(({ uuid, name }) => [
      `  - id: ${uuid}`,
      `    name: ${name}`,
      ...lines.map((line) => `    ${line}`),
    ]),
  ]);

const QUERY = ['query: { type: minecraft }'];

/** A configuration in which the query types follow from the servers' eggs. */
const discovering = (simulator: Simulator) => panelYaml(simulator, ['discover: { query: auto }']);

async function observe(
  spec: ServerSpec = PAPER,
  yaml: (panel: Simulator) => string = (simulated) => yamlOf(simulated, QUERY),
): Promise<ExporterUnderTest> {
  const clock = fastClock();
  panel = await simulated({ clock, servers: [spec] });
  return observed({ yaml: yaml(panel), clock, queryClient: client });
}

async function serverObject({ url }: ExporterUnderTest): Promise<Record<string, unknown>> {
  const { servers } = (await (await fetch(`${url}/api/v1/servers`)).json()) as {
    servers: Record<string, unknown>[];
  };
  return servers[0] ?? {};
}

describe('a server with a query', () => {
  it("shows the game's response in the metrics and in the JSON", async () => {
    const shown = await observe();
    await shown.until('gameserver_players', SERVER, 12);
    expect(await shown.value('gameserver_players_max', SERVER)).toBe(40);
    expect(await shown.value('gameserver_query_up', SERVER)).toBe(1);
    expect(await shown.value('gameserver_query_duration_seconds', SERVER)).toBeGreaterThanOrEqual(0);
    const counted = { players: 12, players_max: 40, query_up: 1 };
    await eventually(async () => expect(await serverObject(shown)).toMatchObject(counted));
    expect(firstOf(queried[0])).toEqual({
      protocol: 'minecraftvanilla',
      ip: '203.0.113.7',
      hostname: '203.0.113.7',
      port: 25_565,
      queryPort: 25_565,
    });
    expect(portsOf(queried[0])).toEqual([25_565, 25_564]);
  });

  it('delays no scrape and no stop while a query hangs', async () => {
    answer = () => new Promise(() => undefined);
    const shown = await observe();
    await eventually(() => expect(queried).not.toEqual([]));
    await shown.until('gameserver_collection_up', SERVER, 1);
    expect(await shown.value('gameserver_query_up', SERVER)).toBeUndefined();
    await shown.stop();
  });
});

describe("a server that can't be queried", () => {
  it.each(QUERY_ROWS.map((row) => [row.name, row] as const))(
    '%s',
    async (_, { cause, allocation, nodeAddress, outcome, egg }) => {
      answer = () =>
        outcome === undefined ? Promise.reject(new Error('queried')) : Promise.resolve(outcome);
      const spec = {
        ...PAPER,
        ...(egg !== undefined && { egg }),
        ...(allocation !== undefined && { allocation }),
        ...(nodeAddress !== undefined && { nodeAddress }),
      };
      const shown = await observe(spec, (simulated) =>
        egg === undefined ? yamlOf(simulated, QUERY) : discovering(simulated),
      );
      await shown.until('gameserver_query_up', SERVER, 0);
      expect(await shown.value('gameserver_players', SERVER)).toBeUndefined();
      expect(await shown.value('gameserver_players_max', SERVER)).toBeUndefined();
      if (outcome === undefined) expect(queried).toEqual([]);
      await eventually(async () =>
        expect(await serverObject(shown)).toMatchObject({
          condition: 'streaming',
          cause,
          ...(egg === undefined && { advice: expect.any(String) as string }),
          query_problem: { cause },
        }),
      );
      const lines = () => shown.lines.filter(({ level, fields }) => level === 'warn' && 'cause' in fields);
      // A guessed type that never led to a response isn't reported.
      const said = { panel: 'main', server: 'survival', cause };
      const expected = egg === undefined ? [expect.objectContaining(said) as object] : [];
      await eventually(() => expect(lines().map(({ fields }) => fields)).toEqual(expected));
      if (outcome === undefined) return;
      answer = () => Promise.resolve(TWELVE);
      await shown.until('gameserver_players', SERVER, 12);
      await eventually(async () => expect((await serverObject(shown))['cause']).toBeUndefined());
      const again = () => shown.lines.filter(({ message }) => /responds to queries again/.test(message));
      await eventually(() => expect(again()).toHaveLength(expected.length));
      expect(lines()).toHaveLength(expected.length);
    },
  );
});
