import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CauseCode } from '../../../../src/domain/problems.ts';
import {
  blamedIfTrialFailed,
  type Outage,
  shownProblem,
  withCheck,
  withTrial,
} from '../../../../src/panel/health/blame.ts';
import { NO_SERVER, type Subject, subjectChannel, subjectNode } from '../../../../src/panel/subjects.ts';
import {
  A,
  anyRows,
  askedOf,
  B,
  BLAMED,
  EVERYBODY,
  failing,
  MINUTE_MS,
  NOW,
  nodeOfServer,
  outcomeOf,
  type Row,
  ServersLedger,
} from '../../../support/panel-outcomes.ts';

interface Before {
  /**
   * The last time at which a call proved that the panel works. The default is now, so that the
   * panel can't be the cause of a failure.
   */
  readonly provenAt?: number | undefined;
  /** Subjects that are already blamed. */
  readonly blamed?: readonly Subject[];
}

/** A ledger with these outcomes, before its decision. */
function ledgerOf(rows: readonly Row[], servers: readonly string[], before: Before = {}): ServersLedger {
  const ledger = new ServersLedger();
  const provenAt = 'provenAt' in before ? before.provenAt : NOW;
  ledger.servers.setAsked(askedOf(servers));
  for (const subject of before.blamed ?? []) ledger.setOutage(subject, BLAMED);
  if (provenAt !== undefined) ledger.panelWorks(provenAt);
  record(ledger, rows);
  return ledger;
}

function record(ledger: ServersLedger, rows: readonly Row[]): void {
  for (const row of rows) ledger.servers.record(row[0], row[1], outcomeOf(row));
}

/** The subjects with an outage after the ledger's decision. */
function judged(ledger: ServersLedger, now = NOW): readonly Subject[] {
  ledger.judge(now);
  return [...ledger.outages.keys()].toSorted();
}

const suspectsOf = (rows: readonly Row[], servers: readonly string[], before?: Before) =>
  judged(ledgerOf(rows, servers, before));

const LIST_WORKS: Row = ['listing', NO_SERVER, 'works', 0];

describe('a node’s polls are suspected', () => {
  const unreachable = failing('resources', 'a1 a2 a3', 'node_unreachable');
  const silent = failing('resources', 'a1 a2 a3', 'node_silent', 20);
  const refused = failing('resources', 'a1 a2 a3', 'panel_error', 20);

  it.each<[string, readonly Row[], boolean]>([
    ['if three of its servers fail as only the node can cause it', unreachable, true],
    ['not if two of four do', unreachable.slice(1), false],
    [
      'not while a success of the last two minutes contradicts',
      [...unreachable, ['resources', 'a4', 'works', 110]],
      false,
    ],
    [
      'if the last success is older than two minutes',
      [...unreachable, ['resources', 'a4', 'works', 130]],
      true,
    ],
    [
      'if they time out, and another node’s server worked since',
      [...silent, ['resources', 'b1', 'works', 5]],
      true,
    ],
    [
      'not if they time out, and no other node’s server worked since',
      [...silent, ['resources', 'b1', 'works', 25]],
      false,
    ],
    [
      'if the panel responds with 500, and another node’s server worked since',
      [...refused, ['resources', 'b1', 'works', 5]],
      true,
    ],
    [
      'not if the panel’s only later responses are refusals of single servers, for which it asks no node',
      [...refused, ['resources', 'b1', 'not_found', 5], ['resources', 'b2', 'suspended', 5]],
      false,
    ],
    [
      'if the panel’s only later response is that another node’s server isn’t on its node',
      [...refused, ['resources', 'b1', 'server_not_on_node', 5]],
      true,
    ],
    [
      'not if the panel’s only later response is to a call that started before the failures and waited for its node',
      [...refused, ['resources', 'b1', 'node_unreachable', 5, 20]],
      false,
    ],
  ])('%s', (_what, rows, isSuspected) => {
    expect(suspectsOf(rows, [...A, ...B])).toEqual(isSuspected ? ['polls a'] : []);
  });

  it('if all of its servers fail, when it has fewer than three', () => {
    expect(suspectsOf([['resources', 'a1', 'node_unreachable']], ['a1', ...B])).toEqual(['polls a']);
  });

  it('not by a timeout of its only server', () => {
    const rows: Row[] = [
      ['resources', 'a1', 'node_silent', 20],
      ['resources', 'b1', 'works', 5],
    ];
    expect(suspectsOf(rows, ['a1', ...B])).toEqual([]);
  });

  it('by timeouts if its sockets have an outage as well', () => {
    const rows: Row[] = [
      ['resources', 'a1', 'node_silent'],
      ['resources', 'a2', 'node_silent'],
      ['sockets', 'a1', 'node_connection'],
      ['sockets', 'a2', 'node_connection'],
    ];
    const before: Before = { blamed: ['sockets a'] };
    expect(suspectsOf(rows, ['a1', 'a2', ...B], before)).toEqual(['polls a', 'sockets a']);
  });
});

