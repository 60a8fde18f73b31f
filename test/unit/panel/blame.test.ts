import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { signsOf, signsOfSocket } from '../../../src/diagnosis/outcome.ts';
import type { CauseCode } from '../../../src/domain/problems.ts';
import {
  afterTrial,
  type BlameState,
  blame,
  type Cell,
  type Cells,
  CHANNELS,
  type Channel,
  channelOf,
  NO_SERVER,
  NO_TROUBLES,
  nodeOf,
  type Outcome,
  pathOf,
  pollsOf,
  problemOfSubject,
  type Subject,
  socketsOf,
  trialServer,
  withCheck,
  withTrial,
} from '../../../src/panel/blame.ts';

const MINUTE_MS = 60_000;
const NOW = 10 * MINUTE_MS;

/** One outcome: the channel, the server (its first letter is its node), its cause, and how many seconds ago it ended. */
type Line = readonly [
  channel: Channel,
  server: string,
  cause: CauseCode | 'works' | 'streams',
  agoS?: number,
];

const nodeOfServer = (server: string) => (server === NO_SERVER ? undefined : server[0]);

/** Causes in which the panel itself responded. */
const FROM_PANEL: ReadonlySet<string> = new Set([
  'panel_error',
  'node_unreachable',
  'unauthorized',
  'not_found',
]);

function outcomeOf([channel, server, what, agoS = 1]: Line): Outcome {
  const cause = what === 'works' || what === 'streams' ? undefined : what;
  const fromPanel = cause === undefined || FROM_PANEL.has(cause) || cause === 'no_console_permission';
  return {
    startedAt: NOW - agoS * 1_000 - 100,
    at: NOW - agoS * 1_000,
    problem: cause && { cause, detail: `${cause} of ${server}` },
    signs:
      channel === 'sockets'
        ? signsOfSocket(cause)
        : signsOf({ endpoint: channel, cause, fromPanel, isProven: true }),
    ...(what === 'streams' && { streams: true }),
  };
}

/** What some outcomes show; these servers are asked on every channel. */
function cellsOf(lines: readonly Line[], servers: readonly string[]): Cells {
  const cellOf = (channel: Channel, server: string): [string, Cell] => {
    const line = lines.findLast(([on, name]) => on === channel && name === server);
    return [server, { asked: { node: nodeOfServer(server) }, last: line && outcomeOf(line) }];
  };
  const asked = (channel: Channel) => (channel === 'listing' ? [NO_SERVER] : servers);
  const entries = CHANNELS.map((channel) => [
    channel,
    new Map(asked(channel).map((server) => cellOf(channel, server))),
  ]);
  return Object.fromEntries(entries) as Cells;
}

/** A call showed that the panel works. */
const afterProof = (state: BlameState, now: number): BlameState => ({ ...state, provenAt: now });

/** Calls worked until now, so that no failure may be the panel's. */
const PROVEN = afterProof(NO_TROUBLES, NOW);

const suspectsOf = (lines: readonly Line[], servers: readonly string[], state = PROVEN) =>
  [...blame(cellsOf(lines, servers), state, NOW).troubles.keys()].toSorted();

/** These servers fail alike, one after the other. */
const failing = (channel: Channel, servers: string, cause: CauseCode, agoS = 1): Line[] =>
  servers.split(' ').map((server, index) => [channel, server, cause, agoS - 0.1 * index]);

const A = ['a1', 'a2', 'a3', 'a4'];
const B = ['b1', 'b2', 'b3', 'b4'];
const LIST_WORKS: Line = ['listing', NO_SERVER, 'works', 0];

describe('a node’s polls are suspected', () => {
  const unreachable = failing('resources', 'a1 a2 a3', 'node_unreachable');
  const silent = failing('resources', 'a1 a2 a3', 'node_silent', 20);
  const refused = failing('resources', 'a1 a2 a3', 'panel_error', 20);

  it.each<[string, readonly Line[], boolean]>([
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
  ])('%s', (_what, lines, isSuspected) => {
    expect(suspectsOf(lines, [...A, ...B])).toEqual(isSuspected ? [pollsOf('a')] : []);
  });

  it('if all of its servers fail, when it has fewer than three', () => {
    expect(suspectsOf([['resources', 'a1', 'node_unreachable']], ['a1', ...B])).toEqual([pollsOf('a')]);
  });

  it('not by a timeout of its only server', () => {
    const lines: Line[] = [
      ['resources', 'a1', 'node_silent', 20],
      ['resources', 'b1', 'works', 5],
    ];
    expect(suspectsOf(lines, ['a1', ...B])).toEqual([]);
  });

  it('by timeouts if its sockets are in trouble as well', () => {
    const lines: Line[] = [
      ['resources', 'a1', 'node_silent'],
      ['resources', 'a2', 'node_silent'],
      ['sockets', 'a1', 'node_connection'],
      ['sockets', 'a2', 'node_connection'],
    ];
    const state = blamed(PROVEN, socketsOf('a'));
    expect(suspectsOf(lines, ['a1', 'a2', ...B], state)).toEqual([pollsOf('a'), socketsOf('a')]);
  });
});

