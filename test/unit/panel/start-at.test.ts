import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_SERVER, pathOf, pollsOf, type Subject, socketsOf } from '../../../src/panel/blame.ts';
import type { Pause, PauseScope } from '../../../src/panel/rate-limit.ts';
import { anyStartAt, type Call, type Started, startAt, type Traffic } from '../../../src/panel/start-at.ts';

const NOW = 1_000_000;
const SECOND_MS = 1_000;

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

const trouble = (blamedAt: number | undefined) => ({
  problem: { cause: 'node_connection', detail: '' } as const,
  suspectedAt: NOW - 1,
  blamedAt,
  trialAt: NOW,
  trials: 1,
  trial: undefined,
});

/** The first round of canaries, which began at this instant. */
const firstRound = (at: number) => ({
  ...trouble(undefined),
  trial: { server: NO_SERVER, since: at, isFresh: false },
});

const troubles = (...subjects: readonly Subject[]): Traffic['troubles'] =>
  new Map(subjects.map((subject) => [subject, trouble(NOW)]));

const since = (agoS: number, one: Partial<Call> = {}): Started => ({
  call: call(one),
  startedAt: NOW - agoS * SECOND_MS,
  endedAt: undefined,
  isTrial: false,
});

/** A call that ended. */
const ended = (agoS: number, one: Partial<Call> = {}): Started => ({
  ...since(agoS + 1, one),
  endedAt: NOW - agoS * SECOND_MS,
});

/** A trial that started half a minute ago. */
const TRIED: Started = { ...ended(20), startedAt: NOW - 30_000, isTrial: true };

const times = <One>(count: number, one: One): readonly One[] => Array.from({ length: count }, () => one);

const QUIET: Traffic = {
  isKnown: true,
  troubles: new Map(),
  allowance: { starts: [], perMinute: 48, spareAt: Number.NEGATIVE_INFINITY, pauses: new Map() },
  calls: [],
  running: [],
  respondedAt: new Map([
    ['a', NOW - 100_000],
    ['b', NOW - 100_000],
  ]),
};

const traffic = ({
  allowance,
  calls = [],
  ...rest
}: Partial<Omit<Traffic, 'allowance'>> & {
  allowance?: Partial<Traffic['allowance']>;
}): Traffic => ({
  ...QUIET,
  calls,
  running: calls.filter(({ endedAt }) => endedAt === undefined),
  ...rest,
  allowance: { ...QUIET.allowance, ...allowance },
});

const NEVER = Number.POSITIVE_INFINITY;
const pause = (until: number, scope: PauseScope = 'account'): [PauseScope, Pause] => [
  scope,
  { scope, until, lengthMs: 60_000, isRepeated: false },
];

const paused = (scope: PauseScope) =>
  traffic({ allowance: { pauses: new Map([pause(NOW + 5_000, scope)]) } });
const troubled = (...subjects: readonly Subject[]) => traffic({ troubles: troubles(...subjects) });
const busy = (calls: readonly Started[]) => traffic({ calls });