describe('a node’s sockets are suspected', () => {
  const refused = failing('sockets', 'a1 a2 a3', 'node_connection');
  const withoutTokens = failing('websocket', 'a1 a2 a3', 'panel_error', 20);

  it.each<[string, readonly Row[], boolean]>([
    ['if three refuse connections', refused, true],
    ['if no stats arrive on three', failing('sockets', 'a1 a2 a3', 'no_stats'), true],
    ['not while one streams, since whenever', [...refused, ['sockets', 'a4', 'streams', 500]], false],
    [
      'if the panel fails to issue tokens for its servers only',
      [...withoutTokens, ['websocket', 'b1', 'works', 5]],
      true,
    ],
  ])('%s', (_what, rows, isSuspected) => {
    expect(suspectsOf(rows, [...A, ...B])).toEqual(isSuspected ? ['sockets a'] : []);
  });
});

describe('a path is suspected', () => {
  const cut = failing('resources', 'a1 a2 b1', 'connection_cut', 10);

  it.each<[string, readonly Row[], boolean]>([
    ['if servers of two nodes fail and another path works', [...cut, LIST_WORKS], true],
    ['not if no other path has worked since', cut, false],
    [
      'not if all that fail are of one node',
      [...failing('resources', 'a1 a2 a3', 'connection_cut'), LIST_WORKS],
      false,
    ],
    ['not while a server works there', [...cut, LIST_WORKS, ['resources', 'b2', 'works', 30]], false],
    [
      'although single servers are refused there',
      [...cut, LIST_WORKS, ['resources', 'b2', 'not_found', 30], ['resources', 'b3', 'suspended', 30]],
      true,
    ],
    [
      'not while a server works there, although another one was refused since',
      [...cut, LIST_WORKS, ['resources', 'b2', 'works', 30], ['resources', 'b3', 'not_found', 20]],
      false,
    ],
    [
      'not because servers are refused',
      [...failing('resources', 'a1 a2 b1', 'not_found'), LIST_WORKS],
      false,
    ],
  ])('%s', (_what, rows, isSuspected) => {
    expect(suspectsOf(rows, [...A, ...B])).toEqual(isSuspected ? ['path resources'] : []);
  });

  it('not because of nodes that have an outage', () => {
    const rows = [...failing('resources', 'a1 a2 b1', 'node_silent', 10), LIST_WORKS];
    const withSocket: Row[] = [...rows, ['sockets', 'a1', 'node_connection']];
    const before: Before = { blamed: ['sockets a'] };
    expect(suspectsOf(withSocket, [...A, ...B], before)).not.toContain('path resources');
  });

  it('if the server list fails and another path worked since', () => {
    const rows: Row[] = [
      ['listing', NO_SERVER, 'connection_cut', 10],
      ['websocket', 'a1', 'works', 5],
    ];
    expect(suspectsOf(rows, A)).toEqual(['path listing']);
  });
});