describe('a node’s sockets are suspected', () => {
  const refused = failing('sockets', 'a1 a2 a3', 'node_connection');
  const withoutTokens = failing('websocket', 'a1 a2 a3', 'panel_error', 20);

  it.each<[string, readonly Line[], boolean]>([
    ['if three refuse connections', refused, true],
    ['if no stats arrive on three', failing('sockets', 'a1 a2 a3', 'no_stats'), true],
    ['not while one streams, since whenever', [...refused, ['sockets', 'a4', 'streams', 500]], false],
    [
      'if the panel fails to issue tokens for its servers only',
      [...withoutTokens, ['websocket', 'b1', 'works', 5]],
      true,
    ],
  ])('%s', (_what, lines, isSuspected) => {
    expect(suspectsOf(lines, [...A, ...B])).toEqual(isSuspected ? [socketsOf('a')] : []);
  });
});

describe('a path is suspected', () => {
  const cut = failing('resources', 'a1 a2 b1', 'connection_cut', 10);

  it.each<[string, readonly Line[], boolean]>([
    ['if servers of two nodes fail and another path works', [...cut, LIST_WORKS], true],
    ['not if no other path has worked since', cut, false],
    [
      'not if all that fail are of one node',
      [...failing('resources', 'a1 a2 a3', 'connection_cut'), LIST_WORKS],
      false,
    ],
    ['not while a server works there', [...cut, LIST_WORKS, ['resources', 'b2', 'works', 30]], false],
    [
      'not because servers are refused',
      [...failing('resources', 'a1 a2 b1', 'not_found'), LIST_WORKS],
      false,
    ],
  ])('%s', (_what, lines, isSuspected) => {
    expect(suspectsOf(lines, [...A, ...B])).toEqual(isSuspected ? [pathOf('resources')] : []);
  });

  it('not because of nodes that are in trouble', () => {
    const lines = [...failing('resources', 'a1 a2 b1', 'node_silent', 10), LIST_WORKS];
    const state = blamed(PROVEN, socketsOf('a'));
    const troubles = blame(
      cellsOf([...lines, ['sockets', 'a1', 'node_connection']], [...A, ...B]),
      state,
      NOW,
    );
    expect(troubles.troubles.has(pathOf('resources'))).toBe(false);
  });

  it('if the server list fails and another path worked since', () => {
    const lines: Line[] = [
      ['listing', NO_SERVER, 'connection_cut', 10],
      ['websocket', 'a1', 'works', 5],
    ];
    expect(suspectsOf(lines, A)).toEqual([pathOf('listing')]);
  });
});

describe('the consoles of the account are suspected', () => {
  const denied = (servers: string, cause: CauseCode = 'no_console_permission') =>
    failing('websocket', servers, cause);
  const three = denied('a1 a2 b1');

  it.each<[string, readonly Line[], boolean]>([
    ['if three servers are denied', three, true],
    ['not if two of eight are', denied('a1 a2'), false],
    ['not if the causes differ', [...denied('a1 a2'), ...denied('b1', 'unauthorized')], false],
    ['not if nothing worked since', denied('a1 a2 b1', 'unauthorized'), false],
    ['not if one is granted', [...three, ['websocket', 'b2', 'works', 60]], false],
    ['not if one streams', [...three, ['sockets', 'b2', 'streams', 400]], false],
  ])('%s', (_what, lines, isSuspected) => {
    expect(suspectsOf(lines, [...A, ...B])).toEqual(isSuspected ? ['consoles'] : []);
  });

  it('not by a single server', () => {
    expect(suspectsOf(denied('a1'), ['a1'])).toEqual([]);
  });

  it('by all others if the rest is suspended', () => {
    const lines: Line[] = [...denied('a1 a2'), ['websocket', 'b1', 'suspended']];
    expect(suspectsOf(lines, ['a1', 'a2', 'b1'])).toEqual(['consoles']);
  });
});

