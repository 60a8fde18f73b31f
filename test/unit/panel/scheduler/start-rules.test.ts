import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Call, Started } from '../../../../src/panel/scheduler/call.ts';
import { SlidingWindow } from '../../../../src/panel/scheduler/sliding-window.ts';
import {
  isTrial,
  type Start,
  startAt,
  type Traffic,
  trialRoom,
} from '../../../../src/panel/scheduler/start-rules.ts';
import { NO_SERVER, type Path, type Subject } from '../../../../src/panel/subjects.ts';

const NOW = 1_000_000;
const SECOND_MS = 1_000;
const NEVER = Number.POSITIVE_INFINITY;
const AGES_AGO = Number.NEGATIVE_INFINITY;

const call = (one: Partial<Call> = {}): Call => ({
  path: 'resources',
  server: 'a1',
  node: () => 'a',
  deadline: NOW,
  tries: () => undefined,
  ...one,
});

const token = (one: Partial<Call> = {}) => call({ path: 'websocket', ...one });
const trial = (tries: Subject, one: Partial<Call> = {}) => call({ tries: () => tries, ...one });

const since = (agoS: number, one: Partial<Call> = {}): Started => ({
  call: call(one),
  startedAt: NOW - agoS * SECOND_MS,
});

/**
 * A window with this many calls. They started the given number of seconds ago, within the last
 * minute.
 */
function started(count: number, agoS: number): SlidingWindow {
  const window = new SlidingWindow();
  for (let at = 0; at < count; at += 1) window.add(NOW - agoS * SECOND_MS);
  return window;
}

const times = <One>(count: number, one: One): readonly One[] => Array.from({ length: count }, () => one);

/** The scope that a 429 paused: `all`, a path, or the tokens of a server. */
interface Paused {
  readonly scope: Path | `tokens of ${string}`;
  readonly until: number;
}

function limitWith(perMinute = 48, pauses: readonly Paused[] = []): Traffic['limit'] {
  const of = (path: Path, server: string) =>
    pauses.filter(({ scope }) => scope === path || (path === 'websocket' && scope === `tokens of ${server}`));
  return {
    limitPerMinute: perMinute,
    pausedUntil: (path, server) => Math.max(AGES_AGO, ...of(path, server).map(({ until }) => until)),
    isPaused: (path, server) => of(path, server).length > 0,
  };
}

/**
 * The traffic of a panel that works. Its nodes a and b have responded, and their servers stream.
 */
const QUIET: Traffic = {
  limit: limitWith(),
  holds: () => undefined,
  isBlamed: () => false,
  running: [],
  respondedAt: new Map([
    ['a', NOW - 100_000],
    ['b', NOW - 100_000],
  ]),
  tokensAt: () => [],
  trials: new SlidingWindow(),
  lists: new SlidingWindow(),
  others: new SlidingWindow(),
  connecting: () => [],
  hasStreamed: (node) => node === 'a' || node === 'b',
  isShort: false,
};

const traffic = (parts: Partial<Traffic>): Traffic => ({ ...QUIET, ...parts });
const paused = (scope: Paused['scope']) => traffic({ limit: limitWith(48, [{ scope, until: NOW + 5_000 }]) });
const held = (subject: Subject, until = NEVER) => traffic({ holds: () => ({ subject, until }) });
const busy = (running: readonly Started[]) => traffic({ running });
/** Traffic with this many trials, which started half a minute ago. */
const tried = (trials: number, parts: Partial<Traffic> = {}) =>
  traffic({ trials: started(trials, 30), ...parts });
const connecting = (...agoS: readonly number[]) =>
  traffic({ connecting: () => agoS.map((ago) => NOW - ago * SECOND_MS) });
const short = (others: number) => traffic({ isShort: true, others: started(others, 50) });
const tokens = (...agoS: readonly number[]) =>
  traffic({ tokensAt: () => agoS.map((ago) => NOW - ago * SECOND_MS) });

const atX = { node: () => 'x' };

