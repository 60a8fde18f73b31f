import { beforeEach, describe, expect, it } from 'vitest';
import { ServerRecord } from '../../../src/fleet/server-record.ts';
import { PanelError } from '../../../src/panel/api.ts';
import type { Resources } from '../../../src/panel/dialect.ts';
import {
  afterPoll,
  type EndedPoll,
  isPollRetry,
  NEVER_POLLED,
  nextPollAt,
  type PollState,
  resultOf,
} from '../../../src/session/plan.ts';
import { Poller, type SessionContext } from '../../../src/session/session.ts';
import { FakeGateway, RESOURCES } from '../../support/fleet-bench.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { target } from '../../support/targets.ts';

const INTERVAL = 30_000;
const ANSWERED: EndedPoll = { type: 'answered' };
const FAILED = resultOf({ cause: 'node_error', detail: '500' });
const REFUSED = resultOf({ cause: 'forbidden', detail: '403' });

/** When polls start that each take some time and have these results. */
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

  it('wait until polling is required', () => {
    expect(nextPollAt(NEVER_POLLED, 12_000, INTERVAL)).toBe(12_000);
  });

  it('are refused if the panel suspended the server, and fail without data', () => {
    expect(resultOf({ ...RESOURCES, suspended: true })).toMatchObject({
      type: 'refused',
      problem: { cause: 'suspended' },
    });
    expect(resultOf({ ...RESOURCES, sample: undefined })).toMatchObject({ type: 'failed' });
    expect(resultOf(RESOURCES)).toEqual(ANSWERED);
  });
});

describe('a poller', () => {
  const on = (at = Number.NEGATIVE_INFINITY, isOutdated = false) => ({
    at,
    isOutdated,
    pollIntervalMs: INTERVAL,
    stalenessMs: 60_000,
  });

  let clock: ManualClock;
  let panel: FakeGateway;
  let changes: number;
  let signals: AbortSignal[];
  let answers: ((resources: Resources) => void)[];
  let poller: Poller;

  beforeEach(() => {
    clock = new ManualClock();
    panel = new FakeGateway();
    changes = 0;
    signals = [];
    answers = [];
    panel.answerResources = (_, signal) => {
      signals.push(signal);
      return new Promise((resolve) => answers.push(resolve));
    };
    const record = new ServerRecord(target(), { socket: 60_000, poll: 60_000 });
    const context = { clock, panel, random: () => 0, telemetry: {} } as Partial<SessionContext>;
    poller = new Poller(context as SessionContext, record, { changed: () => (changes += 1) });
  });

  const polls = () => panel.asked('resources').length;

  it('polls when its plan says so', async () => {
    poller.follow(on(clock.now() + 30_000));
    poller.follow(on(clock.now() + 12_000));
    await clock.advance(11_999);
    expect(polls()).toBe(0);
    await clock.advance(1);
    expect(polls()).toBe(1);
  });

  it('are needed earlier the longer ago the last one ended', async () => {
    const answerAfter = async (waitMs: number) => {
      poller.follow(on());
      await clock.advance(waitMs);
      answers.at(-1)?.(RESOURCES);
      await clock.advance(0);
    };
    await answerAfter(0);
    await clock.advance(INTERVAL);
    await answerAfter(25_000);
    await clock.advance(5_000);
    await answerAfter(0);
    const [, second = 0, third] = panel.asks.map(({ deadline }) => deadline);
    // Asked 30 s later, but the last one ended only 5 s before.
    expect(third).toBe(second + 25_000 + INTERVAL);
  });

  it('never runs two polls at once', async () => {
    for (let turn = 0; turn < 9; turn += 1) {
      poller.follow(on());
      await clock.advance(14_000);
    }
    expect(polls()).toBe(1);
    expect(clock.pending).toBe(0);
    answers[0]?.(RESOURCES);
    await clock.advance(0);
    expect([changes, poller.state.result]).toEqual([1, ANSWERED]);
  });

  it('aborts its poll when polling ends, ignores what comes of it, and leaves no timer', async () => {
    poller.follow(on());
    await clock.advance(0);
    poller.follow(undefined);
    expect(signals[0]?.aborted).toBe(true);
    const { state } = poller;
    answers[0]?.(RESOURCES);
    await clock.advance(600_000);
    expect([changes, clock.pending, poller.state]).toEqual([0, 0, state]);
    // The next one isn't earlier because of that.
    expect(nextPollAt(state, 0, INTERVAL)).toBe(state.startedAt + INTERVAL);
  });

  it('counts failures anew once they are outdated, also for a call that waits', async () => {
    const refusal = new PanelError({ cause: 'forbidden', detail: '403' });
    panel.answerResources = () => Promise.reject(refusal);
    poller.follow(on());
    await clock.advance(0);
    expect(isPollRetry(poller.state)).toBe(true);
    panel.answerResources = () => new Promise((_, reject) => answers.push(() => reject(refusal)));
    poller.follow(on());
    await clock.advance(0);
    expect(panel.asks.at(-1)?.isRetry?.()).toBe(true);
    poller.follow(on(undefined, true));
    expect(panel.asks.at(-1)?.isRetry?.()).toBe(false);
    answers[0]?.(RESOURCES);
    await clock.advance(0);
    expect(poller.state.inARow).toBe(1);
  });
});