describe('the consoles of the account are suspected', () => {
  const denied = (servers: string, cause: CauseCode = 'no_console_permission') =>
    failing('websocket', servers, cause);
  const three = denied('a1 a2 b1');
  const unauthorized = denied('a1 a2 b1', 'unauthorized');

  it.each<[string, readonly Row[], boolean, Before?]>([
    ['if three servers are denied', three, true],
    ['not if two of eight are', denied('a1 a2'), false],
    ['not if the causes differ', [...denied('a1 a2'), ...denied('b1', 'unauthorized')], false],
    ['if the panel has accepted the key since', unauthorized, true, { provenAt: NOW - 1_000 }],
    ['not if nothing worked since', unauthorized, false, { provenAt: NOW - 5_000 }],
    [
      'not if the only responses since are the same refusal on a path whose permission may be missing, and a 404',
      [...unauthorized, ['backups', 'b1', 'unauthorized', 0], ['resources', 'b1', 'not_found', 0]],
      false,
      { provenAt: NOW - 5_000 },
    ],
    ['not if one is granted', [...three, ['websocket', 'b2', 'works', 60]], false],
    ['not if one streams', [...three, ['sockets', 'b2', 'streams', 400]], false],
  ])('%s', (_what, rows, isSuspected, before) => {
    expect(suspectsOf(rows, [...A, ...B], before).includes('consoles')).toBe(isSuspected);
  });

  it('as soon as the panel accepts the key after the denials', () => {
    const ledger = ledgerOf(unauthorized, [...A, ...B], { provenAt: NOW - 5_000 });
    expect(judged(ledger)).not.toContain('consoles');
    ledger.panelWorks(NOW);
    expect(judged(ledger)).toEqual(['consoles']);
  });

  it('not by a single server', () => {
    expect(suspectsOf(denied('a1'), ['a1'])).toEqual([]);
  });

  it('by all others if the rest is suspended', () => {
    const rows: Row[] = [...denied('a1 a2'), ['websocket', 'b1', 'suspended']];
    expect(suspectsOf(rows, ['a1', 'a2', 'b1'])).toEqual(['consoles']);
  });
});

