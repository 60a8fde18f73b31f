import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Problem } from '../../../src/domain/problem.ts';
import {
  type Circuit,
  type CircuitEvent,
  CLOSED,
  DOUBTFUL,
  stepCircuit,
  subjectsNeeded,
  TRIAL_GAPS_MS,
} from '../../../src/panel/circuit.ts';

const PROBLEM: Problem = { cause: 'node_connection', detail: 'connection refused' };

const failed = (subject: string, now = 0, needed = 3, group?: string): CircuitEvent => ({
  type: 'failed',
  subject,
  group,
  problem: PROBLEM,
  now,
  needed,
});
const tried = (subject: string, now = 0): CircuitEvent => ({ type: 'tried', subject, now });
const SUCCEEDED: CircuitEvent = { type: 'succeeded' };

const after = (events: readonly CircuitEvent[], first: Circuit = CLOSED) =>
  events.reduce((circuit, event) => stepCircuit(circuit, event), first);

describe('a circuit', () => {
  it('that is open remembers no more subjects that fail', () => {
    const events = Array.from({ length: 100 }, (_, n) => failed(`server ${n}`));
    expect(after(events)).toMatchObject({ state: 'open', failed: ['server 0', 'server 1', 'server 2'] });
  });

  const rows: readonly (readonly [what: string, events: readonly CircuitEvent[], state: Circuit['state']])[] =
    [
      ['stays closed after failures of two subjects', [failed('a'), failed('b')], 'closed'],
      ['opens after failures of three subjects', [failed('a'), failed('b'), failed('c')], 'open'],
      [
        'stays closed after three failures of one subject, if others exist',
        [failed('a'), failed('a'), failed('a')],
        'closed',
      ],
      ['counts anew after a success', [failed('a'), failed('b'), SUCCEEDED, failed('c')], 'closed'],
      ['opens after the only subject failed twice', [failed('a', 0, 1), failed('a', 0, 1)], 'open'],
      ['stays closed after the only subject failed once', [failed('a', 0, 1)], 'closed'],
      [
        'counts groups instead of subjects',
        [failed('a', 0, 2, 'n'), failed('b', 0, 2, 'n'), failed('c', 0, 2, 'n')],
        'closed',
      ],
      ['opens once enough groups failed', [failed('a', 0, 2, 'n'), failed('b', 0, 2, 'm')], 'open'],
      ['closes with the first success', [failed('a'), failed('b'), failed('c'), SUCCEEDED], 'closed'],
      ['is doubtful when something takes too long', [{ type: 'late', now: 0 }], 'doubtful'],
      ['stays closed when its problem is doubted', [{ type: 'doubted' }], 'closed'],
      [
        'is doubtful when its problem is doubted',
        [failed('a'), failed('b'), failed('c'), { type: 'doubted' }],
        'doubtful',
      ],
      [
        'opens again with the next failure after its problem was doubted',
        [failed('a'), failed('b'), failed('c'), { type: 'doubted' }, failed('a')],
        'open',
      ],
      [
        'stays open when something takes too long',
        [failed('a'), failed('b'), failed('c'), { type: 'late', now: 0 }],
        'open',
      ],
    ];
  it.each(rows)('%s', (_what, events, state) => {
    expect(after(events).state).toBe(state);
  });

  it('opens at once for a decisive failure', () => {
    expect(stepCircuit(CLOSED, { ...failed('a'), isDecisive: true } as CircuitEvent).state).toBe('open');
  });

  it('shows the latest problem', () => {
    const other: Problem = { cause: 'node_timeout', detail: 'timed out' };
    const open = after([failed('a'), failed('b'), failed('c')]);
    const now = stepCircuit(open, { ...failed('d'), problem: other } as CircuitEvent);
    expect(now.state === 'open' && now.problem).toBe(other);
  });

  it('admits trials 15 s, 30 s, and then every minute after the start of the last, however long that took', () => {
    let circuit = after([failed('a', 1), failed('b', 2), failed('c', 3)]);
    const gaps: number[] = [];
    let now = 3;
    for (let trial = 0; trial < 5; trial += 1) {
      const trialAt = circuit.state === 'closed' ? Number.NaN : circuit.trialAt;
      gaps.push(trialAt - now);
      now = trialAt;
      circuit = after([tried('a', now), failed('a', now + 25_000)], circuit);
    }
    expect(gaps).toEqual([15_000, 30_000, 60_000, 60_000, 60_000]);
  });

  it('starts again with the first gap after a success', () => {
    const open = after([failed('a'), failed('b'), failed('c'), tried('a'), failed('a', 15_000)]);
    const again = after([SUCCEEDED, failed('a', 50), failed('b', 50), failed('c', 50)], open);
    expect(again).toMatchObject({ state: 'open', trialAt: 50 + 15_000 });
  });

  it('is doubtful about what was never tried, admits a trial at once, and the next after a gap', () => {
    expect(DOUBTFUL).toMatchObject({ state: 'doubtful', trialAt: Number.NEGATIVE_INFINITY });
    const failing = after([tried('a', 7), failed('a', 8)], DOUBTFUL);
    expect(failing).toMatchObject({ state: 'doubtful', trialAt: 7 + 15_000, trying: undefined });
  });

  it('is not moved by failures of calls that started before the trial', () => {
    const trying = after([failed('a'), failed('b'), failed('c'), tried('a')]);
    expect(after([failed('d', 9)], trying)).toMatchObject({ trying: { subject: 'a' }, trialAt: 15_000 });
  });

  it('admits the next trial if one ends without showing anything', () => {
    const open = after([failed('a'), failed('b'), failed('c')]);
    const withdrawn = after([tried('a'), { type: 'withdrawn', subject: 'a' }], open);
    expect(withdrawn).toMatchObject({ trialAt: 15_000, trying: undefined });
  });

  it('ignores a withdrawal by anything but its trial', () => {
    const trying = after([failed('a'), failed('b'), failed('c'), tried('a')]);
    expect(stepCircuit(trying, { type: 'withdrawn', subject: 'b' })).toBe(trying);
  });
});

