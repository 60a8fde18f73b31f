import { describe, expect, it } from 'vitest';
import { AT_ONCE, NEVER } from '../../../src/domain/clock.ts';
import type { CauseCode, Problem } from '../../../src/domain/problems.ts';
import { POLL_CACHE_MS } from '../../../src/panel/responses.ts';
import {
  FALLBACK_AFTER_MS,
  isOver,
  nextPollAt,
  pollPlan,
  pollsFrom,
} from '../../../src/session/poll-plan.ts';
import { NEVER_POLLED, type PollState, pollResult } from '../../../src/session/poll-state.ts';
import type { SessionState } from '../../../src/session/session-state.ts';
import { NOTHING_KNOWN, type Surroundings } from '../../../src/session/surroundings.ts';
import { machineState, TOKEN } from '../../support/machine-states.ts';
import { target } from '../../support/targets.ts';

const NOW = 1_000_000;
const SAMPLED_AT = NOW - 10_000;
const WAITING_SINCE = NOW - 90_000;
const FAILED_AT = NOW - 5_000;
const REFUSED_MS = 60_000;
const HELD = { ...NOTHING_KNOWN.sockets, heldBy: { cause: 'node_connection', detail: '' } as Problem };

const stateOf = (changes: Partial<SessionState> = {}): SessionState => ({
  machine: machineState('backingOff', { failures: 1, since: FAILED_AT, dueAt: NOW + 1 }),
  poll: NEVER_POLLED,
  sampledAt: SAMPLED_AT,
  waitingSince: WAITING_SINCE,
  status: { condition: 'waiting' },
  ...changes,
});
const seenOf = (changes: Partial<Surroundings> = {}): Surroundings => ({
  ...NOTHING_KNOWN,
  now: NOW,
  isRunning: true,
  target: target({ node: 'n1' }),
  ...changes,
});

const refused = (cause: CauseCode) =>
  machineState('blocked', { failures: 1, problem: { cause, detail: '' }, dueAt: NOW + 1 });
const fetching = machineState('fetchingToken', { since: FAILED_AT });
const woken = machineState('fetchingToken', { since: NOW, failures: 3, wokenAt: NOW });
const OVERDUE = SAMPLED_AT + FALLBACK_AFTER_MS;
const OFF = undefined;

describe('a server is polled', () => {
  it.each<[string, Partial<SessionState>, Partial<Surroundings>, number | undefined]>([
    ['at once in mode poll', {}, { target: target({ mode: 'poll' }) }, AT_ONCE],
    ['at once if no file is left for its socket', {}, { hasRoom: false }, AT_ONCE],
    ['never in mode socket', {}, { target: target({ mode: 'socket' }), hasRoom: false }, OFF],
    ['never while the list shows it as blocked', {}, { target: target({ blocked: 'suspended' }) }, OFF],
    ['never before it begins', { machine: machineState('idle') }, {}, OFF],
    ['never while it streams', { machine: machineState('streaming', { unanswered: 1 }) }, {}, OFF],
    [
      '30 s after the last data of a dead socket',
      { machine: machineState('renewing', { unanswered: 2 }) },
      {},
      OVERDUE,
    ],
    ['30 s after its last data while it fails', {}, {}, OVERDUE],
    [
      '30 s after it began to wait without data',
      { sampledAt: undefined },
      {},
      WAITING_SINCE + FALLBACK_AFTER_MS,
    ],
    ['at once while sockets of its node are held', {}, { sockets: HELD }, AT_ONCE],
    [
      '30 s after its last data while its polls are held as well',
      {},
      { sockets: HELD, polls: HELD },
      OVERDUE,
    ],
    ['at once in place of a token that is delayed', { machine: fetching }, { isTokenDelayed: true }, AT_ONCE],
    ['at once if the next token will be delayed', {}, { isTokenDelayed: true }, AT_ONCE],
    [
      '30 s after its last data if the next attempt has a token',
      {
        machine: machineState('backingOff', { failures: 1, since: FAILED_AT, dueAt: NOW + 1, token: TOKEN }),
      },
      { isTokenDelayed: true },
      OVERDUE,
    ],
    [
      'never if its token is delayed in mode socket',
      {},
      { target: target({ mode: 'socket' }), isTokenDelayed: true },
      OFF,
    ],
    [
      '5 s after a late connect began',
      { machine: machineState('connecting', { connectsAt: NOW + 60_000 }) },
      {},
      NOW + 65_000,
    ],
    ['30 s after it was woken', { machine: woken }, {}, NOW + FALLBACK_AFTER_MS],
    ['never while it is woken and polls are held', { machine: woken }, { polls: HELD }, OFF],
    ['never if the refusal is of the whole server', { machine: refused('suspended') }, {}, OFF],
    ['at once if only its console is refused', { machine: refused('no_console_permission') }, {}, AT_ONCE],
    ['30 s after it asked for its first token', { machine: fetching }, {}, FAILED_AT + FALLBACK_AFTER_MS],
    ['never while it waits for that without data', { machine: fetching, sampledAt: undefined }, {}, OFF],
  ])('%s', (_what, state, seen, from) => {
    expect(pollsFrom(stateOf(state), seenOf(seen))).toBe(from);
  });
});

