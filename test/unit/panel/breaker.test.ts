import { describe, expect, it } from 'vitest';
import {
  Breaker,
  type BreakerState,
  CLOSED,
  type Outcome,
  outcomeOf,
  stepBreaker,
} from '../../../src/panel/breaker.ts';
import { PanelError } from '../../../src/panel/errors.ts';
import { ManualClock } from '../../support/manual-clock.ts';

type Call = readonly [subject: string, outcome: Outcome];

/** The state after calls that ended one after another at instant 0. */
function after(calls: readonly Call[], fleetSize = 10, state: BreakerState = CLOSED): BreakerState {
  const end = (before: BreakerState, [subject, outcome]: Call) =>
    stepBreaker(before, { type: 'ended', now: 0, outcome, subject, isProbe: false, fleetSize });
  return calls.reduce(end, state);
}

const open = (trouble: 'refused' | 'unreachable') => ({ kind: 'open', trouble, probeAt: 60_000 }) as const;
const probing = (trouble: 'refused' | 'unreachable') =>
  ({ kind: 'probing', trouble, probeAt: 60_000 }) as const;

describe('a closed breaker', () => {
  it.each<[string, readonly Call[], number, string]>([
    [
      '3 servers are refused',
      [
        ['a', 'refused'],
        ['b', 'refused'],
        ['c', 'refused'],
      ],
      10,
      'refused',
    ],
    [
      '3 servers find no panel',
      [
        ['a', 'unreachable'],
        ['b', 'unreachable'],
        ['c', 'unreachable'],
      ],
      10,
      'unreachable',
    ],
    ['the only server is refused', [['a', 'refused']], 1, 'refused'],
    [
      'both servers are refused',
      [
        ['a', 'refused'],
        ['b', 'refused'],
      ],
      2,
      'refused',
    ],
    ['a fleet of none is refused', [['', 'refused']], 0, 'refused'],
    [
      'unclear ends come between',
      [
        ['a', 'refused'],
        ['b', 'refused'],
        ['d', 'unclear'],
        ['c', 'refused'],
      ],
      10,
      'refused',
    ],
    [
      'throttling comes between refusals',
      [
        ['a', 'refused'],
        ['b', 'refused'],
        ['d', 'throttled'],
        ['c', 'refused'],
      ],
      10,
      'refused',
    ],
  ])('opens when %s', (_name, calls, fleetSize, trouble) => {
    expect(after(calls, fleetSize)).toEqual(open(trouble as 'refused'));
  });

  it.each<[string, readonly Call[]]>([
    [
      'one server is refused thrice',
      [
        ['a', 'refused'],
        ['a', 'refused'],
        ['a', 'refused'],
      ],
    ],
    [
      'a success comes between',
      [
        ['a', 'refused'],
        ['b', 'refused'],
        ['d', 'success'],
        ['c', 'refused'],
      ],
    ],
    [
      'another refusal shows that the key is taken',
      [
        ['a', 'refused'],
        ['b', 'refused'],
        ['d', 'answered'],
        ['c', 'refused'],
      ],
    ],
    [
      'an answer comes between',
      [
        ['a', 'unreachable'],
        ['b', 'unreachable'],
        ['d', 'answered'],
        ['c', 'unreachable'],
      ],
    ],
    [
      'throttling shows that the panel is there',
      [
        ['a', 'unreachable'],
        ['b', 'unreachable'],
        ['d', 'throttled'],
        ['c', 'unreachable'],
      ],
    ],
    [
      'a refusal shows that the panel is there',
      [
        ['a', 'unreachable'],
        ['b', 'unreachable'],
        ['d', 'refused'],
        ['c', 'unreachable'],
      ],
    ],
    [
      'troubles are mixed',
      [
        ['a', 'refused'],
        ['b', 'refused'],
        ['c', 'unreachable'],
        ['d', 'unreachable'],
      ],
    ],
  ])('stays closed when %s', (_name, calls) => {
    expect(after(calls).kind).toBe('closed');
  });
});