describe('an outage', () => {
  const rows = failing('resources', 'a1 a2 a3', 'node_unreachable');
  const subject = 'polls a';

  it('is tried at once, before anything is held', () => {
    const ledger = ledgerOf(rows, A);
    expect(ledger.judge(NOW)).toEqual([{ subject, before: undefined }]);
    expect(ledger.outages.get(subject)).toMatchObject({ blamedAt: undefined, trialAt: NOW, trials: 0 });
    expect(ledger.isBlamed(subject)).toBe(false);
  });

  it('ends with any success', () => {
    const ledger = ledgerOf(rows, A, { blamed: [subject] });
    record(ledger, [['resources', 'a4', 'works', 0]]);
    expect(ledger.judge(NOW)).toEqual([{ subject, before: BLAMED }]);
    expect(ledger.outages.size).toBe(0);
  });

  it('of a path ends with a refusal of a single server', () => {
    const ledger = ledgerOf([], A, { blamed: ['path resources'] });
    record(ledger, [['resources', 'a4', 'not_found', 0]]);
    expect(judged(ledger)).toEqual([]);
  });

  it('of a path doesn’t end with a refusal that was known when it was suspected', () => {
    const cut = failing('resources', 'a1 a2 b1 b2', 'connection_cut', 20);
    const ledger = ledgerOf([...cut, ['resources', 'b3', 'not_found', 0, 0], LIST_WORKS], EVERYBODY);
    expect(judged(ledger)).toEqual(['path resources']);
    record(ledger, [['resources', 'a1', 'connection_cut', 0]]);
    expect(judged(ledger)).toEqual(['path resources']);
  });

  it('is decided once: nothing follows until something is recorded', () => {
    const ledger = ledgerOf(rows, A);
    expect(ledger.judge(NOW)).toHaveLength(1);
    expect(ledger.judge(NOW + 1)).toEqual([]);
  });

  it('ends when nobody is asked there any more', () => {
    const ledger = ledgerOf(rows, A, { blamed: [subject] });
    expect(judged(ledger)).toEqual([subject]);
    ledger.servers.setAsked(askedOf(B));
    expect(judged(ledger)).toEqual([]);
  });

  it('of a node’s sockets makes its polls likely as soon as it is blamed, and explains failures on the path', () => {
    const silent = failing('resources', 'a1 a2 b1', 'node_silent', 10);
    const ledger = ledgerOf(silent, [...A, ...B]);
    expect(judged(ledger)).toEqual([]);
    ledger.setOutage('sockets a', BLAMED);
    expect(judged(ledger)).toEqual(['polls a', 'sockets a']);
    record(ledger, [LIST_WORKS]);
    expect(judged(ledger)).not.toContain('path resources');
  });

  it('begins when another node’s server works after the failures', () => {
    const ledger = ledgerOf(failing('resources', 'a1 a2 a3', 'node_silent', 20), [...A, ...B]);
    expect(judged(ledger)).toEqual([]);
    record(ledger, [['resources', 'b1', 'works', 5]]);
    expect(judged(ledger)).toEqual(['polls a']);
  });

  it('begins once the success that contradicts it is two minutes old', () => {
    const ledger = ledgerOf([...rows, ['resources', 'a4', 'works', 0]], A);
    expect(judged(ledger, NOW + 119_999)).toEqual([]);
    expect(judged(ledger, NOW + 120_000)).toEqual([subject]);
  });

  it('begins then even if a fresh success contradicts that of something larger', () => {
    const rows: Row[] = [
      ...failing('resources', 'a1 a2 a3', 'node_silent', 5),
      ['resources', 'a4', 'works', 4],
      ...failing('resources', 'b1 b2 b3', 'node_silent', 5),
      ['resources', 'c1', 'works', 4],
    ];
    const ledger = ledgerOf(rows, [...A, ...B, 'c1']);
    expect(judged(ledger)).not.toContain('polls a');
    const later = NOW + 120_000;
    ledger.servers.record('resources', 'c1', {
      ...outcomeOf(['resources', 'c1', 'works']),
      at: later,
      startedAt: later,
    });
    expect(judged(ledger, later)).toContain('polls a');
  });

  it('of the panel explains the failures before its end', () => {
    const cut: Row[] = [...failing('resources', 'a1 a2 b1', 'timeout', 10), LIST_WORKS];
    expect(suspectsOf(cut, [...A, ...B])).toContain('path resources');
    const ledger = ledgerOf([], [...A, ...B], { provenAt: NOW - 5_000, blamed: ['panel'] });
    expect(judged(ledger, NOW - 5_000)).toEqual([]);
    record(ledger, cut);
    ledger.panelWorks(NOW);
    expect(judged(ledger)).toEqual([]);
  });

  it.each<[string, number | undefined, Outage]>([
    ['of a panel that is blamed', NOW - 2 * MINUTE_MS, BLAMED],
    ['of a panel that never worked before', undefined, withCheck(undefined, NOW - 15_000)],
  ])('%s explains failures even to what is decided when it ends', (_what, provenAt, outage) => {
    const ledger = ledgerOf([], [...A, ...B], { provenAt });
    ledger.setOutage('panel', outage);
    record(ledger, failing('resources', 'a1 a2 b1', 'timeout', 10));
    expect(judged(ledger)).toEqual(['panel']);
    ledger.panelWorks(NOW);
    record(ledger, [LIST_WORKS]);
    expect(judged(ledger)).toEqual([]);
  });

  it('of a panel that worked before and was only suspected explains nothing', () => {
    const ledger = ledgerOf([], [...A, ...B], { provenAt: NOW - 60_000 });
    ledger.setOutage('panel', withCheck(undefined, NOW - 15_000));
    record(ledger, failing('resources', 'a1 a2', 'timeout', 10));
    ledger.panelWorks(NOW - 1_000);
    expect(judged(ledger, NOW - 1_000)).toEqual([]);
    record(ledger, [...failing('resources', 'b1', 'timeout', 0), LIST_WORKS]);
    expect(judged(ledger)).toContain('path resources');
  });
});