describe('a call starts', () => {
  it.each<[what: string, one: Call, when: Traffic, inS?: number, why?: Start['why'], gate?: Start['gate']]>([
    ['at once if nothing holds it', call(), QUIET],
    ['after a pause of its path', call(), paused('resources'), 5, 'pause', 'gate pause resources'],
    ['at once during a pause of another path', call(), paused('backups')],
    ['at once during a pause of another server’s tokens', token(), paused('tokens of b1')],
    ['after a pause of its own tokens', token(), paused('tokens of a1'), 5, 'pause', 'server'],
    [
      'after the longer of two pauses',
      token(),
      traffic({
        limit: limitWith(48, [
          { scope: 'websocket', until: NOW + 1_000 },
          { scope: 'tokens of a1', until: NOW + 5_000 },
        ]),
      }),
      1,
      'pause',
      'gate pause websocket',
    ],
    [
      'a minute after the older of two credential calls for its server',
      token(),
      tokens(20, 1),
      40,
      'token',
      'server',
    ],
    ['at once after one credential call', token(), tokens(1)],
    ['at once whatever tokens its server got, if it gets none', call(), tokens(20, 1)],
    ['never while the panel is down', call(), held('panel'), NEVER, 'outage', 'gate panel'],
    [
      'after three seconds while the first canary is under way',
      call(),
      held('panel', NOW + 3_000),
      3,
      'outage',
      'gate panel',
    ],
    [
      'never while its path has an outage',
      call(),
      held('path resources'),
      NEVER,
      'outage',
      'gate path resources',
    ],
    ['never while its node’s polls are', call(), held('polls a'), NEVER, 'outage', 'node'],
    [
      'never for a token while consoles are refused',
      token(),
      held('consoles'),
      NEVER,
      'outage',
      'gate consoles',
    ],
    ['never for a token while its node’s sockets fail', token(), held('sockets a'), NEVER, 'outage', 'node'],
    [
      'when one of the node’s four polls has taken three seconds',
      call(),
      busy(times(4, since(1))),
      2,
      'seat',
      'node',
    ],
    ['at once while three polls of its node are in flight', call(), busy(times(3, since(1)))],
    ['beside four polls as a canary', trial('panel'), busy(times(4, since(1)))],
    ['beside four polls if it is no poll', token(), busy(times(4, since(1)))],
    [
      'when one of four polls ends that its node has not responded to yet',
      call(atX),
      busy(times(4, since(9, atX))),
      NEVER,
      'seat',
      'node',
    ],
    [
      'beside a poll that takes long if its node has responded since',
      call(),
      traffic({ running: [since(9)], respondedAt: new Map([['a', NOW - 1_000]]) }),
    ],
    ['at once while another node has four polls', call({ node: () => 'b' }), busy(times(4, since(1)))],
    [
      'when one of three polls of nodes that don’t respond has taken three seconds',
      call(atX),
      busy([since(2, { node: () => 'y' }), ...times(2, since(1, { node: () => 'z' }))]),
      1,
      'seat',
      'gate doubt',
    ],
    ['beside those if its node responds', call(), busy(times(3, since(1, atX)))],
    [
      'with those if a poll of its node takes long',
      call(),
      busy([since(5), ...times(3, since(1, atX))]),
      2,
      'seat',
      'gate doubt',
    ],
    [
      'with those while its node isn’t known',
      call({ node: () => undefined }),
      busy(times(3, since(1, atX))),
      2,
      'seat',
      'gate doubt',
    ],
    [
      'for backups when lists have room in their quarter',
      call({ path: 'backups' }),
      traffic({ lists: started(12, 41) }),
      19,
      'list',
      'gate lists',
    ],
    [
      'for backups at once while lists have room',
      call({ path: 'backups' }),
      traffic({ lists: started(11, 41) }),
    ],
    ['at once whatever lists take, if it is for a sample', call(), traffic({ lists: started(12, 41) })],
    [
      'when trials have room in their tenth',
      call({ isRetry: () => true }),
      tried(4),
      30,
      'trials',
      'gate trials',
    ],
    ['at once as a retry while trials have room', call({ isRetry: () => true }), tried(3)],
    ['at once as no retry, whatever trials take', call(), tried(4)],
    [
      'after the pause of a 429, which wasn’t a failure, whatever trials take',
      token({ isRetry: () => true }),
      tried(4, { limit: limitWith(48, [{ scope: 'tokens of a1', until: NOW - 1_000 }]) }),
    ],
    ['at once as the check of a suspicion', trial('polls a'), tried(4)],
    [
      'when trials have room, as the trial of what is blamed',
      trial('polls a'),
      tried(4, { isBlamed: (subject) => subject === 'polls a' }),
      30,
      'trials',
      'gate trials',
    ],
    [
      'at once as a canary, whatever trials take',
      trial('panel', { isRetry: () => true }),
      tried(4, { isBlamed: () => true }),
    ],
    [
      'when one of six connects of a node that never streamed has taken three seconds',
      token(atX),
      connecting(2.5, 2, 1, 1, 1, 1),
      0.5,
      'first connects',
      'node',
    ],
    ['at once while five connect', token(atX), connecting(2, 1, 1, 1, 1)],
    [
      'at once while six connect, of which one has taken three seconds',
      token(atX),
      connecting(3, 2, 1, 1, 1, 1),
    ],
    ['at once while six connect to a node that streamed', token(), connecting(2, 2, 1, 1, 1, 1)],
    [
      'at once while six connect, if its node isn’t known',
      token({ node: () => undefined }),
      connecting(2, 2, 1, 1, 1, 1),
    ],
    [
      'at once while six connect, as a renewal',
      token({ ...atX, isRenewal: true }),
      connecting(2, 2, 1, 1, 1, 1),
    ],
    [
      'at once while six connect, as the trial of the node',
      trial('sockets x', { ...atX, path: 'websocket' }),
      connecting(2, 2, 1, 1, 1, 1),
    ],
    [
      'at once while six connect, if it gets no token',
      call({ node: () => 'b' }),
      connecting(2, 2, 1, 1, 1, 1),
    ],
    [
      'when a call of its half fits in again, if more waits than a minute carries',
      call(),
      short(24),
      10,
      'shortage',
      'gate shortage',
    ],
    ['at once while more waits than a minute carries, if its half has room', call(), short(23)],
    ['at once as a connect, whatever others took', token(), short(48)],
    ['at once as a renewal, whatever others took', token({ isRenewal: true }), short(48)],
    ['at once as a trial, whatever others took', trial('polls a'), short(48)],
    ['at once if no more waits than a minute carries', call(), traffic({ others: started(48, 50) })],
    [
      'when the rule that holds it longest lets it',
      token({ ...atX, isRetry: () => true }),
      tried(4, { connecting: () => times(6, NOW), tokensAt: () => [NOW - 20_000, NOW] }),
      40,
      'token',
      'server',
    ],
  ])('%s', (_what, one, when, inS = 0, why, gate = 'node') => {
    expect(startAt(one, when, NOW)).toEqual({ at: NOW + inS * SECOND_MS, why, gate });
  });
});

