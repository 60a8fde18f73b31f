import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { callSigns } from '../../../../src/diagnosis/signs.ts';
import { type Candidate, Candidates } from '../../../../src/panel/health/candidates.ts';
import type { Outcome } from '../../../../src/panel/health/outcome.ts';
import {
  CHANNELS,
  type Channel,
  type Subject,
  subjectChannel,
  subjectNode,
} from '../../../../src/panel/subjects.ts';
import { type Cell, type Cells, trialServer } from '../../../support/blame-oracle.ts';
import {
  A,
  anyRows,
  askedOf,
  B,
  EVERYBODY,
  failing,
  NOW,
  nodeOfServer,
  outcomeOf,
  type Row,
  ServersLedger,
} from '../../../support/panel-outcomes.ts';

/** Candidates that are found by their servers' ids. */
class Named extends Candidates {
  readonly #named = new Map<string, Candidate>();

  take(server: string, node: string | undefined, last?: Outcome, streams = false): void {
    const candidate = this.#named.get(server) ?? server;
    this.#named.set(server, this.set(candidate, node, last, streams));
  }

  drop(server: string): void {
    const candidate = this.#named.get(server);
    if (candidate !== undefined) this.delete(candidate);
    this.#named.delete(server);
  }
}

/**
 * The candidates of one channel after these outcomes. Outcomes of sockets determine which servers
 * stream.
 */
function candidatesOf(
  channel: Channel,
  rows: readonly Row[],
  servers: readonly string[],
  random = () => 0.5,
) {
  const candidates = new Named(random);
  const lastOn = (on: Channel, server: string) => {
    const row = rows.findLast(([where, name]) => where === on && name === server);
    return row && outcomeOf(row);
  };
  for (const server of servers) {
    const streams = lastOn('sockets', server)?.streams === true;
    candidates.take(server, nodeOfServer(server), lastOn(channel, server), streams);
  }
  return candidates;
}