describe('a trouble', () => {
  const lines = failing('resources', 'a1 a2 a3', 'node_unreachable');
  const subject = pollsOf('a');
  const suspected = blame(cellsOf(lines, A), PROVEN, NOW);

  it('is tried at once, before anything is held', () => {
    expect(suspected.troubles.get(subject)).toMatchObject({ blamedAt: undefined, trialAt: NOW, trials: 0 });
  });

  it('is blamed when the first trial fails, and tried 15, 30 and then 60 s after the start of the last', () => {
    let state = suspected;
    const gaps: number[] = [];
    for (let at = NOW, trial = 0; trial < 5; trial += 1) {
      state = withTrial(state, subject, 'a4', at);
      state = afterTrial(state, subject, { cause: 'node_unreachable', detail: '' }, at + 10_000);
      const { trialAt = 0, blamedAt } = state.troubles.get(subject) ?? {};
      expect(blamedAt).toBe(NOW + 10_000);
      gaps.push(trialAt - at);
      at = trialAt;
    }
    expect(gaps).toEqual([15_000, 30_000, 60_000, 60_000, 60_000]);
  });

  it('of a node’s sockets is tried every 25 s, every second time with new credentials', () => {
    const sockets = socketsOf('a');
    let state = blamed(PROVEN, sockets);
    const seen: [number, boolean][] = [];
    for (let trial = 0; trial < 4; trial += 1) {
      const at = state.troubles.get(sockets)?.trialAt ?? 0;
      state = withTrial(state, sockets, 'a1', at);
      const isFresh = state.troubles.get(sockets)?.trial?.isFresh ?? false;
      state = afterTrial(state, sockets, { cause: 'node_connection', detail: '' }, at + 1);
      seen.push([(state.troubles.get(sockets)?.trialAt ?? 0) - at, isFresh]);
    }
    expect(seen).toEqual([
      [25_000, true],
      [25_000, false],
      [25_000, true],
      [25_000, false],
    ]);
  });

  it('of the consoles is tried every five minutes', () => {
    const tried = withTrial(blamed(PROVEN, 'consoles'), 'consoles', 'a1', NOW);
    const state = afterTrial(tried, 'consoles', { cause: 'no_console_permission', detail: '' }, NOW + 1);
    expect(state.troubles.get('consoles')?.trialAt).toBe(NOW + 300_000);
  });

  it('isn’t blamed by a trial that showed nothing', () => {
    const state = afterTrial(withTrial(suspected, subject, 'a4', NOW), subject, undefined, NOW + 1);
    expect(state.troubles.get(subject)).toMatchObject({ blamedAt: undefined, trial: undefined });
  });

  it('ends with any success', () => {
    const after = blame(
      cellsOf([...lines, ['resources', 'a4', 'works', 0]], A),
      blamed(suspected, subject),
      NOW,
    );
    expect(after.troubles.size).toBe(0);
  });

  it('ends when nobody is asked there any more', () => {
    expect(blame(cellsOf(lines, B), blamed(suspected, subject), NOW).troubles.size).toBe(0);
  });

  it('of the panel explains the failures before its end', () => {
    const cut = failing('resources', 'a1 a2 b1', 'timeout', 10);
    const all = cellsOf([...cut, LIST_WORKS], [...A, ...B]);
    expect(blame(all, PROVEN, NOW).troubles.has(pathOf('resources'))).toBe(true);
    const down = blamed(afterProof(NO_TROUBLES, NOW - 5_000), 'panel');
    const back = blame(cellsOf([], [...A, ...B]), down, NOW - 5_000);
    expect(back.troubles.size).toBe(0);
    expect(blame(all, afterProof(back, NOW), NOW).troubles.size).toBe(0);
  });
});

