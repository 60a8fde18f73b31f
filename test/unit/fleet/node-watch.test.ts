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

/** A server of a node, with its problem and whether its sample is fresh. */
const server = (cause?: CauseCode, isFresh = false, node: string | undefined = 'one'): ServerOfNode => ({
  node,
  status: {
    condition: isFresh ? 'streaming' : 'failing',
    ...(cause !== undefined && { problem: { cause, detail: `${cause} occurred` } }),
  },
  isFresh: (now) => isFresh && now === NOW,
});

const up = { name: 'one', up: true };
const down = (cause: CauseCode) => ({
  name: 'one',
  up: false,
  problem: { cause, detail: `${cause} occurred` },
});

describe('a node', () => {
  it.each<[string, readonly ServerOfNode[], object]>([
    ['is up if its servers stream', [server(undefined, true), server(undefined, true)], up],
    ['is up if its servers have no problems yet', [server(), server()], up],
    ['is down if its only server cannot reach it', [server('node_connection')], down('node_connection')],
    [
      'is down if two servers cannot reach it',
      [server('node_timeout'), server('node_timeout'), server()],
      down('node_timeout'),
    ],
    [
      'is up if only one of several servers cannot reach it',
      [server('node_timeout'), server(), server()],
      up,
    ],
    [
      'is up if one server reaches it, whatever the others report',
      [server('node_timeout'), server('node_timeout'), server('node_timeout'), server(undefined, true)],
      up,
    ],
    [
      'is up if servers with a problem are polled successfully',
      [server('origin', true), server('origin', true)],
      up,
    ],
    [
      'is judged by servers that can tell, not by suspended ones',
      [server('node_connection'), server('suspended'), server('suspended'), server('not_found')],
      down('node_connection'),
    ],
    ['is up if all its servers are suspended', [server('suspended'), server('suspended')], up],
    ['is not down because of the panel', [server('challenge_page'), server('challenge_page')], up],
    ['is not down because of the key', [server('key_refused'), server('key_refused')], up],
    [
      'is down with the most common problem of its servers',
      [server('node_connection'), server('node_timeout'), server('node_timeout')],
      down('node_timeout'),
    ],
  ])('%s', (_name, servers, expected) => {
    expect(nodeReadings(servers, NOW)).toEqual([expected]);
  });

  it('is judged by its own servers, and nodes are listed in the order of their first servers', () => {
    const servers = [
      server('node_connection', false, 'two'),
      server(undefined, true, 'one'),
      server('node_connection', false, 'two'),
      server('node_connection', false, undefined),
    ];
    expect(nodeReadings(servers, NOW)).toEqual([
      { name: 'two', up: false, problem: { cause: 'node_connection', detail: 'node_connection occurred' } },
      { name: 'one', up: true },
    ]);
  });

  it('is not listed if it is unknown', () => {
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

describe('a node, for any problems of its servers,', () => {
  it('is never down while one server is fresh', () => {
    fc.assert(
      fc.property(servers, (all) => {
        for (const { name, up: isUp } of nodeReadings([...all, server(undefined, true)], NOW))
          if (name === 'one') expect(isUp).toBe(true);
      }),
    );
  });

  it('is down only with a node problem of one of its servers', () => {
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

  it('is not affected by the number of suspended servers', () => {
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

  it('is up or down regardless of the order of its servers', () => {
    fc.assert(
      fc.property(servers, (all) => {
        const states = (list: readonly ServerOfNode[]) =>
          Object.fromEntries(nodeReadings(list, NOW).map(({ name, up: isUp }) => [name, isUp]));
        expect(states(all.toReversed())).toEqual(states(all));
      }),
    );
  });
});