describe('a trial', () => {
  it.each<[string, readonly Row[], Subject, string | undefined]>([
    [
      'is that of a server that never failed there',
      failing('resources', 'a1 a2 a4', 'node_silent'),
      'polls a',
      'a3',
    ],
    [
      'of a path is that of a server that streams, and of a node none of whose servers failed there',
      [
        ['sockets', 'a1', 'streams'],
        ['websocket', 'a2', 'panel_error'],
        ['sockets', 'b1', 'streams'],
        ['sockets', 'a3', 'streams'],
      ],
      'path websocket',
      'b1',
    ],
    [
      'of a path is that of a server whose node failed least recently, even if others of another node never failed',
      [
        ['sockets', 'a1', 'streams'],
        ['sockets', 'b1', 'streams'],
        ['websocket', 'a2', 'panel_error', 50],
        ['websocket', 'a3', 'panel_error', 5],
        ['websocket', 'b2', 'panel_error', 9],
        ['websocket', 'c1', 'panel_error', 7],
      ],
      'path websocket',
      'b1',
    ],
    [
      'of a path is that of a server of a node where others are refused for reasons of their own',
      [
        ['sockets', 'a1', 'streams'],
        ['sockets', 'b1', 'streams'],
        ['websocket', 'a2', 'suspended', 1],
        ['websocket', 'b2', 'panel_error', 50],
      ],
      'path websocket',
      'a1',
    ],
    [
      'otherwise of the one that failed least recently',
      failing('resources', 'a2 a3 a1 a4', 'node_silent', 9),
      'polls a',
      'a2',
    ],
    [
      'is never that of a server that is refused for a reason of its own',
      [
        ['resources', 'a1', 'suspended', 50],
        ['resources', 'a2', 'node_silent', 9],
        ['resources', 'a3', 'installing', 50],
        ['resources', 'a4', 'node_silent', 1],
      ],
      'polls a',
      'a2',
    ],
    ['is that of a refused one if all are', failing('resources', A.join(' '), 'suspended'), 'polls a', 'a1'],
    [
      'is none of a path if all are',
      failing('resources', [...A, ...B].join(' '), 'suspended'),
      'path resources',
      undefined,
    ],
  ])('%s', (_what, rows, subject, server) => {
    const candidates = candidatesOf(subjectChannel(subject), rows, [...A, ...B]);
    const node = subjectNode(subject);
    const [first] = node === undefined ? candidates.ofAll() : candidates.ofNode(node);
    expect(first).toBe(server);
  });

  it('is that of a server that may try, while the failures of the others still tell which nodes fail', () => {
    const rows: readonly Row[] = [
      ['websocket', 'a2', 'panel_error'],
      ['sockets', 'a1', 'streams'],
      ['sockets', 'b1', 'streams'],
    ];
    const candidates = candidatesOf('websocket', rows, [...A, ...B]);
    const tries = (mayNot: string) => [...candidates.ofAll()].find((server) => server !== mayNot);
    expect(tries('a2')).toBe('b1');
    expect(tries('b1')).not.toBe('b1');
  });

  it.each<[string, (candidates: Candidates, candidate: Candidate, node: string, at: number) => void]>([
    [
      'failed',
      (candidates, candidate, node, at) =>
        candidates.set(
          candidate,
          node,
          { ...outcomeOf(['resources', candidate.server, 'panel_error']), at },
          candidate.streams,
        ),
    ],
    ['failed in a larger outage', (candidates, candidate, _node, at) => candidates.failed(candidate, at)],
  ])('of a path is one of each node in turn, once they have %s', (_what, fails) => {
    const anyServer = fc.record({ node: fc.constantFrom('a', 'b', 'c', 'd'), streams: fc.boolean() });
    fc.assert(
      fc.property(fc.array(anyServer, { minLength: 1 }), (servers) => {
        const candidates = new Candidates(Math.random);
        const named = new Map(
          servers.map(({ node, streams }, index) => [
            `${node}${index}`,
            candidates.set(`${node}${index}`, node, undefined, streams),
          ]),
        );
        const nodes = new Set(servers.map(({ node }) => node));
        const tried: string[] = [];
        for (let at = 1; at <= 3 * nodes.size; at += 1) {
          const [server = ''] = candidates.ofAll();
          const [node = ''] = server;
          tried.push(node);
          const candidate = named.get(server);
          if (candidate !== undefined) fails(candidates, candidate, node, at);
        }
        const turn = tried.slice(0, nodes.size);
        expect(new Set(turn)).toEqual(nodes);
        expect(tried).toEqual([...turn, ...turn, ...turn]);
      }),
    );
  });

  it('is at random among equals', () => {
    const chosen = Array.from({ length: 100 }, () => {
      const [first] = candidatesOf('resources', [], A, Math.random).ofNode('a');
      return first;
    });
    expect(new Set(chosen)).toEqual(new Set(A));
  });

  it('is at random among equal nodes', () => {
    const chosen = Array.from({ length: 200 }, () => {
      const [first] = candidatesOf('resources', [], [...A, ...B], Math.random).ofAll();
      return first;
    });
    expect(new Set(chosen)).toEqual(new Set([...A, ...B]));
  });

  it('is that of a refused server only of a node, and then the last', () => {
    const rows: Row[] = [
      ...failing('resources', 'a1 a2 a3', 'suspended'),
      ['resources', 'a4', 'node_silent'],
    ];
    const candidates = candidatesOf('resources', rows, A);
    expect([...candidates.ofAll()]).toEqual(['a4']);
    expect([...candidates.ofNode('a')]).toEqual(['a4', 'a1', 'a2', 'a3']);
  });

  it.each([
    ['another', 'since the panel works', true, 'a2'],
    ['the same', 'before the panel has ever worked: the path may cause that', false, 'a1'],
  ])('is that of %s server if one was called missing %s', (_who, _when, isProven, server) => {
    const missing = outcomeOf(['resources', 'a1', 'not_found', 9]);
    const signs = callSigns({ endpoint: 'resources', cause: 'not_found', fromPanel: true, isProven });
    const candidates = new Named(() => 0.5);
    candidates.take('a1', 'a', { ...missing, signs });
    candidates.take('a2', 'a', outcomeOf(['resources', 'a2', 'panel_error', 1]));
    expect([...candidates.ofAll()][0]).toBe(server);
  });

  it('is none of a server that is gone, or of a node that has none', () => {
    const candidates = candidatesOf('resources', [], A);
    for (const server of A) candidates.drop(server);
    expect([[...candidates.ofNode('a')], [...candidates.ofAll()], candidates.serversOn('a')]).toEqual([
      [],
      [],
      [],
    ]);
  });

  it('is one of all servers of its node, blocked ones among them', () => {
    const candidates = candidatesOf('resources', failing('resources', 'a1 a2', 'suspended'), [...A, ...B]);
    expect([candidates.serversOn('a').toSorted(), candidates.serversOn('c')]).toEqual([A, []]);
  });

  it('is none of a node that is forgotten with its last server: another lot is drawn when it is back', () => {
    let lots = 0;
    const candidates = new Named(() => (lots += 1));
    candidates.take('a1', 'a');
    candidates.take('a1', 'a');
    expect(lots).toBe(3);
    candidates.drop('a1');
    candidates.take('a1', 'a');
    expect(lots).toBe(5);
    candidates.take('a1', 'b');
    candidates.take('a1', 'a');
    expect(lots).toBe(9);
  });

  it('is anybody’s once all outcomes are forgotten: first of those that stream', () => {
    const rows: Row[] = [
      ...failing('resources', 'a1 a2', 'suspended'),
      ['resources', 'a3', 'node_silent'],
      ['sockets', 'b2', 'streams'],
      ['resources', 'b2', 'node_silent'],
    ];
    const candidates = candidatesOf('resources', rows, [...A, 'b2']);
    expect([...candidates.ofAll()][0]).toBe('a4');
    for (const server of [...A, 'b2'])
      candidates.take(server, nodeOfServer(server), undefined, server === 'b2');
    expect([...candidates.ofAll()]).toContain('a1');
    expect([...candidates.ofAll()][0]).toBe('b2');
    candidates.drop('b2');
    expect(new Set(candidates.ofAll())).toEqual(new Set(A));
    expect([...candidates.ofNode('b')]).toEqual([]);
  });

  it('follows a server that moves to another node', () => {
    const candidates = candidatesOf('resources', [], ['a1']);
    candidates.take('a1', 'b');
    expect([[...candidates.ofNode('a')], [...candidates.ofNode('b')], [...candidates.ofAll()]]).toEqual([
      [],
      ['a1'],
      ['a1'],
    ]);
  });
});