/** The subjects that a call needs, any of which may have an outage. */
const needs = (one: Call): readonly Subject[] => {
  const node = one.node();
  return [
    'panel',
    `path ${one.path}`,
    ...(node === undefined ? [] : ([`polls ${node}`, `sockets ${node}`] as const)),
  ];
};

const anyCall: fc.Arbitrary<Call> = fc
  .record({
    path: fc.constantFrom<Path>('websocket', 'resources', 'listing', 'backups'),
    server: fc.constantFrom('a1', 'b1', NO_SERVER),
    node: fc.constantFrom('a', 'b', 'x', undefined),
    tries: fc.constantFrom<Subject | undefined>('panel', 'polls a', 'consoles', undefined, undefined),
    isRetry: fc.boolean(),
    isRenewal: fc.boolean(),
  })
  .map(({ node, tries, isRetry, ...rest }) =>
    call({ ...rest, node: () => node, tries: () => tries, isRetry: () => isRetry }),
  );

const anyAgo = fc.integer({ min: 0, max: 59_999 });
const anyWindow = fc.array(anyAgo, { maxLength: 30 }).map((agos) => {
  const window = new SlidingWindow();
  for (const ago of agos.toSorted((one, other) => other - one)) window.add(NOW - ago);
  return window;
});
const anyTraffic: fc.Arbitrary<Traffic> = fc
  .record({
    perMinute: fc.integer({ min: 1, max: 60 }),
    pausedFor: fc.integer({ min: -9_000, max: 9_000 }),
    pausedScope: fc.constantFrom<Paused['scope']>('resources', 'websocket', 'tokens of a1'),
    running: fc.array(fc.record({ call: anyCall, startedAt: anyAgo.map((ago) => NOW - ago) }), {
      maxLength: 8,
    }),
    tokensAgo: fc.array(anyAgo, { maxLength: 2 }),
    connectingAgo: fc.array(fc.integer({ min: 0, max: 4_000 }), { maxLength: 8 }),
    trials: anyWindow,
    lists: anyWindow,
    others: anyWindow,
    isShort: fc.boolean(),
    held: fc.subarray<Subject>(['panel', 'path websocket', 'polls a', 'sockets b']),
  })
  .map(({ perMinute, pausedFor, pausedScope, tokensAgo, connectingAgo, held: subjects, ...rest }) => {
    const ascending = (agos: readonly number[]) => agos.map((ago) => NOW - ago).toSorted((a, b) => a - b);
    return traffic({
      ...rest,
      limit: limitWith(perMinute, [{ scope: pausedScope, until: NOW + pausedFor }]),
      tokensAt: () => ascending(tokensAgo),
      connecting: () => ascending(connectingAgo),
      holds: (one) => {
        const subject = subjects.find((blamed) => needs(one).includes(blamed));
        return subject && { subject, until: NEVER };
      },
      isBlamed: (subject) => subjects.includes(subject),
    });
  });

