import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import type { CauseCode, Problem } from '../../../src/domain/problems.ts';
import { POLL_CACHE_MS } from '../../../src/panel/responses.ts';
import type { MachineState } from '../../../src/session/machine-model.ts';
import { declinesTrial, makePlan } from '../../../src/session/plan.ts';
import { FALLBACK_AFTER_MS } from '../../../src/session/poll-plan.ts';
import { NEVER_POLLED, type PollState, pollResult } from '../../../src/session/poll-state.ts';
import type { SessionState } from '../../../src/session/session-state.ts';
import { NOTHING_KNOWN, type Surroundings } from '../../../src/session/surroundings.ts';
import { machineState } from '../../support/machine-states.ts';
import { target } from '../../support/targets.ts';

const SAMPLED_AT = 500_000;
const WAITING_SINCE = 100_000;
const NOW = 510_000;
/** The last failure of both the machine and the polls. */
const FAILED_AT = 505_000;

const HELD: Problem = { cause: 'node_connection', detail: 'no connection' };
const failed = { failures: 2 };
const rest = { ...failed, since: FAILED_AT, dueAt: NOW + 1 };
const connects = { connectsAt: FAILED_AT };
const refused = (cause: CauseCode) => machineState('blocked', { ...rest, problem: { cause, detail: 'why' } });

const STATES = {
  idle: machineState('idle'),
  'waiting for its first token': machineState('fetchingToken', { since: FAILED_AT }),
  connecting: machineState('connecting', connects),
  authenticating: machineState('authenticating', connects),
  'waiting for its first stats': machineState('opening', { ...connects, unanswered: 1, askedAt: FAILED_AT }),
  'fetching a token after failures': machineState('fetchingToken', { ...failed, since: FAILED_AT }),
  'connecting after failures': machineState('connecting', { ...failed, ...connects }),
  'authenticating after failures': machineState('authenticating', { ...failed, ...connects }),
  'backing off': machineState('backingOff', rest),
  streaming: machineState('streaming'),
  'streaming after failures': machineState('streaming', { failures: 3 }),
  renewing: machineState('renewing'),
  'asked for stats once': machineState('streaming', { unanswered: 1 }),
  'asked for stats twice': machineState('streaming', { unanswered: 2 }),
  'asked for stats twice while renewing': machineState('renewing', { unanswered: 2 }),
  'refused as a whole': refused('suspended'),
  'refused its console': refused('no_console_permission'),
};

/** The event for a machine that should have a socket. Only an idle one needs one. */
const begun = ({ name }: MachineState) => (name === 'idle' ? { type: 'try', isFresh: false } : undefined);

type State = keyof typeof STATES;

const OFF = undefined;
/** Polls as soon as the panel's response can't be older than the sample. */
const AT_ONCE = {
  at: SAMPLED_AT + POLL_CACHE_MS,
  isOutdated: false,
  pollIntervalMs: 30_000,
  stalenessMs: 60_000,
};
const AFTER_30_S = { ...AT_ONCE, at: SAMPLED_AT + FALLBACK_AFTER_MS };

const heldSockets = { ...NOTHING_KNOWN.sockets, heldBy: HELD };

function plan(state: Partial<SessionState>, seen: Partial<Surroundings> = {}) {
  const { socket, poll } = makePlan(
    {
      machine: STATES.idle,
      poll: NEVER_POLLED,
      sampledAt: SAMPLED_AT,
      waitingSince: WAITING_SINCE,
      status: { condition: 'waiting' },
      ...state,
    },
    { ...NOTHING_KNOWN, now: NOW, isRunning: true, target: target({ node: 'n1' }), ...seen },
  );
  return { socket, poll };
}

const next = (machine: MachineState, seen: Partial<Surroundings> = {}) => plan({ machine }, seen).socket;