/** The outcomes in the form of the oracle's cells. */
function cellsOf(rows: readonly Row[]): Cells {
  const asked = askedOf(EVERYBODY);
  const cellsOn = (channel: Channel) => {
    const cells = new Map<string, Cell>();
    for (const [server, one] of asked[channel]) {
      const row = rows.findLast(([on, name]) => on === channel && name === server);
      cells.set(server, { asked: one, last: row && outcomeOf(row) });
    }
    return cells;
  };
  return Object.fromEntries(CHANNELS.map((channel) => [channel, cellsOn(channel)])) as Record<
    Channel,
    Map<string, Cell>
  >;
}

const subjects: readonly Subject[] = [
  ...['a', 'b', 'c'].flatMap((node) => [`sockets ${node}`, `polls ${node}`] as const),
  'path websocket',
  'path resources',
  'path backups',
  'consoles',
];

it('the first candidate is one of those that the oracle calls equally good, whatever happened', () => {
  fc.assert(
    fc.property(anyRows, fc.constantFrom(...subjects), (rows, subject) => {
      const ledger = new ServersLedger(Math.random);
      ledger.servers.setAsked(askedOf(EVERYBODY));
      ledger.panelWorks(NOW);
      for (const row of rows) ledger.servers.record(row[0], row[1], outcomeOf(row));
      const cells = cellsOf(rows);
      const [ours] = ledger.servers.candidates(subjectChannel(subject), subjectNode(subject));
      const theirs = trialServer(subject, cells, () => 0.5);
      // With the same random number for all, the oracle chooses the first or the last one among
      // equals.
      const among = (server: string) => server === ours || server === theirs;
      const best = [0, 0.99].map((number) => trialServer(subject, cells, () => number, among));
      expect(best).toContain(ours);
    }),
    { numRuns: 500 },
  );
});