describe('the next poll', () => {
  const failed = (cause: CauseCode, notBefore = NOW + 40_000): PollState => ({
    ...NEVER_POLLED,
    result: pollResult({ cause, detail: '' }),
    startedAt: FAILED_AT,
    endedAt: FAILED_AT,
    notBefore,
  });
  const polls = (nodeJudgedAt: number) => ({ ...NOTHING_KNOWN.polls, nodeJudgedAt });
  const unlisted = { target: target() };

  it.each<[string, Partial<SessionState>, Partial<Surroundings>, number]>([
    ['is not answered with data older than the sample', { sampledAt: NOW }, {}, NOW + POLL_CACHE_MS],
    ['waits for what a failure requires', { poll: failed('timeout') }, {}, NOW + 40_000],
    [
      'is due if the reason is over',
      { poll: failed('node_unreachable') },
      { polls: polls(FAILED_AT + 1) },
      SAMPLED_AT + POLL_CACHE_MS,
    ],
    [
      'is not due if the reason was over before',
      { poll: failed('node_unreachable') },
      { polls: polls(FAILED_AT) },
      NOW + 40_000,
    ],
    [
      'is due a minute after a refusal of a server that is listed',
      { poll: failed('not_found', NOW + 300_000) },
      {},
      FAILED_AT + REFUSED_MS,
    ],
    [
      'waits longer if it is not listed',
      { poll: failed('not_found', NOW + 300_000) },
      unlisted,
      NOW + 300_000,
    ],
    ['does not wait longer than without the list', { poll: failed('not_found') }, {}, NOW + 40_000],
    [
      'follows the interval again once the socket had data since',
      { poll: failed('not_found'), sampledAt: FAILED_AT + 1 },
      {},
      FAILED_AT + 30_000,
    ],
    [
      'follows the interval',
      { poll: { ...NEVER_POLLED, result: { type: 'answered' }, startedAt: NOW, endedAt: NOW } },
      {},
      NOW + 30_000,
    ],
  ])('%s', (_what, state, seen, at) => {
    expect(pollPlan(stateOf(state), AT_ONCE, seenOf(seen))).toMatchObject({
      at,
      pollIntervalMs: NOTHING_KNOWN.pollIntervalMs,
      stalenessMs: NOTHING_KNOWN.stalenessMs,
    });
  });

  it('is not due before the server is polled at all', () => {
    const outdated = { polls: polls(NOW) };
    for (const seen of [{}, outdated]) {
      const plan = pollPlan(
        stateOf({ poll: failed('node_unreachable', NEVER) }),
        NOW + 7,
        seenOf({ ...seen }),
      );
      expect(plan).toMatchObject({ at: SAMPLED_AT + POLL_CACHE_MS, isOutdated: seen === outdated });
      const unsampled = stateOf({ poll: failed('node_unreachable', NEVER), sampledAt: undefined });
      expect(pollPlan(unsampled, NOW + 7, seenOf({ ...seen })).at).toBe(NOW + 7);
    }
  });

  it.each<[string, PollState, boolean]>([
    ['a failure whose reason ended since', failed('node_unreachable'), true],
    ['a refusal', failed('not_found'), false],
    ['a response', { ...failed('timeout'), result: { type: 'answered' } }, false],
    ['a later failure', { ...failed('node_unreachable'), endedAt: FAILED_AT + 1 }, false],
  ])('%s counts no longer: %s', (_what, poll, over) => {
    const news = seenOf({ polls: { ...polls(FAILED_AT + 1), panelJudgedAt: FAILED_AT + 1 } });
    expect(isOver(poll, news)).toBe(over);
  });
});

it('the next poll waits until polling is required', () => {
  expect(nextPollAt(NEVER_POLLED, 12_000, 30_000)).toBe(12_000);
});