describe('the start of any call', () => {
  it('is never before what holds it, or a pause, is over, nor before now', () => {
    fc.assert(
      fc.property(anyCall, anyTraffic, (one, when) => {
        const { at } = startAt(one, when, NOW);
        expect(at).toBeGreaterThanOrEqual(NOW);
        expect(at).toBeGreaterThanOrEqual(when.holds(one)?.until ?? NOW);
        if (one.path === 'resources')
          expect(at).toBeGreaterThanOrEqual(when.limit.pausedUntil(one.path, one.server));
      }),
    );
  });

  it('is the latest of what each rule alone would say', () => {
    fc.assert(
      fc.property(anyCall, anyTraffic, (one, when) => {
        const { limit, running, tokensAt, connecting: connects, trials, lists, others, isShort } = when;
        const { at } = startAt(one, when, NOW);
        const { limitPerMinute } = limit;
        const unpaused = limitWith(limitPerMinute);
        const alone: readonly Traffic[] = [
          traffic({ limit }),
          traffic({ holds: when.holds }),
          traffic({ running }),
          traffic({ tokensAt }),
          traffic({ connecting: connects }),
          traffic({ limit: unpaused, lists }),
          traffic({ limit: unpaused, others, isShort }),
          // Calls that a 429 paused aren't trials.
          traffic({ limit, trials, isBlamed: when.isBlamed }),
        ];
        expect(at).toBe(Math.max(...alone.map((part) => startAt(one, part, NOW).at)));
      }),
      { numRuns: 1_000 },
    );
  });

  it('is not later because of calls that are not its own kind of outage', () => {
    fc.assert(
      fc.property(anyTraffic, (when) => {
        const one = call({ node: () => 'b' });
        const blamedOnes: readonly Subject[] = ['polls a', 'sockets a', 'path backups'];
        const holds: Traffic['holds'] = (other) => {
          const subject = blamedOnes.find((blamed) => needs(other).includes(blamed));
          return subject && { subject, until: NEVER };
        };
        const without = { ...when, holds: () => undefined, isBlamed: () => false };
        expect(
          startAt(one, { ...when, holds, isBlamed: (subject) => blamedOnes.includes(subject) }, NOW),
        ).toEqual(startAt(one, without, NOW));
      }),
    );
  });

  it('comes, if only time holds it', () => {
    fc.assert(
      fc.property(anyCall, anyTraffic, (one, when) => {
        const { at } = startAt(one, when, NOW);
        fc.pre(Number.isFinite(at) && when.limit.pausedUntil(one.path, one.server) <= at);
        expect(startAt(one, { ...when, running: [] }, at).at).toBe(at);
      }),
    );
  });
});

describe('trials', () => {
  it('have a tenth of the rate, and at least one place', () => {
    expect([0, 3, 4, 5].map((trials) => trialRoom(tried(trials), NOW))).toEqual([4, 1, 0, 0]);
    expect([0, 1].map((trials) => trialRoom(tried(trials, { limit: limitWith(5) }), NOW))).toEqual([1, 0]);
  });

  it.each<[string, Call, Partial<Traffic>, boolean]>([
    ['a retry is one', call({ isRetry: () => true }), {}, true],
    ['a first attempt is none', call(), {}, false],
    ['a call that tries what is blamed is one', trial('consoles'), { isBlamed: () => true }, true],
    ['a check of what is only suspected is none', trial('consoles'), {}, false],
    ['a canary is none', trial('panel', { isRetry: () => true }), { isBlamed: () => true }, false],
    [
      'what a 429 paused is none',
      call({ isRetry: () => true }),
      { limit: limitWith(48, [{ scope: 'resources', until: NOW }]) },
      false,
    ],
  ])('%s', (_what, one, parts, is) => {
    expect(isTrial(one, traffic(parts))).toBe(is);
  });
});