describe('the panel', () => {
  it('is cleared by a call that works after its check has begun, even at the same instant', () => {
    const ledger = ledgerOf([], A);
    ledger.setOutage('panel', withCheck(undefined, NOW));
    expect(judged(ledger)).toEqual(['panel']);
    ledger.panelWorks(NOW);
    expect(judged(ledger)).toEqual([]);
  });

  const cut: readonly Row[] = [['resources', 'a1', 'connection_cut', 10]];
  const suspected = () => {
    const ledger = ledgerOf(cut, A, { provenAt: undefined });
    ledger.judge(NOW);
    return ledger;
  };
  /** Starts a round of canaries at this time, which fails. */
  const tried = (ledger: ServersLedger, at: number, cause: CauseCode = 'connection_cut') => {
    const outage = ledger.outages.get('panel');
    const tries = outage && withTrial(outage, NO_SERVER, at);
    ledger.setOutage(
      'panel',
      tries && blamedIfTrialFailed(tries, 'panel', { cause, detail: '' }, at + 9_000),
    );
    return ledger.outages.get('panel');
  };

  it('is suspected by any failure that may be its own, unless a call has worked since its start', () => {
    expect([...suspected().outages.keys()]).toEqual(['panel']);
    const startedAt = NOW - 10_100;
    expect(suspectsOf(cut, A, { provenAt: startedAt - 1 })).toContain('panel');
    expect(suspectsOf(cut, A, { provenAt: startedAt })).not.toContain('panel');
  });

  it('is not suspected because of a server or a node', () => {
    const rows: Row[] = [
      ['resources', 'a1', 'suspended'],
      ['resources', 'a2', 'node_unreachable'],
      ['resources', 'a3', 'rate_limited'],
    ];
    expect(suspectsOf(rows, A, { provenAt: undefined })).not.toContain('panel');
  });

  it('is blamed after two failed rounds, and tried 15, 15 and then 25 s after the start of the last', () => {
    const ledger = suspected();
    const seen: (readonly [number, boolean])[] = [];
    for (let at = NOW, round = 0; round < 5; round += 1) {
      const { trialAt = 0, blamedAt } = tried(ledger, at) ?? {};
      seen.push([trialAt - at, blamedAt !== undefined]);
      at = trialAt;
    }
    expect(seen).toEqual([
      [15_000, false],
      [15_000, true],
      [25_000, true],
      [25_000, true],
      [25_000, true],
    ]);
  });

  it('is blamed at once if it refuses the key', () => {
    expect(tried(suspected(), NOW, 'key_refused')).toMatchObject({ blamedAt: NOW + 9_000 });
  });

  it('has no problem until it is blamed', () => {
    const ledger = suspected();
    expect(shownProblem('panel', ledger.outages.get('panel'))).toBeUndefined();
    tried(ledger, NOW);
    const down = tried(ledger, NOW + 15_000, 'not_found');
    expect(shownProblem('panel', down)).toEqual({ cause: 'not_a_panel', detail: '' });
  });

  it('works again after any success, and isn’t tried again within 15 s of its last round', () => {
    const ledger = suspected();
    tried(ledger, NOW);
    const down = tried(ledger, NOW + 15_000);
    ledger.setOutage('panel', down && withTrial(down, NO_SERVER, NOW + 30_000));
    ledger.panelWorks(NOW + 31_000);
    expect(judged(ledger, NOW + 31_000)).toEqual([]);
    record(ledger, [['resources', 'a1', 'connection_cut', -35]]);
    ledger.judge(NOW + 35_000);
    expect(ledger.outages.get('panel')).toMatchObject({ blamedAt: undefined, trialAt: NOW + 45_000 });
  });

  it('stays down while another key or way is tried, which is at once', () => {
    const ledger = suspected();
    tried(ledger, NOW);
    const down = tried(ledger, NOW + 15_000);
    ledger.setOutage('panel', withCheck(down, NOW + 25_000));
    expect(judged(ledger, NOW + 25_000)).toContain('panel');
    const { problem, blamedAt, trialAt } = ledger.outages.get('panel') ?? {};
    expect({ problem, blamedAt, trialAt }).toEqual({
      problem: { cause: 'connection_cut', detail: '' },
      blamedAt: NOW + 24_000,
      trialAt: NOW + 25_000,
    });
  });
});

/** Whether this outcome contradicts an outage of the subject. */
function contradicts(subject: Subject, [channel, server, what]: Row): boolean {
  if (what !== 'works' && what !== 'streams') return false;
  const node = subjectNode(subject);
  if (node !== undefined && nodeOfServer(server) !== node) return false;
  return subjectChannel(subject) === channel || (subject === 'consoles' && channel === 'sockets');
}

