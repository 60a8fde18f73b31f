import { describe, expect, it } from 'vitest';
import type { CallEnd } from '../../../src/diagnosis/scope.ts';
import type { CauseCode, Problem } from '../../../src/domain/problem.ts';
import { Breaker, type BreakerState, CLOSED, stepBreaker } from '../../../src/panel/breaker.ts';
import { ManualClock } from '../../support/manual-clock.ts';

/** The server of a call, and the cause of its failure; undefined for a success. */
type Call = readonly [subject: string, cause: CauseCode | undefined];

const problem = (cause: CauseCode): Problem => ({ cause, detail: `${cause} occurred` });

const end = (subject: string, cause: CauseCode | undefined, more: Partial<CallEnd> = {}): CallEnd => ({
  endpoint: 'websocket',
  subject,
  problem: cause && problem(cause),
  isVerification: false,
  fleetSize: 10,
  ...more,
});

/** The state after a series of calls at time 0. */
function after(calls: readonly Call[], fleetSize = 10, state: BreakerState = CLOSED): BreakerState {
  const step = (before: BreakerState, [subject, cause]: Call) =>
    stepBreaker(before, { type: 'ended', now: 0, end: end(subject, cause, { fleetSize }) });
  return calls.reduce(step, state);
}

const open = (cause: CauseCode): BreakerState => ({
  kind: 'open',
  problem: problem(cause),
  probeAt: 60_000,
});
const probing = (cause: CauseCode): BreakerState => ({ ...open(cause), kind: 'probing' }) as BreakerState;

describe('a closed breaker', () => {
  it.each<[string, readonly Call[], number, CauseCode]>([
    [
      'the key is rejected for 3 servers',
      [
        ['a', 'key_address'],
        ['b', 'key_address'],
        ['c', 'key_address'],
      ],
      10,
      'key_address',
    ],
    [
      '3 servers cannot reach the panel',
      [
        ['a', 'connection'],
        ['b', 'dns'],
        ['c', 'connection'],
      ],
      10,
      'connection',
    ],
    ['the key is rejected for the only server', [['a', 'key_address']], 1, 'key_address'],
    [
      'the key is rejected for both servers',
      [
        ['a', 'key_address'],
        ['b', 'key_address'],
      ],
      2,
      'key_address',
    ],
    ['the key is rejected in a fleet without servers', [['', 'key_address']], 0, 'key_address'],
    [
      'inconclusive calls come between',
      [
        ['a', 'key_address'],
        ['b', 'key_address'],
        ['d', 'unexpected'],
        ['c', 'key_address'],
      ],
      10,
      'key_address',
    ],
    [
      'throttling comes between key rejections',
      [
        ['a', 'key_address'],
        ['b', 'key_address'],
        ['d', 'rate_limited'],
        ['c', 'key_address'],
      ],
      10,
      'key_address',
    ],
  ])('opens when %s', (_name, calls, fleetSize, cause) => {
    expect(after(calls, fleetSize)).toEqual(open(cause));
  });

  it.each<[string, readonly Call[]]>([
    [
      'the key is rejected three times for one server',
      [
        ['a', 'key_address'],
        ['a', 'key_address'],
        ['a', 'key_address'],
      ],
    ],
    [
      'a success comes between',
      [
        ['a', 'key_address'],
        ['b', 'key_address'],
        ['d', undefined],
        ['c', 'key_address'],
      ],
    ],
    [
      'another rejection shows that the key is accepted',
      [
        ['a', 'key_address'],
        ['b', 'key_address'],
        ['d', 'no_console_permission'],
        ['c', 'key_address'],
      ],
    ],
    [
      'an answer comes between',
      [
        ['a', 'connection'],
        ['b', 'connection'],
        ['d', 'not_found'],
        ['c', 'connection'],
      ],
    ],
    [
      'throttling shows that the panel is reachable',
      [
        ['a', 'connection'],
        ['b', 'connection'],
        ['d', 'rate_limited'],
        ['c', 'connection'],
      ],
    ],
    [
      'a key rejection shows that the panel is reachable',
      [
        ['a', 'connection'],
        ['b', 'connection'],
        ['d', 'key_address'],
        ['c', 'connection'],
      ],
    ],
    [
      'key rejections and connection failures are mixed',
      [
        ['a', 'key_address'],
        ['b', 'key_address'],
        ['c', 'connection'],
        ['d', 'connection'],
      ],
    ],
    [
      'a firewall answers, which may only block one path',
      [
        ['a', 'challenge_page'],
        ['b', 'challenge_page'],
        ['c', 'challenge_page'],
        ['d', 'challenge_page'],
      ],
    ],
  ])('stays closed when %s', (_name, calls) => {
    expect(after(calls).kind).toBe('closed');
  });

  it.each<[string, readonly Call[], boolean]>([
    [
      'three servers hit a firewall',
      [
        ['a', 'challenge_page'],
        ['b', 'challenge_page'],
        ['c', 'panel_error'],
      ],
      true,
    ],
    [
      'one server hits a firewall five times in a row, since it may be the only one that makes calls',
      [
        ['a', 'challenge_page'],
        ['a', 'challenge_page'],
        ['a', 'connection'],
        ['a', 'challenge_page'],
        ['a', 'challenge_page'],
      ],
      true,
    ],
    [
      'two servers hit a firewall',
      [
        ['a', 'challenge_page'],
        ['b', 'challenge_page'],
      ],
      false,
    ],
    [
      'calls succeed in between',
      [
        ['a', 'challenge_page'],
        ['b', undefined],
        ['a', 'challenge_page'],
        ['b', undefined],
        ['a', 'challenge_page'],
      ],
      false,
    ],
  ])('when %s, has doubts: %s', (_name, calls, isDoubtful) => {
    expect(after(calls)).toMatchObject({ kind: 'closed', evidence: { isDoubtful } });
  });
});

