import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextPollAt } from '../../../src/session/poll-plan.ts';
import {
  afterPoll,
  type EndedPoll,
  isPollRetry,
  NEVER_POLLED,
  type PollState,
  polledStalenessMs,
  pollResult,
} from '../../../src/session/poll-state.ts';
import { RESOURCES } from '../../support/fleet-bench.ts';

const INTERVAL = 30_000;
const ANSWERED: EndedPoll = { type: 'answered' };
const FAILED = pollResult({ cause: 'node_error', detail: '500' });
const REFUSED = pollResult({ cause: 'forbidden', detail: '403' });

/** The start times of polls with this duration and these results. */
function starts(
  results: readonly EndedPoll[],
  { takesMs = 0, random = 0, intervalMs = INTERVAL } = {},
): { readonly at: readonly number[]; readonly retries: readonly boolean[] } {
  let state: PollState = NEVER_POLLED;
  let now = 0;
  const at: number[] = [];
  const retries: boolean[] = [];
  for (const result of results) {
    now = Math.max(now, nextPollAt(state, 0, intervalMs));
    at.push(now);
    retries.push(isPollRetry(state));
    const begun = { ...state, startedAt: now };
    now += takesMs;
    state = afterPoll(begun, result, { now, random, intervalMs });
  }
  return { at, retries };
}

const times = (count: number, result: EndedPoll) => Array.from({ length: count }, () => result);

describe('polls', () => {
  it('come at their interval, measured from their start', () => {
    expect(starts(times(4, ANSWERED)).at).toEqual([0, 30_000, 60_000, 90_000]);
    expect(starts(times(4, ANSWERED), { takesMs: 20_000 }).at).toEqual([0, 30_000, 60_000, 90_000]);
    expect(starts(times(3, ANSWERED), { takesMs: 70_000 }).at).toEqual([0, 70_000, 140_000]);
  });

  it('of servers that were polled first at the same time are spread: the second comes up to half an interval later', () => {
    expect(starts(times(3, ANSWERED), { random: 1 }).at).toEqual([0, 45_000, 75_000]);
  });

  it('that fail are as rare as trials of what is in trouble, and then return to their interval', () => {
    const { at, retries } = starts([...times(6, FAILED), ...times(3, ANSWERED)]);
    expect(at).toEqual([0, 15_000, 45_000, 105_000, 165_000, 225_000, 285_000, 315_000, 345_000]);
    expect(retries).toEqual([false, false, false, true, true, true, true, false, false]);
  });

  it('that often failed are no more frequent than others', () => {
    expect(starts(times(5, FAILED), { intervalMs: 300_000 }).at).toEqual([
      0, 15_000, 45_000, 345_000, 645_000,
    ]);
  });

  it('that fail wait from their end, because a node that hangs takes 20 s to fail', () => {
    expect(starts(times(3, FAILED), { takesMs: 20_000 }).at).toEqual([0, 35_000, 85_000]);
  });

  it('that are refused wait for the slow retry', () => {
    expect(starts(times(3, REFUSED))).toEqual({ at: [0, 60_000, 360_000], retries: [false, true, true] });
  });

  it('are refused if the panel suspended the server, and fail without data', () => {
    expect(pollResult({ ...RESOURCES, suspended: true })).toMatchObject({
      type: 'refused',
      problem: { cause: 'suspended' },
    });
    expect(pollResult({ ...RESOURCES, sample: undefined })).toMatchObject({ type: 'failed' });
    expect(pollResult(RESOURCES)).toEqual(ANSWERED);
  });
});

const MINUTE = 60_000;

describe('the staleness of a polled sample', () => {
  it.each([
    ['is as configured if two polls fit into it', 60_000, 30_000, 0, 60_000],
    ['is two and a half intervals if they are longer', 60_000, 40_000, 0, 100_000],
    ["doesn't grow by the moments that each call takes", 60_000, 30_000, 15_000, 60_000],
    ['grows while polls wait long for their calls', 60_000, 30_000, 20_000, 125_000],
    ["doesn't grow by a wait that the configured staleness allows for", 300_000, 30_000, 60_000, 300_000],
  ])('%s', (_, stalenessMs, intervalMs, lateMs, expected) => {
    expect(polledStalenessMs({ stalenessMs, pollIntervalMs: intervalMs }, lateMs)).toBe(expected);
  });

  it('is never shorter than configured, or than the time from one poll to the next', () => {
    const ms = fc.integer({ min: 5_000, max: 60 * MINUTE });
    fc.assert(
      fc.property(ms, ms, fc.nat(10 * MINUTE), (stalenessMs, intervalMs, lateMs) => {
        const actual = polledStalenessMs({ stalenessMs, pollIntervalMs: intervalMs }, lateMs);
        expect(actual).toBeGreaterThanOrEqual(stalenessMs);
        expect(actual).toBeGreaterThan(intervalMs);
      }),
    );
  });
});