describe('the panel', () => {
  const cut: readonly Line[] = [['resources', 'a1', 'connection_cut', 10]];
  const suspected = blame(cellsOf(cut, A), NO_TROUBLES, NOW);
  /** The state after a trial of the panel at this instant, which fails. */
  const tried = (state: BlameState, at: number, cause: CauseCode = 'connection_cut') =>
    afterTrial(withTrial(state, 'panel', NO_SERVER, at), 'panel', { cause, detail: '' }, at + 9_000);

  it('is suspected by any failure that may be its own, unless a call has worked since its start', () => {
    expect([...suspected.troubles.keys()]).toEqual(['panel']);
    const startedAt = NOW - 10_100;
    for (const [provenAt, isSuspected] of [
      [startedAt - 1, true],
      [startedAt, false],
    ] as const) {
      const { troubles } = blame(cellsOf(cut, A), afterProof(NO_TROUBLES, provenAt), NOW);
      expect(troubles.has('panel')).toBe(isSuspected);
    }
  });

  it('is not suspected because of a server or a node', () => {
    const lines: Line[] = [
      ['resources', 'a1', 'suspended'],
      ['resources', 'a2', 'node_unreachable'],
      ['resources', 'a3', 'rate_limited'],
    ];
    expect(blame(cellsOf(lines, A), NO_TROUBLES, NOW).troubles.has('panel')).toBe(false);
  });

  it('is blamed after two failed rounds, and tried 15, 15, 30 and then 60 s after the start of the last', () => {
    let state = suspected;
    const seen: (readonly [number, boolean])[] = [];
    for (let at = NOW, round = 0; round < 5; round += 1) {
      state = tried(state, at);
      const { trialAt = 0, blamedAt } = state.troubles.get('panel') ?? {};
      seen.push([trialAt - at, blamedAt !== undefined]);
      at = trialAt;
    }
    expect(seen).toEqual([
      [15_000, false],
      [15_000, true],
      [30_000, true],
      [60_000, true],
      [60_000, true],
    ]);
  });

  it('is blamed at once if it refuses the key', () => {
    const { blamedAt } = tried(suspected, NOW, 'key_refused').troubles.get('panel') ?? {};
    expect(blamedAt).toBe(NOW + 9_000);
  });

  it('has no problem until it is blamed', () => {
    expect(problemOfSubject('panel', suspected)).toBeUndefined();
    const down = tried(tried(suspected, NOW), NOW + 15_000, 'not_found');
    expect(problemOfSubject('panel', down)).toEqual({ cause: 'not_a_panel', detail: '' });
  });

  it('works again after any success, and isn’t tried again within 15 s of its last round', () => {
    const down = tried(tried(suspected, NOW), NOW + 15_000);
    const proven = afterProof(withTrial(down, 'panel', NO_SERVER, NOW + 30_000), NOW + 31_000);
    const back = blame(cellsOf([], A), proven, NOW + 31_000);
    expect(back.troubles.size).toBe(0);
    const later = cellsOf([['resources', 'a1', 'connection_cut', -35]], A);
    const again = blame(later, back, NOW + 35_000);
    expect(again.troubles.get('panel')).toMatchObject({ blamedAt: undefined, trialAt: NOW + 45_000 });
  });

  it('stays down while another key or way is tried, which is at once', () => {
    const down = tried(tried(suspected, NOW), NOW + 15_000);
    const { problem, blamedAt, trialAt } = withCheck(down, NOW + 25_000).troubles.get('panel') ?? {};
    expect({ problem, blamedAt, trialAt }).toEqual({
      problem: { cause: 'connection_cut', detail: '' },
      blamedAt: NOW + 24_000,
      trialAt: NOW + 25_000,
    });
  });
});

describe('a trial', () => {
  it.each<[string, readonly Line[], Subject, string | undefined]>([
    [
      'is that of a server that never failed there',
      failing('resources', 'a1 a2 a4', 'node_silent'),
      pollsOf('a'),
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
      pathOf('websocket'),
      'b1',
    ],
    [
      'otherwise of the one that failed least recently',
      failing('resources', 'a2 a3 a1 a4', 'node_silent', 9),
      pollsOf('a'),
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
      pollsOf('a'),
      'a2',
    ],
    ['is none if all are', failing('resources', A.join(' '), 'suspended'), pollsOf('a'), undefined],
  ])('%s', (_what, lines, subject, server) => {
    expect(trialServer(subject, cellsOf(lines, [...A, ...B]), () => 0.99)).toBe(server);
  });

  it('is that of a server that may try, while the failures of the others still tell which nodes fail', () => {
    const lines: readonly Line[] = [
      ['websocket', 'a2', 'panel_error'],
      ['sockets', 'a1', 'streams'],
      ['sockets', 'b1', 'streams'],
    ];
    const cells = cellsOf(lines, [...A, ...B]);
    const tries = (mayNot: string) =>
      trialServer(
        pathOf('websocket'),
        cells,
        () => 0.99,
        (id) => id !== mayNot,
      );
    expect(tries('a2')).toBe('b1');
    expect(tries('b1')).not.toBe('b1');
  });

  it('is at random among equals', () => {
    const cells = cellsOf([], A);
    const chosen = Array.from({ length: 100 }, () => trialServer(pollsOf('a'), cells, Math.random));
    expect(new Set(chosen)).toEqual(new Set(A));
  });
});