describe('subjectsNeeded', () => {
  it.each([
    [0, 1],
    [1, 1],
    [2, 2],
    [3, 3],
    [500, 3],
  ])('of %i subjects is %i', (subjects, needed) => {
    expect(subjectsNeeded(subjects)).toBe(needed);
  });
});

const anyEvent: fc.Arbitrary<CircuitEvent> = fc.oneof(
  fc.constant(SUCCEEDED),
  fc
    .record({
      subject: fc.constantFrom('a', 'b', 'c', 'd'),
      now: fc.nat(1_000_000),
      needed: fc.integer({ min: 1, max: 3 }),
    })
    .map(({ subject, now, needed }) => failed(subject, now, needed)),
  fc.tuple(fc.constantFrom('a', 'b'), fc.nat(1_000_000)).map(([subject, now]) => tried(subject, now)),
  fc.constantFrom('a', 'b').map((subject): CircuitEvent => ({ type: 'withdrawn', subject })),
  fc.nat(1_000_000).map((now): CircuitEvent => ({ type: 'late', now })),
);

describe('any circuit', () => {
  it('is closed after a success, and has a trial under way only while it is not closed', () => {
    fc.assert(
      fc.property(fc.array(anyEvent), fc.constantFrom(CLOSED, DOUBTFUL), (events, first) => {
        const circuit = after(events, first);
        expect(stepCircuit(circuit, SUCCEEDED)).toEqual(CLOSED);
        if (circuit.state === 'closed') expect(circuit).not.toHaveProperty('trying');
      }),
    );
  });

  it('never opens with fewer distinct failures than needed since the last success', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', 'b', 'c', 'ok')), (calls) => {
        const events = calls.map((call) => (call === 'ok' ? SUCCEEDED : failed(call)));
        const since = calls.slice(calls.lastIndexOf('ok') + 1);
        expect(after(events).state === 'open').toBe(new Set(since).size >= 3);
      }),
    );
  });

  it('waits at most the longest gap for its next trial', () => {
    fc.assert(
      fc.property(fc.array(anyEvent), (events) => {
        const circuit = after(events);
        if (circuit.state === 'closed') return;
        const latest = Math.max(0, ...events.map((event) => ('now' in event ? event.now : 0)));
        expect(circuit.trialAt).toBeLessThanOrEqual(latest + Math.max(...TRIAL_GAPS_MS));
      }),
    );
  });
});