describe('an open breaker', () => {
  it.each<[BreakerState, Outcome, BreakerState['kind']]>([
    [open('refused'), 'success', 'closed'],
    [open('refused'), 'answered', 'closed'],
    [open('refused'), 'throttled', 'open'],
    [open('refused'), 'refused', 'open'],
    [open('refused'), 'unreachable', 'open'],
    [open('refused'), 'unclear', 'open'],
    [open('unreachable'), 'success', 'closed'],
    [open('unreachable'), 'answered', 'closed'],
    [open('unreachable'), 'throttled', 'closed'],
    [open('unreachable'), 'refused', 'closed'],
    [open('unreachable'), 'unreachable', 'open'],
    [open('unreachable'), 'unclear', 'open'],
    [probing('refused'), 'unclear', 'probing'],
    [probing('unreachable'), 'success', 'closed'],
  ])('%j, when a call that ran on ends %s, is %s', (state, outcome, kind) => {
    expect(after([['a', outcome]], 10, state).kind).toBe(kind);
  });

  it('takes the refusal of the only server, after a panel out of reach, for its new trouble', () => {
    expect(after([['a', 'refused']], 1, open('unreachable'))).toEqual(open('refused'));
  });

  it('lets one probe out a minute', () => {
    const start = (state: BreakerState, now: number) => stepBreaker(state, { type: 'started', now });
    expect(start(open('refused'), 59_999)).toEqual(open('refused'));
    const state = start(open('refused'), 60_000);
    expect(state).toEqual({ kind: 'probing', trouble: 'refused', probeAt: 120_000 });
    expect(
      stepBreaker(state, {
        type: 'ended',
        now: 61_000,
        outcome: 'refused',
        subject: 'a',
        isProbe: true,
        fleetSize: 9,
      }),
    ).toEqual({ kind: 'open', trouble: 'refused', probeAt: 120_000 });
  });
});

describe('outcomeOf', () => {
  const fromPanel = { fromPanel: true };
  it.each<[PanelError | Error, Outcome]>([
    [new PanelError('unauthorized', 'x'), 'refused'],
    [new PanelError('dns', 'x'), 'unreachable'],
    [new PanelError('panel_unavailable', 'x', fromPanel), 'unreachable'],
    [new PanelError('forbidden', 'x', fromPanel), 'answered'],
    [new PanelError('forbidden', 'a page of a firewall'), 'unclear'],
    [new PanelError('not_found', 'x', fromPanel), 'answered'],
    [new PanelError('conflict', 'x', fromPanel), 'answered'],
    [new PanelError('node_unreachable', 'x', fromPanel), 'answered'],
    [new PanelError('server_error', 'x', fromPanel), 'answered'],
    [new PanelError('server_error', 'a page'), 'unclear'],
    [new PanelError('rate_limited', 'x', fromPanel), 'throttled'],
    [new PanelError('redirect', 'x'), 'unclear'],
    [new PanelError('bad_answer', 'x'), 'unclear'],
    [new Error('withdrawn'), 'unclear'],
  ])('%s is %s', (error, outcome) => {
    expect(outcomeOf(error)).toBe(outcome);
  });
});

describe('Breaker', () => {
  it('tells how long calls must wait', async () => {
    const clock = new ManualClock();
    const breaker = new Breaker(clock);
    expect(breaker.waitMs()).toBe(0);
    expect(breaker.started()).toBe(false);
    breaker.ended({ outcome: 'refused', subject: 'a', isProbe: false, fleetSize: 1 });
    expect(breaker.trouble).toBe('refused');
    await clock.advance(20_000);
    expect(breaker.waitMs()).toBe(40_000);
    await clock.advance(40_000);
    expect(breaker.waitMs()).toBe(0);
    expect(breaker.started()).toBe(true);
    expect(breaker.waitMs()).toBe(Number.POSITIVE_INFINITY);
    breaker.ended({ outcome: 'unclear', subject: 'a', isProbe: true, fleetSize: 1 });
    expect(breaker.waitMs()).toBe(60_000);
  });
});

describe('an answer that is no word of the panel on a server', () => {
  const refused = new PanelError('server_error', 'answered 500 with a page', { status: 500 });
  const cut = new PanelError('network', 'the connection was cut');

  it('shows that the panel is reached', () => {
    expect(outcomeOf(refused)).toBe('reached');
    expect(outcomeOf(cut)).toBe('unreachable');
    expect(outcomeOf(new Error('withdrawn'))).toBe('unclear');
  });

  it('closes a breaker that was open for a panel out of reach, and none that is open for a refused key', () => {
    const probed = (trouble: 'unreachable' | 'refused') =>
      stepBreaker(
        { kind: 'probing', trouble, probeAt: 60_000 },
        { type: 'ended', now: 1_000, outcome: 'reached', subject: 'a', isProbe: true, fleetSize: 5 },
      );
    expect(probed('unreachable')).toMatchObject({ kind: 'closed' });
    expect(probed('refused')).toMatchObject({ kind: 'open', trouble: 'refused' });
  });
});
