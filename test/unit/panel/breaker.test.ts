import { describe, expect, it } from 'vitest';
import type { CallEnd } from '../../../src/diagnosis/scope.ts';
import type { CauseCode, Problem } from '../../../src/domain/problem.ts';
import { Breaker, type BreakerState, CLOSED, stepBreaker } from '../../../src/panel/breaker.ts';
import { ManualClock } from '../../support/manual-clock.ts';

/** How a call ended: the cause of its failure, or undefined for a success. */
type Call = readonly [subject: string, cause: CauseCode | undefined];

const problem = (cause: CauseCode): Problem => ({ cause, detail: `${cause} was met` });

const end = (subject: string, cause: CauseCode | undefined, more: Partial<CallEnd> = {}): CallEnd => ({
  endpoint: 'websocket',
  subject,
  problem: cause && problem(cause),
  isVerification: false,
  fleetSize: 10,
  ...more,
});

/** The state after calls that ended one after another at instant 0. */
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
      'the key of 3 servers is rejected',
      [
        ['a', 'key_address'],
        ['b', 'key_address'],
        ['c', 'key_address'],
      ],
      10,
      'key_address',
    ],
    [
      '3 servers find no panel',
      [
        ['a', 'connection'],
        ['b', 'dns'],
        ['c', 'connection'],
      ],
      10,
      'connection',
    ],
    ['the key of the only server is rejected', [['a', 'key_address']], 1, 'key_address'],
    [
      'the key of both servers is rejected',
      [
        ['a', 'key_address'],
        ['b', 'key_address'],
      ],
      2,
      'key_address',
    ],
    ['the key is rejected where there are no servers', [['', 'key_address']], 0, 'key_address'],
    [
      'ends that say nothing come between',
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
      'throttling comes between rejected keys',
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
      'the key of one server is rejected thrice',
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
      'another refusal shows that the key is accepted',
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
      'throttling shows that the panel is there',
      [
        ['a', 'connection'],
        ['b', 'connection'],
        ['d', 'rate_limited'],
        ['c', 'connection'],
      ],
    ],
    [
      'a rejected key shows that the panel is there',
      [
        ['a', 'connection'],
        ['b', 'connection'],
        ['d', 'key_address'],
        ['c', 'connection'],
      ],
    ],
    [
      'a key that is rejected and a panel out of reach are mixed',
      [
        ['a', 'key_address'],
        ['b', 'key_address'],
        ['c', 'connection'],
        ['d', 'connection'],
      ],
    ],
    [
      'a firewall answers, which may stand before one path only',
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
      'three servers meet a firewall',
      [
        ['a', 'challenge_page'],
        ['b', 'challenge_page'],
        ['c', 'panel_error'],
      ],
      true,
    ],
    [
      'one server meets it five times in a row: it may be the only one that asks',
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
      'two servers meet it',
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
  ])('when %s, doubts are %s', (_name, calls, isDoubtful) => {
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
    // The panel's answer says that it is there; whether it is of use, the probe tells.
    [open('connection'), 'rate_limited', 'open'],
    [open('connection'), 'key_address', 'open'],
  ])('%j, when a call that ran on ends with %s, is %s', (state, cause, kind) => {
    expect(after([['a', cause]], 10, state).kind).toBe(kind);
  });

  it.each<[CauseCode, CauseCode, Partial<BreakerState>]>([
    ['connection', 'rate_limited', { kind: 'closed' }],
    ['key_address', 'rate_limited', open('key_address')],
    ['connection', 'key_address', open('key_address')],
    ['connection', 'panel_error', open('panel_error')],
    // A panel's own error may come before it looks at the key.
    ['key_address', 'panel_error', open('panel_error')],
    ['key_address', 'unexpected', open('key_address')],
  ])('for %s, when its probe ends with %s, is %j', (before, cause, state) => {
    const probed = stepBreaker(probing(before), {
      type: 'ended',
      now: 1_000,
      end: end('', cause, { endpoint: 'listing', isVerification: true }),
    });
    expect(probed).toMatchObject(state);
  });

  it('lets one probe out a minute', () => {
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

  it('counts the minute anew from a probe that a timer let out a moment early', () => {
    const state = stepBreaker(open('connection'), { type: 'probeStarted', now: 59_999 });
    expect(state).toMatchObject({ kind: 'probing', probeAt: 119_999 });
  });
});

describe('Breaker', () => {
  it('tells how long calls must wait, and lets out nothing but the probe', async () => {
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

  it('forgets all that was held against another key', () => {
    const breaker = new Breaker(new ManualClock());
    breaker.ended(end('a', 'key_address', { fleetSize: 1 }));
    breaker.admitProbe();
    breaker.reset();
    expect(breaker.problem).toBeUndefined();
    expect(breaker.waitMs()).toBe(0);
  });
});

describe("an answer that isn't the panel's own", () => {
  const probed = (before: CauseCode, cause: CauseCode) =>
    stepBreaker(probing(before), {
      type: 'ended',
      now: 1_000,
      end: end('', cause, { endpoint: 'listing', isVerification: true }),
    });

  it('does not close the breaker, whatever opened it: a firewall is as bad as no connection', () => {
    expect(probed('connection', 'challenge_page')).toMatchObject(open('challenge_page'));
    expect(probed('key_address', 'challenge_page')).toMatchObject(open('challenge_page'));
  });
});