describe('a call starts', () => {
  it.each<[what: string, one: Call, when: Traffic, inS?: number, why?: string]>([
    ['at once if nothing holds it', call(), QUIET],
    [
      'a minute after the call that takes the last place of the window',
      call(),
      traffic({ allowance: { starts: times(48, NOW - 50_000) } }),
      10,
      'window',
    ],
    [
      'at once if one place of the window is free',
      call(),
      traffic({ allowance: { starts: times(47, NOW - 50_000) } }),
    ],
    ['after a pause of the account', call(), paused('account'), 5, 'pause'],
    ['after a pause of its path', call(), paused('resources'), 5, 'pause'],
    ['at once during a pause of another path', call(), paused('backups')],
    ['at once during a pause of another server’s tokens', token(), paused('tokens of b1')],
    ['after a pause of its own tokens', token(), paused('tokens of a1'), 5, 'pause'],
    [
      'when the account may have calls to spare again',
      call(),
      traffic({ allowance: { spareAt: NOW + 7_000 } }),
      7,
      'spare',
    ],
    [
      'a minute after the older of two credential calls for its server',
      token(),
      busy([ended(20, { path: 'websocket' }), ended(1, { path: 'websocket' })]),
      40,
      'token',
    ],
    ['at once after one credential call', token(), busy([ended(1, { path: 'websocket' })])],
    ['never while the panel is down', call(), troubled('panel'), NEVER, 'trouble'],
    ['at once as a canary of a panel that is down', trial('panel'), troubled('panel')],
    [
      'after three seconds while the first canary is under way',
      call(),
      traffic({ isKnown: false, troubles: new Map([['panel', firstRound(NOW)]]) }),
      3,
      'trouble',
    ],
    ['never while its path is in trouble', call(), troubled(pathOf('resources')), NEVER, 'trouble'],
    ['at once while another path is', call(), troubled(pathOf('websocket'))],
    ['never while its node’s polls are', call(), troubled(pollsOf('a')), NEVER, 'trouble'],
    ['at once while another node’s are', call(), troubled(pollsOf('b'))],
    [
      'at once while its node is only suspected',
      call(),
      traffic({ troubles: new Map([[pollsOf('a'), trouble(undefined)]]) }),
    ],
    ['as the trial of its node', trial(pollsOf('a')), troubled(pollsOf('a'))],
    [
      'never as the trial of a node whose path is in trouble',
      trial(pollsOf('a')),
      troubled(pollsOf('a'), pathOf('resources')),
      NEVER,
      'trouble',
    ],
    [
      'as the trial of a path whatever is smaller',
      trial(pathOf('websocket'), { path: 'websocket' }),
      troubled(pathOf('websocket'), 'consoles', socketsOf('a')),
    ],
    ['never for a token while consoles are refused', token(), troubled('consoles'), NEVER, 'trouble'],
    ['never for a token while its node’s sockets fail', token(), troubled(socketsOf('a')), NEVER, 'trouble'],
    [
      'for the next token of an open socket while new ones fail',
      token({ isRefresh: true }),
      troubled(socketsOf('a')),
    ],
    [
      'when one of eight calls ends',
      token(),
      busy(times(8, since(1, { path: 'websocket', server: 'b1' }))),
      NEVER,
      'place',
    ],
    [
      'beside eight calls as a canary',
      trial('panel'),
      busy(times(8, since(1, { path: 'websocket', server: 'b1' }))),
    ],
    [
      'when a poll has taken three seconds',
      token(),
      busy([...times(7, since(1, { path: 'websocket', server: 'b1' })), since(1)]),
      2,
      'place',
    ],
    [
      'when one of the node’s four polls has taken three seconds',
      call(),
      busy(times(4, since(1))),
      2,
      'seat',
    ],
    [
      'when one of four polls ends that its node has not responded to yet',
      call({ node: () => 'x' }),
      busy(times(4, since(9, { node: () => 'x' }))),
      NEVER,
      'seat',
    ],
    [
      'beside a poll that takes long if its node has responded since',
      call(),
      traffic({ calls: [since(9)], respondedAt: new Map([['a', NOW - 1_000]]) }),
    ],
    ['at once while another node has four polls', call({ node: () => 'b' }), busy(times(4, since(1)))],
    [
      'when one of three polls of nodes that don’t respond has taken three seconds',
      call({ node: () => 'x' }),
      busy([since(2, { node: () => 'y' }), ...times(2, since(1, { node: () => 'z' }))]),
      1,
      'seat',
    ],
    ['beside those if its node responds', call(), busy(times(3, since(1, { node: () => 'x' })))],
    [
      'with those if a poll of its node takes long',
      call(),
      busy([since(5), ...times(3, since(1, { node: () => 'x' }))]),
      2,
      'seat',
    ],
    [
      'for backups when lists have room in their quarter',
      call({ path: 'backups' }),
      busy(times(12, ended(40, { path: 'schedules' }))),
      19,
      'list',
    ],
    [
      'at once whatever lists take, if it is for a sample',
      call(),
      busy(times(12, ended(40, { path: 'schedules' }))),
    ],
    [
      'when trials have room in their tenth',
      call({ isRetry: () => true }),
      busy(times(4, TRIED)),
      30,
      'trials',
    ],
    [
      'at once as a retry, whatever calls that are no trials take',
      call({ isRetry: () => true }),
      busy(times(4, ended(20))),
    ],
    [
      'after the pause of a 429, which wasn’t a failure, whatever trials take',
      token({ isRetry: () => true }),
      traffic({
        calls: times(4, TRIED),
        allowance: { pauses: new Map([pause(NOW - 1_000, 'tokens of a1')]) },
      }),
    ],
    [
      'at once as the check of a suspicion',
      trial(pollsOf('a')),
      traffic({
        troubles: new Map([[pollsOf('a'), trouble(undefined)]]),
        calls: times(4, TRIED),
      }),
    ],
  ])('%s', (_what, one, when, inS = 0, why) => {
    expect(startAt(one, when, NOW)).toEqual({ at: NOW + inS * SECOND_MS, why });
  });
});

