import { describe, expect, it } from 'vitest';
import type { CauseCode } from '../../../src/domain/problems.ts';
import { backoffMs, STABLE_AFTER_MS } from '../../../src/session/backoff.ts';
import type { Failure, Token } from '../../../src/session/machine-model.ts';
import {
  ask,
  attemptHistory,
  connectAgain,
  expire,
  fail,
  type MachineContext,
  REUSE_MARGIN_MS,
  retryDelay,
  stop,
  stream,
} from '../../../src/session/machine-steps.ts';
import { machineState } from '../../support/machine-states.ts';

const NOW = 1_000_000;
const context = (changes: Partial<MachineContext> = {}): MachineContext => ({
  now: NOW,
  random: 0.5,
  timeouts: { connectTimeoutMs: 10_000, authTimeoutMs: 12_000 },
  isCurrent: () => true,
  target: { node: 'n1', blocked: undefined },
  ...changes,
});
const token = (livesMs: number): Token => ({
  value: 'a.b.c',
  socketUrl: 'wss://node-1/ws',
  fetchedAt: NOW,
  renewAt: NOW + livesMs / 2,
  expiresAt: NOW + livesMs,
});
const LIVING = token(600_000);
const failure = (cause: CauseCode, more: Partial<Failure> = {}): Failure => ({
  reason: 'closed',
  problem: { cause, detail: '' },
  ...more,
});
const problem = { cause: 'timeout', detail: '' } as const;
const ATTEMPT = { epoch: 7, failures: 2, problem, wokenAt: NOW - 1 };
const live = (changes = {}) =>
  machineState('streaming', {
    epoch: 7,
    failures: 5,
    token: LIVING,
    since: NOW - STABLE_AFTER_MS,
    ...changes,
  });

describe('another connect', () => {
  const fetches = { name: 'fetchingToken', ...ATTEMPT, since: NOW };
  const connects = {
    name: 'connecting',
    ...ATTEMPT,
    epoch: 8,
    reused: true,
    connectsAt: NOW,
    dueAt: Number.POSITIVE_INFINITY,
  };

  it.each<[string, Token | undefined, object, boolean]>([
    ['a new token without an earlier one', undefined, fetches, true],
    ['an earlier token that lives long enough', token(REUSE_MARGIN_MS + 1), connects, true],
    ['a new token if the earlier one ends during it', token(REUSE_MARGIN_MS), fetches, true],
    ['a new token if the panel gives another address', LIVING, fetches, false],
  ])('uses %s', (_what, earlier, expected, isCurrent) => {
    expect(connectAgain(ATTEMPT, earlier, context({ isCurrent: () => isCurrent }))).toMatchObject(expected);
  });

  it('keeps what is known of earlier attempts, and nothing else', () => {
    expect(attemptHistory({ ...ATTEMPT, token: LIVING } as typeof ATTEMPT)).toEqual(ATTEMPT);
  });
});

describe('a socket that streams', () => {
  it('keeps its age and its requests for stats, and lasts until its token is renewed', () => {
    const before = live({ unanswered: 1, askedAt: NOW - 3, since: NOW - 9 });
    expect(stream(before, token(300_000), context())).toEqual({
      name: 'streaming',
      epoch: 7,
      failures: 5,
      token: token(300_000),
      since: NOW - 9,
      authenticatedAt: NOW,
      unanswered: 1,
      askedAt: NOW - 3,
      dueAt: NOW + 150_000,
    });
  });

  it('begins after its token was accepted, without the problem before it', () => {
    const opening = machineState('opening', { ...ATTEMPT, token: LIVING });
    const streaming = stream(opening, LIVING, context());
    expect(streaming).toMatchObject({ since: NOW, failures: 2 });
    expect(streaming).not.toHaveProperty('problem');
  });

  it.each([
    [STABLE_AFTER_MS, 0],
    [STABLE_AFTER_MS - 1, 5],
  ])('for %d ms has %d failures before it', (ms, failures) => {
    const state = live({ since: NOW - ms });
    expect(stream(state, LIVING, context())).toMatchObject({ failures });
    expect(fail(state, LIVING, failure('timeout'), context())).toMatchObject({ failures: failures + 1 });
  });
});