describe('a server in mode auto', () => {
  it.each<[State, object | undefined, object | undefined]>([
    // The state, its polls, and its polls while the node's sockets are held.
    ['idle', OFF, OFF],
    ['waiting for its first token', { ...AT_ONCE, at: FAILED_AT + FALLBACK_AFTER_MS }, AT_ONCE],
    ['connecting', AFTER_30_S, AT_ONCE],
    ['authenticating', AFTER_30_S, AT_ONCE],
    ['waiting for its first stats', AFTER_30_S, AT_ONCE],
    ['fetching a token after failures', AFTER_30_S, AT_ONCE],
    ['connecting after failures', AFTER_30_S, AT_ONCE],
    ['authenticating after failures', AFTER_30_S, AT_ONCE],
    ['backing off', AFTER_30_S, AT_ONCE],
    ['streaming', OFF, OFF],
    ['streaming after failures', OFF, OFF],
    ['renewing', OFF, OFF],
    ['asked for stats once', OFF, OFF],
    ['asked for stats twice', AFTER_30_S, AFTER_30_S],
    ['asked for stats twice while renewing', AFTER_30_S, AFTER_30_S],
    ['refused as a whole', OFF, OFF],
    ['refused its console', AT_ONCE, AT_ONCE],
  ])('needs its socket, and is polled as its state requires: %s', (state, poll, pollWhileHeld) => {
    const machine = STATES[state];
    expect(plan({ machine })).toMatchObject({ socket: begun(machine), poll });
    const held = plan({ machine }, { sockets: heldSockets });
    expect(held).toMatchObject({ socket: begun(machine), poll: pollWhileHeld });
  });

  it('that was never sampled is polled at once while no socket of its node can be opened', () => {
    const { poll } = plan({ machine: STATES.connecting, sampledAt: undefined }, { sockets: heldSockets });
    expect(poll).toEqual({ ...AT_ONCE, at: Number.NEGATIVE_INFINITY });
  });

  it('that was never sampled is polled 30 s after it began to wait', () => {
    const { poll } = plan({ machine: STATES['backing off'], sampledAt: undefined });
    expect(poll).toEqual({ ...AT_ONCE, at: WAITING_SINCE + FALLBACK_AFTER_MS });
  });

  it('that was never sampled is not polled while it waits for its first token', () => {
    const machine = STATES['waiting for its first token'];
    expect(plan({ machine, sampledAt: undefined }).poll).toEqual(OFF);
  });

  it.each<[State, object | undefined]>([
    ['waiting for its first token', AT_ONCE],
    ['fetching a token after failures', AT_ONCE],
    ['connecting', AFTER_30_S],
    ['streaming', OFF],
  ])('without room for another token within the minute is polled in place of it: %s', (state, poll) => {
    expect(plan({ machine: STATES[state] }, { isTokenDelayed: true }).poll).toEqual(poll);
  });

  it('that was never sampled is polled in place of a token that its own limit delays', () => {
    const state = { machine: STATES['waiting for its first token'], sampledAt: undefined };
    expect(plan(state, { isTokenDelayed: true }).poll?.at).toBe(Number.NEGATIVE_INFINITY);
    expect(plan(state, { isTokenDelayed: true, polls: heldSockets }).poll).toEqual(OFF);
  });

  it('that has its token late is polled unless it streams within 5 s', () => {
    const machine: MachineState = { ...STATES.connecting, connectsAt: NOW, wokenAt: NOW };
    expect(plan({ machine, sampledAt: undefined }).poll).toEqual({ ...AT_ONCE, at: NOW + 5_000 });
  });

  it('that was woken is polled 30 s later, and not while polls are held', () => {
    const machine: MachineState = { ...STATES['fetching a token after failures'], wokenAt: NOW };
    expect(plan({ machine }).poll).toEqual({ ...AT_ONCE, at: NOW + FALLBACK_AFTER_MS });
    const held = { sockets: heldSockets, polls: heldSockets };
    expect(plan({ machine }, held).poll).toEqual(OFF);
  });
});