describe('a decision', () => {
  it('never contradicts a success of the last two minutes', () => {
    fc.assert(
      fc.property(anyRows, (rows) => {
        const recent = rows.filter(([, , what, agoS = 0]) => what === 'streams' || agoS < 120);
        for (const suspect of suspectsOf(rows, EVERYBODY))
          expect(recent.filter((row) => contradicts(suspect, row))).toEqual([]);
      }),
    );
  });

  it('doesn’t depend on the order of the outcomes', () => {
    fc.assert(
      fc.property(anyRows, fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (rows, keys) => {
        const shuffled = rows
          .map((row) => [keys.next().value ?? 0, row] as const)
          .toSorted(([one], [other]) => one - other)
          .map(([, row]) => row);
        expect(suspectsOf(shuffled, EVERYBODY)).toEqual(suspectsOf(rows, EVERYBODY));
      }),
    );
  });

  it('of a server that works is never caused by another success', () => {
    fc.assert(
      fc.property(anyRows, fc.constantFrom(...EVERYBODY), (rows, server) => {
        const others = rows.filter(([channel, name]) => channel !== 'resources' || name !== server);
        const after = suspectsOf([...others, ['resources', server, 'works', 0]], EVERYBODY);
        expect(after).not.toContain('path resources');
        expect(after).not.toContain(`polls ${server[0]}`);
      }),
    );
  });

  it('doesn’t change for others because of a server that always fails, on a node of its own', () => {
    fc.assert(
      fc.property(anyRows, (rows) => {
        const healthy = rows.filter(([, , what]) => what === 'works' || what === 'streams');
        const failing: Row[] = [
          ['resources', 'z1', 'node_silent', 1],
          ['sockets', 'z1', 'node_connection', 1],
          ['websocket', 'z1', 'panel_error', 1],
        ];
        const suspects = suspectsOf([...healthy, ...failing], [...EVERYBODY, 'z1']);
        expect(suspects.filter((suspect) => subjectNode(suspect) !== 'z')).toEqual([]);
      }),
    );
  });

  it('is of something that somebody tries, unless everybody there is blocked', () => {
    fc.assert(
      fc.property(anyRows, (rows) => {
        const ledger = ledgerOf(rows, EVERYBODY);
        ledger.judge(NOW);
        for (const [subject, outage] of ledger.outages) {
          expect(outage.trialAt).toBe(NOW);
          const channel = subjectChannel(subject);
          const [first] =
            channel === 'listing' ? [NO_SERVER] : ledger.servers.candidates(channel, subjectNode(subject));
          expect(first).toBeDefined();
          expect(outage.problem?.detail).not.toBe('');
        }
      }),
    );
  });
});

describe('what one outcome looks at', () => {
  /**
   * How often one outcome makes the ledger read a server's node or the time of an outcome, or draw
   * a random number.
   */
  function looksOf(servers: number, nodes: number): number {
    let looks = 0;
    const ledger = new ServersLedger(() => {
      looks += 1;
      return 0.5;
    });
    const all = new Map(
      Array.from({ length: servers }, (_, index) => [
        `s${index}`,
        {
          get node() {
            looks += 1;
            return `n${index % nodes}`;
          },
        },
      ]),
    );
    ledger.servers.setAsked({ ...askedOf([]), websocket: all, resources: all, sockets: all });
    const fails = (index: number, channel: 'sockets' | 'resources', at: number) => {
      const server = `s${index}`;
      const outcome = outcomeOf([channel, server, channel === 'sockets' ? 'node_connection' : 'timeout']);
      ledger.servers.record(channel, server, {
        ...outcome,
        get at() {
          looks += 1;
          return at;
        },
        get startedAt() {
          looks += 1;
          return at - 1;
        },
      });
      ledger.judge(at);
    };
    ledger.panelWorks(NOW);
    for (let index = 0; index < servers; index += 1) fails(index, 'sockets', NOW + index);
    for (let index = 0; index < servers; index += 1) fails(index, 'resources', NOW + servers + index);
    expect(ledger.outages.size).toBeGreaterThanOrEqual(nodes);
    looks = 0;
    const again = NOW + 3 * servers;
    for (let index = 0; index < 40; index += 1)
      fails(index, index % 2 === 0 ? 'sockets' : 'resources', again + index);
    return looks / 40;
  }

  it.each<[string, (servers: number) => number]>([
    ['on ten nodes', () => 10],
    ['on a node each', (servers) => servers],
  ])('hardly grows from 100 to 10,000 servers with an outage, %s', (_what, nodesOf) => {
    expect(looksOf(10_000, nodesOf(10_000))).toBeLessThanOrEqual(3 * looksOf(100, nodesOf(100)));
  });
});