/** The state in which the subject is blamed since a minute ago. */
function blamed(state: BlameState, subject: Subject): BlameState {
  const trouble = {
    problem: { cause: 'node_connection', detail: '' } as const,
    suspectedAt: NOW - MINUTE_MS,
    blamedAt: NOW - MINUTE_MS,
    trialAt: NOW,
    trials: 1,
    trial: undefined,
  };
  return { ...state, troubles: new Map(state.troubles).set(subject, trouble) };
}

const anyLine: fc.Arbitrary<Line> = fc.oneof(
  fc.tuple(
    fc.constantFrom<Channel>('websocket', 'resources', 'backups'),
    fc.constantFrom(...A, ...B, 'c1'),
    fc.constantFrom<CauseCode | 'works'>(
      'works',
      'node_silent',
      'panel_error',
      'connection_cut',
      'node_unreachable',
      'suspended',
      'not_found',
      'no_console_permission',
      'rate_limited',
    ),
    fc.integer({ min: 0, max: 300 }),
  ),
  fc.tuple(
    fc.constant<Channel>('sockets'),
    fc.constantFrom(...A, ...B, 'c1'),
    fc.constantFrom<CauseCode | 'streams'>('streams', 'node_connection', 'no_stats', 'closed'),
    fc.integer({ min: 0, max: 300 }),
  ),
  fc.tuple(
    fc.constant<Channel>('listing'),
    fc.constant(NO_SERVER),
    fc.constantFrom<CauseCode | 'works'>('works', 'connection_cut'),
    fc.integer({ min: 0, max: 300 }),
  ),
);

const anyLines = fc.uniqueArray(anyLine, {
  maxLength: 30,
  selector: ([channel, server]) => `${channel} ${server}`,
});
const EVERYBODY = [...A, ...B, 'c1'];

/** Does this outcome contradict a trouble of the subject? */
function contradicts(subject: Subject, [channel, server, what]: Line): boolean {
  if (what !== 'works' && what !== 'streams') return false;
  const node = nodeOf(subject);
  if (node !== undefined && nodeOfServer(server) !== node) return false;
  return channelOf(subject) === channel || (subject === 'consoles' && channel === 'sockets');
}

describe('blame', () => {
  it('never contradicts a success of the last two minutes', () => {
    fc.assert(
      fc.property(anyLines, (lines) => {
        const recent = lines.filter(([, , what, agoS = 0]) => what === 'streams' || agoS < 120);
        for (const suspect of suspectsOf(lines, EVERYBODY))
          expect(recent.filter((line) => contradicts(suspect, line))).toEqual([]);
      }),
    );
  });

  it('doesn’t depend on the order of the outcomes', () => {
    fc.assert(
      fc.property(anyLines, fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (lines, keys) => {
        const shuffled = lines
          .map((line) => [keys.next().value ?? 0, line] as const)
          .toSorted(([one], [other]) => one - other)
          .map(([, line]) => line);
        expect(suspectsOf(shuffled, EVERYBODY)).toEqual(suspectsOf(lines, EVERYBODY));
      }),
    );
  });

  it('of a server that works is never caused by another success', () => {
    fc.assert(
      fc.property(anyLines, fc.constantFrom(...EVERYBODY), (lines, server) => {
        const others = lines.filter(([channel, name]) => channel !== 'resources' || name !== server);
        const after = suspectsOf([...others, ['resources', server, 'works', 0]], EVERYBODY);
        expect(after).not.toContain(pathOf('resources'));
        expect(after).not.toContain(pollsOf(server[0] ?? ''));
      }),
    );
  });

  it('doesn’t change for others because of a server that always fails, on a node of its own', () => {
    fc.assert(
      fc.property(anyLines, (lines) => {
        const healthy = lines.filter(([, , what]) => what === 'works' || what === 'streams');
        const failing: Line[] = [
          ['resources', 'z1', 'node_silent', 1],
          ['sockets', 'z1', 'node_connection', 1],
          ['websocket', 'z1', 'panel_error', 1],
        ];
        const suspects = suspectsOf([...healthy, ...failing], [...EVERYBODY, 'z1']);
        expect(suspects.filter((suspect) => nodeOf(suspect) !== 'z')).toEqual([]);
      }),
    );
  });

  it('is of something that somebody tries, unless everybody there is blocked', () => {
    fc.assert(
      fc.property(anyLines, (lines) => {
        const cells = cellsOf(lines, EVERYBODY);
        const state = blame(cells, PROVEN, NOW);
        for (const [subject, trouble] of state.troubles) {
          expect(trouble.trialAt).toBe(NOW);
          expect(trialServer(subject, cells, () => 0.5)).toBeDefined();
          expect(trouble.problem?.detail).not.toBe('');
        }
      }),
    );
  });
});