const anyPath = fc.constantFrom('websocket' as const, 'resources' as const, 'listing' as const);
const anyCall: fc.Arbitrary<Call> = fc
  .record({
    path: anyPath,
    server: fc.constantFrom('a1', 'b1', NO_SERVER),
    node: fc.constantFrom('a', 'b', 'x', undefined),
    tries: fc.constantFrom<Subject | undefined>('panel', pollsOf('a'), 'consoles', undefined),
    isRetry: fc.boolean(),
  })
  .map(({ node, tries, isRetry, ...rest }) =>
    call({ ...rest, node: () => node, tries: () => tries, isRetry: () => isRetry }),
  );

const anyAgo = fc.integer({ min: 0, max: 59_999 }).map((ago) => NOW - ago);
const anyTraffic: fc.Arbitrary<Traffic> = fc
  .record({
    starts: fc.array(anyAgo, { maxLength: 60 }).map((starts) => starts.toSorted((a, b) => a - b)),
    perMinute: fc.integer({ min: 1, max: 60 }),
    spareAt: fc.integer({ min: NOW - 9_000, max: NOW + 9_000 }),
    pausedFor: fc.integer({ min: -9_000, max: 9_000 }),
    calls: fc
      .array(fc.record({ call: anyCall, startedAt: anyAgo, isTrial: fc.boolean() }), { maxLength: 12 })
      .map((calls) =>
        calls
          .map((one) => ({ ...one, endedAt: undefined }))
          .toSorted((one, other) => one.startedAt - other.startedAt),
      ),
    isKnown: fc.boolean(),
    held: fc.subarray<Subject>(['panel', pathOf('websocket'), 'consoles', pollsOf('a'), socketsOf('b')]),
  })
  .map(({ starts, perMinute, spareAt, pausedFor, calls, isKnown, held }) =>
    traffic({
      isKnown,
      calls,
      troubles: troubles(...held),
      allowance: { starts, perMinute, spareAt, pauses: new Map([pause(NOW + pausedFor, 'resources')]) },
    }),
  );

describe('the start of any call', () => {
  it('is never before the window, a pause, or the account’s spare calls allow it, nor before now', () => {
    fc.assert(
      fc.property(anyCall, anyTraffic, (one, when) => {
        const { at } = startAt(one, when, NOW);
        expect(at).toBeGreaterThanOrEqual(NOW);
        expect(at).toBeGreaterThanOrEqual(anyStartAt(when));
        if (one.path === 'resources')
          expect(at).toBeGreaterThanOrEqual(when.allowance.pauses.get('resources')?.until ?? 0);
      }),
    );
  });

  it('is the latest of what each rule alone would say', () => {
    fc.assert(
      fc.property(anyCall, anyTraffic, (one, when) => {
        const { at } = startAt(one, when, NOW);
        const alone: readonly Traffic[] = [
          { ...QUIET, allowance: when.allowance },
          { ...QUIET, isKnown: when.isKnown, troubles: when.troubles },
          {
            ...QUIET,
            calls: when.calls,
            running: when.running,
            // What a 429 paused isn't a trial.
            allowance: {
              ...QUIET.allowance,
              perMinute: when.allowance.perMinute,
              pauses: when.allowance.pauses,
            },
          },
        ];
        for (const part of alone) expect(at).toBeGreaterThanOrEqual(startAt(one, part, NOW).at);
      }),
    );
  });

  it('is not later because of calls that are not its own kind of trouble', () => {
    fc.assert(
      fc.property(anyTraffic, (when) => {
        const one = call({ node: () => 'b' });
        const { troubles: _, ...rest } = when;
        const withTrouble = { ...rest, troubles: troubles(pollsOf('a'), socketsOf('a'), pathOf('backups')) };
        const without = { ...rest, troubles: new Map() };
        expect(startAt(one, withTrouble, NOW)).toEqual(startAt(one, without, NOW));
      }),
    );
  });
});