describe.each(Object.entries(STATES))('in state %s', (_, machine) => {
  it.each([true, false])('a server in mode poll needs no socket (others have one: %s)', (hasRoom) => {
    const seen = { target: target({ mode: 'poll' }), hasRoom };
    expect(plan({ machine }, seen)).toEqual({ socket: { type: 'stop' }, poll: AT_ONCE });
  });

  it('a server for which there is no file descriptor is polled, unless its mode is socket', () => {
    const none = { type: 'stop' };
    expect(plan({ machine }, { hasRoom: false })).toEqual({ socket: none, poll: AT_ONCE });
    const socketOnly = { target: target({ mode: 'socket' }), hasRoom: false };
    expect(plan({ machine }, socketOnly)).toEqual({ socket: none, poll: OFF });
  });

  it('a server in mode socket is never polled, even without a socket', () => {
    const seen = { target: target({ mode: 'socket' }), sockets: heldSockets };
    expect(plan({ machine }, seen)).toMatchObject({ socket: begun(machine), poll: OFF });
  });

  it.each(['auto', 'socket', 'poll'] as const)(
    'a server in mode %s that the panel blocks keeps an open socket, and makes no calls',
    (mode) => {
      const isLive = machine.name === 'streaming' || machine.name === 'renewing';
      const seen = { target: target({ mode, blocked: 'suspended' }), hasRoom: false };
      expect(plan({ machine }, seen)).toEqual({ socket: isLive ? undefined : { type: 'stop' }, poll: OFF });
    },
  );

  it('a server that is no longer monitored needs nothing', () => {
    expect(plan({ machine }, { isRunning: false })).toEqual({ socket: { type: 'stop' }, poll: OFF });
  });

  it('nothing begins before its time, unless something has happened since', () => {
    expect(plan({ machine }).socket).toEqual(begun(machine));
  });
});

const LATER = FAILED_AT + 1;
const since = (changes: Partial<Surroundings['sockets']>) => ({
  sockets: { ...NOTHING_KNOWN.sockets, ...changes },
});

/** Each cause, with the time at which another server recovered from it. */
const recoveries = (at: number) => new Map(Object.values(CAUSES).map(({ code }) => [code, at]));

/** Events that happened at this time. */
const NEWS = {
  'the panel was cleared': (at: number) => since({ panelJudgedAt: at }),
  'its node was cleared': (at: number) => since({ nodeJudgedAt: at }),
  'the list was read': (at: number) => ({ listedAt: at }),
  'another server with this refusal works': (at: number) => ({ recovered: recoveries(at) }),
  'another server of its node works again': (at: number) => ({ recoveredOnNode: recoveries(at) }),
} satisfies Record<string, (at: number) => Partial<Surroundings>>;
const OF_OTHERS = 'another server with this refusal works';
const OF_NODE = 'another server of its node works again';