describe('an open breaker', () => {
  it.each<[BreakerState, CauseCode | undefined, BreakerState['kind']]>([
    [open('key_address'), undefined, 'closed'],
    [open('key_address'), 'not_found', 'closed'],
    [open('key_address'), 'rate_limited', 'open'],
    [open('key_address'), 'key_address', 'open'],
    [open('key_address'), 'connection', 'open'],
    [open('key_address'), 'panel_error', 'open'],
    [open('connection'), undefined, 'closed'],
    [open('connection'), 'not_found', 'closed'],
    [open('connection'), 'connection', 'open'],
    [open('connection'), 'unexpected', 'open'],
    [probing('key_address'), 'challenge_page', 'probing'],
    [probing('connection'), undefined, 'closed'],
    // The answer shows that the panel is reachable. Only the probe decides whether it works.
    [open('connection'), 'rate_limited', 'open'],
    [open('connection'), 'key_address', 'open'],
  ])('%j, when a call already in progress ends with %s, is %s', (state, cause, kind) => {
    expect(after([['a', cause]], 10, state).kind).toBe(kind);
  });

  it.each<[CauseCode, CauseCode, Partial<BreakerState>]>([
    ['connection', 'rate_limited', { kind: 'closed' }],
    ['key_address', 'rate_limited', open('key_address')],
    ['connection', 'key_address', open('key_address')],
    ['connection', 'panel_error', open('panel_error')],
    // The panel can fail before it checks the key.
    ['key_address', 'panel_error', open('panel_error')],
    ['key_address', 'unexpected', open('key_address')],
  ])('for %s, when its probe ends with %s, becomes %j', (before, cause, state) => {
    const probed = stepBreaker(probing(before), {
      type: 'ended',
      now: 1_000,
      end: end('', cause, { endpoint: 'listing', isVerification: true }),
    });
    expect(probed).toMatchObject(state);
  });

  it('lets one probe through per minute', () => {
    const state = stepBreaker(open('key_address'), { type: 'probeStarted', now: 60_000 });
    expect(state).toEqual({ kind: 'probing', problem: problem('key_address'), probeAt: 120_000 });
    expect(
      stepBreaker(state, {
        type: 'ended',
        now: 61_000,
        end: end('', 'key_address', { endpoint: 'listing', isVerification: true }),
      }),
    ).toEqual({ kind: 'open', problem: problem('key_address'), probeAt: 120_000 });
  });

  it('restarts the minute when a timer sends a probe slightly early', () => {
    const state = stepBreaker(open('connection'), { type: 'probeStarted', now: 59_999 });
    expect(state).toMatchObject({ kind: 'probing', probeAt: 119_999 });
  });
});

describe('Breaker', () => {
  it('reports how long calls must wait, and lets only the probe through', async () => {
    const clock = new ManualClock();
    const breaker = new Breaker(clock);
    expect(breaker.waitMs()).toBe(0);
    expect(breaker.probeInMs).toBeUndefined();
    breaker.ended(end('a', 'key_address', { fleetSize: 1 }));
    expect(breaker.problem).toEqual(problem('key_address'));
    await clock.advance(20_000);
    expect(breaker.probeInMs).toBe(40_000);
    expect(breaker.waitMs()).toBe(Number.POSITIVE_INFINITY);
    await clock.advance(40_000);
    expect(breaker.probeInMs).toBe(0);
    breaker.admitProbe();
    expect(breaker.waitMs()).toBe(0);
    breaker.probeStarted();
    expect(breaker.waitMs()).toBe(Number.POSITIVE_INFINITY);
    expect(breaker.probeInMs).toBeUndefined();
    breaker.ended(end('', 'unexpected', { endpoint: 'listing', isVerification: true }));
    expect(breaker.probeInMs).toBe(60_000);
  });

  it('discards the evidence against the old key on a reset', () => {
    const breaker = new Breaker(new ManualClock());
    breaker.ended(end('a', 'key_address', { fleetSize: 1 }));
    breaker.admitProbe();
    breaker.reset();
    expect(breaker.problem).toBeUndefined();
    expect(breaker.waitMs()).toBe(0);
  });
});

describe('an answer in a foreign form', () => {
  const probed = (before: CauseCode, cause: CauseCode) =>
    stepBreaker(probing(before), {
      type: 'ended',
      now: 1_000,
      end: end('', cause, { endpoint: 'listing', isVerification: true }),
    });

  it('does not close the breaker, because a firewall is as bad as no connection', () => {
    expect(probed('connection', 'challenge_page')).toMatchObject(open('challenge_page'));
    expect(probed('key_address', 'challenge_page')).toMatchObject(open('challenge_page'));
  });
});