describe('a failure', () => {
  it.each<[string, Parameters<typeof fail>[0], token: Token | undefined, workedAt: number | undefined]>([
    ['of a streaming socket', live(), LIVING, NOW],
    ['of a socket before its first stats', machineState('opening', { token: LIVING }), LIVING, NOW],
    ['of a renewal: of the old token', machineState('renewing', { token: LIVING }), LIVING, NOW],
    ['of a renewal: not of the new token', machineState('renewing', { token: LIVING }), token(1), undefined],
    [
      'of a handshake, which may be why it failed',
      machineState('authenticating', { token: LIVING }),
      LIVING,
      undefined,
    ],
    ['of a connect', machineState('connecting', { token: LIVING }), LIVING, undefined],
  ])('keeps until when a token worked: %s', (_what, state, kept, workedAt) => {
    const after = fail(state, kept, failure('closed'), context());
    expect(after).toMatchObject({ token: { value: kept?.value } });
    expect('token' in after && after.token?.workedAt).toBe(workedAt);
  });

  it.each<[string, Failure, number | undefined, object]>([
    [
      'is retried after its back-off',
      failure('timeout'),
      undefined,
      { name: 'backingOff', dueAt: NOW + backoffMs(3, 0.5) },
    ],
    ['is retried after the given time', failure('timeout'), 7, { name: 'backingOff', dueAt: NOW + 7 }],
    ['that lasts blocks the server', failure('suspended'), undefined, { name: 'blocked' }],
    ['keeps the token', failure('timeout'), undefined, { token: LIVING }],
    ['may drop the token', failure('timeout', { dropToken: true }), undefined, { token: undefined }],
  ])('%s', (_what, cause, retryMs, expected) => {
    const before = machineState('connecting', { epoch: 7, failures: 2, token: LIVING });
    expect(fail(before, LIVING, cause, context(), retryMs)).toMatchObject({
      epoch: 7,
      failures: 3,
      since: NOW,
      reason: 'closed',
      problem: cause.problem,
      ...expected,
    });
  });

  it.each<[string, number, CauseCode, Partial<MachineContext>, number]>([
    ['of the moment', 2, 'timeout', {}, backoffMs(2, 0.5)],
    ['that lasts, of a listed server', 5, 'suspended', {}, 57_000],
    ['that lasts, of an unlisted server, the first time', 1, 'suspended', { target: {} }, 57_000],
    ['that lasts, of an unlisted server', 2, 'suspended', { target: {} }, 315_000],
    ['that lasts, of the key', 5, 'key_refused', { target: {} }, 57_000],
  ])('%s waits: after %d', (_what, failures, cause, changes, delayMs) => {
    expect(retryDelay(failures, failure(cause), context(changes))).toBe(delayMs);
  });

  it('waits as long as the panel requested, if that is longer', () => {
    const requested = (retryAfterMs: number) =>
      retryDelay(1, failure('timeout', { problem: { ...problem, retryAfterMs } }), context());
    expect([requested(1), requested(99_000)]).toEqual([backoffMs(1, 0.5), 99_000]);
  });
});

describe('stats', () => {
  it.each([0, 1])('are asked for after %d requests without a response', (unanswered) => {
    const asked = ask(live({ unanswered }), { type: 'silence' }, context());
    expect(asked).toMatchObject({ name: 'streaming', unanswered: unanswered + 1, askedAt: NOW });
  });

  it('that never come end the socket, whose token stays good', () => {
    expect(ask(live({ unanswered: 2 }), { type: 'silence' }, context())).toMatchObject({
      name: 'backingOff',
      reason: 'silent',
      problem: { cause: 'no_stats' },
      token: LIVING,
    });
  });
});

describe('expired credentials', () => {
  it.each([
    ['are told as such', {}, 'closed'],
    ['are told with why they were not renewed', { problem }, 'timeout'],
  ])('%s', (_what, changes, cause) => {
    const state = expire(live(changes), context());
    expect(state).toMatchObject({
      name: 'fetchingToken',
      epoch: 7,
      failures: 0,
      since: NOW,
      problem: { cause },
    });
  });

  it('end the socket of a server that the panel blocks', () => {
    const blocked = context({ target: { node: 'n1', blocked: 'suspended' } });
    expect(expire(live(), blocked)).toEqual({ name: 'idle', epoch: 7, token: LIVING });
  });
});

it('a machine that stops keeps its token, and one that has stopped stays as it is', () => {
  const idle = stop(live());
  expect(idle).toEqual({ name: 'idle', epoch: 7, token: LIVING });
  expect(stop(idle)).toBe(idle);
  expect(stop(machineState('fetchingToken', ATTEMPT))).toEqual({ name: 'idle', epoch: 7, token: undefined });
});