describe('a server that rests tries at once', () => {
  const rows: readonly [string, MachineState, readonly (keyof typeof NEWS)[]][] = [
    ['backs off', STATES['backing off'], ['the panel was cleared', 'its node was cleared']],
    [
      'backs off because its call failed',
      { ...STATES['backing off'], problem: { cause: 'connection_cut', detail: 'why' } },
      ['the panel was cleared', 'its node was cleared', OF_NODE],
    ],
    [
      'is refused by its node or because of the key',
      refused('origin'),
      ['the panel was cleared', 'its node was cleared', OF_OTHERS, OF_NODE],
    ],
    ['is unknown', refused('not_found'), ['the panel was cleared', OF_OTHERS]],
    ['is refused with 401', refused('unauthorized'), ['the panel was cleared', OF_OTHERS]],
    ['is forbidden', refused('no_console_permission'), [OF_OTHERS]],
    ['is suspended', refused('suspended'), ['the list was read', OF_OTHERS]],
  ];

  it.each(rows)('if what it waits for has happened since it failed: one that %s', (_, machine, reasons) => {
    for (const [news, at] of Object.entries(NEWS)) {
      const isReason = (reasons as readonly string[]).includes(news);
      expect(next(machine, at(LATER)), news).toEqual(isReason ? { type: 'wake' } : undefined);
      expect(next(machine, at(FAILED_AT)), news).toBeUndefined();
      expect(next(machine, { ...at(LATER), mayConnect: false }), news).toBeUndefined();
    }
  });

  it("only if the list contains it or was never read, for another server's success", () => {
    const news = { ...NEWS[OF_OTHERS](LATER), target: target() };
    expect(next(refused('not_found'), { ...news, listedAt: FAILED_AT })).toBeUndefined();
    expect(next(refused('not_found'), news)).toEqual({ type: 'wake' });
  });

  it('when its retry is due, unless the sockets of its node are tried by another server', () => {
    const retry = { type: 'try', isFresh: false };
    expect(next(STATES['backing off'], { now: rest.dueAt })).toEqual(retry);
    expect(next(STATES['backing off'], { now: rest.dueAt, mayConnect: false })).toBeUndefined();
    // The node may still accept the token.
    const held = { now: rest.dueAt, sockets: heldSockets };
    expect(next(STATES['backing off'], held)).toEqual(retry);
  });

  it('if it is chosen to try the sockets of its node', () => {
    const seen = { mayConnect: false, trial: { isFresh: true } };
    expect(next(STATES['backing off'], seen)).toEqual({ type: 'try', isFresh: true });
  });
});

it('a server that is chosen to try its node but has no socket to open declines', () => {
  const declining = Object.entries(STATES).filter(([, machine]) =>
    declinesTrial(machine, { trial: { isFresh: false } }),
  );
  const isAttempt = /^(?:waiting|connecting|authenticating|fetching)/;
  expect(declining.map(([state]) => state)).toEqual(
    Object.keys(STATES).filter((key) => !isAttempt.test(key)),
  );
  expect(declinesTrial(STATES.idle, { trial: undefined })).toBe(false);
});

it('a server that begins fetches a token first while the sockets of its node fail', () => {
  expect(next(STATES.idle)).toEqual({ type: 'try', isFresh: false });
  expect(next(STATES.idle, { mayConnect: false })).toEqual({ type: 'try', isFresh: true });
});

it.each<[CauseCode, readonly (keyof typeof NEWS)[]]>([
  ['panel_error', ['the panel was cleared', 'its node was cleared', OF_NODE]],
  ['not_found', ['the panel was cleared', OF_OTHERS]],
])('a streaming server whose renewal failed tries again if its reason is over: %s', (cause, reasons) => {
  const problem: Problem = { cause, detail: 'why' };
  const failedRenewals = { count: 1, at: FAILED_AT };
  for (const state of [STATES.streaming, STATES.renewing]) {
    const machine: MachineState = { ...state, problem, failedRenewals };
    for (const [news, at] of Object.entries(NEWS)) {
      const isReason = (reasons as readonly string[]).includes(news);
      expect(next(machine, at(LATER)), news).toEqual(isReason ? { type: 'wake' } : undefined);
      expect(next(machine, at(FAILED_AT)), news).toBeUndefined();
      expect(next({ ...machine, wokenAt: LATER }, at(LATER)), news).toBeUndefined();
      const isOver = isReason && news !== 'its node was cleared';
      const whileBlamed = next(machine, { ...at(LATER), mayConnect: false });
      expect(whileBlamed, news).toEqual(isOver ? { type: 'wake' } : undefined);
      expect(next(state, at(LATER)), news).toBeUndefined();
    }
  }
});

it('a server that was refused tries again within a minute if it is listed by now', () => {
  const machine: MachineState = {
    ...STATES['refused its console'],
    problem: { cause: 'not_found', detail: 'why' },
    dueAt: FAILED_AT + 300_000,
  };
  const after = (ms: number, node: string | undefined) =>
    next(machine, { now: FAILED_AT + ms, target: target({ node }) });
  expect(after(60_000, 'n')).toEqual({ type: 'try', isFresh: false });
  expect(after(59_999, 'n')).toBeUndefined();
  expect(after(60_000, undefined)).toBeUndefined();
});

