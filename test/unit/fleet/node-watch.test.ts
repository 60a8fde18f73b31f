import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import type { CauseCode } from '../../../src/domain/problem.ts';
import type { ServerReading } from '../../../src/domain/reading.ts';
import { nodeReadings } from '../../../src/fleet/node-watch.ts';

const NOW = 1_000;
const CODES = Object.keys(CAUSES) as CauseCode[];
const OF_NODE = CODES.filter((code) => CAUSES[code].scope === 'node');

type ServerOfNode = Pick<ServerReading, 'node' | 'status' | 'isFresh'>;

/** A server of a node: what it met, and whether its sample is fresh. */
const server = (cause?: CauseCode, isFresh = false, node: string | undefined = 'one'): ServerOfNode => ({
  node,
  status: {
    condition: isFresh ? 'streaming' : 'failing',
    ...(cause !== undefined && { problem: { cause, detail: `${cause} was met` } }),
  },
  isFresh: (now) => isFresh && now === NOW,
});

const up = { name: 'one', up: true };
const down = (cause: CauseCode) => ({
  name: 'one',
  up: false,
  problem: { cause, detail: `${cause} was met` },
});

describe('a node', () => {
  it.each<[string, readonly ServerOfNode[], object]>([
    ['whose servers stream is up', [server(undefined, true), server(undefined, true)], up],
    ['whose servers met nothing yet is up', [server(), server()], up],
    ['whose only server can not reach it is down', [server('node_connection')], down('node_connection')],
    [
      'that two servers can not reach is down',
      [server('node_timeout'), server('node_timeout'), server()],
      down('node_timeout'),
    ],
    ['that one of several can not reach is up', [server('node_timeout'), server(), server()], up],
    [
      'that one server reaches is up, whatever the others met',
      [server('node_timeout'), server('node_timeout'), server('node_timeout'), server(undefined, true)],
      up,
    ],
    [
      'whose problem is met by polled servers is up: they are observed',
      [server('origin', true), server('origin', true)],
      up,
    ],
    [
      'is judged by the servers that could say something, not by suspended ones',
      [server('node_connection'), server('suspended'), server('suspended'), server('not_found')],
      down('node_connection'),
    ],
    ['whose servers are all suspended is up', [server('suspended'), server('suspended')], up],
    ["is not down for what is the panel's", [server('challenge_page'), server('challenge_page')], up],
    ["is not down for what is the key's", [server('key_refused'), server('key_refused')], up],
    [
      'is down for what most of its servers met',
      [server('node_connection'), server('node_timeout'), server('node_timeout')],
      down('node_timeout'),
    ],
  ])('%s', (_name, servers, expected) => {
    expect(nodeReadings(servers, NOW)).toEqual([expected]);
  });

  it('is judged by its own servers, in the order in which nodes are met', () => {
    const servers = [
      server('node_connection', false, 'two'),
      server(undefined, true, 'one'),
      server('node_connection', false, 'two'),
      server('node_connection', false, undefined),
    ];
    expect(nodeReadings(servers, NOW)).toEqual([
      { name: 'two', up: false, problem: { cause: 'node_connection', detail: 'node_connection was met' } },
      { name: 'one', up: true },
    ]);
  });

  it('that nobody knows of is not named', () => {
    const unknown = server('node_connection');
    expect(nodeReadings([], NOW)).toEqual([]);
    expect(nodeReadings([{ ...unknown, node: undefined }], NOW)).toEqual([]);
  });
});

const servers = fc.array(
  fc
    .record({
      cause: fc.option(fc.constantFrom(...CODES), { nil: undefined }),
      isFresh: fc.boolean(),
      node: fc.constantFrom('one', 'two'),
    })
    .map(({ cause, isFresh, node }) => server(cause, isFresh, node)),
  { maxLength: 12 },
);

describe('a node, whatever its servers meet,', () => {
  it('is never down while one of them is fresh', () => {
    fc.assert(
      fc.property(servers, (all) => {
        for (const { name, up: isUp } of nodeReadings([...all, server(undefined, true)], NOW))
          if (name === 'one') expect(isUp).toBe(true);
      }),
    );
  });

  it('is down only with a problem of a node that one of its servers met', () => {
    fc.assert(
      fc.property(servers, (all) => {
        for (const { name, up: isUp, problem } of nodeReadings(all, NOW)) {
          expect(problem === undefined).toBe(isUp);
          if (problem === undefined) continue;
          expect(OF_NODE).toContain(problem.cause);
          expect(
            all.filter(({ node }) => node === name).map(({ status }) => status.problem?.cause),
          ).toContain(problem.cause);
        }
      }),
    );
  });

  it('is not changed by suspended servers more or less', () => {
    fc.assert(
      fc.property(servers, fc.integer({ min: 1, max: 5 }), (all, count) => {
        const more = Array.from({ length: count }, () => server('suspended'));
        const of = (list: readonly ServerOfNode[]) =>
          nodeReadings(list, NOW).filter(({ name }) => name === 'one');
        fc.pre(of(all).length > 0);
        expect(of([...all, ...more])).toEqual(of(all));
      }),
    );
  });

  it('depends on their order only for the order of nodes, and for which of two equally common causes is named', () => {
    fc.assert(
      fc.property(servers, (all) => {
        const states = (list: readonly ServerOfNode[]) =>
          Object.fromEntries(nodeReadings(list, NOW).map(({ name, up: isUp }) => [name, isUp]));
        expect(states(all.toReversed())).toEqual(states(all));
      }),
    );
  });
});