describe('polls that failed are due at once', () => {
  const polled = (cause: CauseCode): PollState => ({
    ...NEVER_POLLED,
    result: pollResult({ cause, detail: 'why' }),
    startedAt: FAILED_AT,
    endedAt: FAILED_AT,
    notBefore: NOW + 40_000,
  });
  const seen = (changes: Partial<Surroundings>) => ({
    target: target({ mode: 'poll', node: 'n1' }),
    ...changes,
  });
  const POLL_NEWS = {
    ...NEWS,
    'the panel was cleared': (at: number) => ({ polls: since({ panelJudgedAt: at }).sockets }),
    'its node was cleared': (at: number) => ({ polls: since({ nodeJudgedAt: at }).sockets }),
  };

  it.each<[CauseCode, readonly (keyof typeof POLL_NEWS)[]]>([
    [
      'node_unreachable',
      ['the panel was cleared', 'its node was cleared', 'another server of its node works again'],
    ],
    ['not_found', ['the panel was cleared', OF_OTHERS]],
    ['forbidden', [OF_OTHERS]],
    ['suspended', ['the list was read', OF_OTHERS]],
  ])('if what they wait for has happened since: %s', (cause, reasons) => {
    const poll = polled(cause);
    for (const [news, at] of Object.entries(POLL_NEWS)) {
      const isReason = (reasons as readonly string[]).includes(news);
      const due = isReason ? { ...AT_ONCE, isOutdated: true } : { ...AT_ONCE, at: poll.notBefore };
      expect(plan({ poll }, seen(at(LATER))).poll, news).toEqual(due);
      expect(plan({ poll }, seen(at(FAILED_AT))).poll, news).toEqual({ ...AT_ONCE, at: poll.notBefore });
    }
  });

  it('within a minute if the server is listed by now, however long its refusals lasted before', () => {
    const poll = { ...polled('not_found'), notBefore: FAILED_AT + 300_000 };
    const { poll: unlisted } = plan({ poll }, seen({ target: target({ mode: 'poll', node: undefined }) }));
    expect(unlisted).toMatchObject({ at: FAILED_AT + 300_000 });
    expect(plan({ poll }, seen({ target: target({ mode: 'poll', node: 'n' }) })).poll).toMatchObject({
      at: FAILED_AT + 60_000,
    });
  });

  it('once the server had data over its socket since', () => {
    const poll = polled('not_found');
    const after = (sampledAt: number) => plan({ machine: STATES['backing off'], poll, sampledAt }).poll?.at;
    expect(after(FAILED_AT - 1)).toBe(poll.notBefore);
    expect(after(FAILED_AT + 1)).toBe(FAILED_AT + 1 + FALLBACK_AFTER_MS);
  });

  it('but polls that were answered are not', () => {
    const poll: PollState = { ...polled('timeout'), result: { type: 'answered' }, notBefore: 0 };
    const news = seen({ polls: since({ panelJudgedAt: LATER, nodeJudgedAt: LATER }).sockets });
    expect(plan({ poll }, news).poll).toEqual({ ...AT_ONCE, at: FAILED_AT + 30_000 });
  });
});

it('what was done once because of something is not done again', () => {
  const instant = fc.integer({ min: 0, max: 1_000 });
  fc.assert(
    fc.property(instant, instant, instant, instant, (panelJudgedAt, nodeJudgedAt, listedAt, now) => {
      const at = Math.max(panelJudgedAt, nodeJudgedAt, listedAt, now);
      const seen = { ...since({ panelJudgedAt, nodeJudgedAt }), listedAt, now: at };
      for (const machine of [STATES['backing off'], STATES['refused as a whole']])
        expect(next({ ...machine, since: at, dueAt: at + 1 }, seen)).toBeUndefined();
    }),
  );
});
