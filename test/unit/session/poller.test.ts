import { beforeEach, describe, expect, it, vi } from 'vitest';
import { ServerRecord } from '../../../src/fleet/server-record.ts';
import { PanelError } from '../../../src/panel/panel-error.ts';
import { POLL_CACHE_MS, type Resources } from '../../../src/panel/responses.ts';
import { atOnce, type InTurn } from '../../../src/session/connect-pacer.ts';
import { nextPollAt } from '../../../src/session/poll-plan.ts';
import { type EndedPoll, isPollRetry } from '../../../src/session/poll-state.ts';
import { Poller } from '../../../src/session/poller.ts';
import type { SessionContext, SocketAccess } from '../../../src/session/session-ports.ts';
import { FakeGateway, RESOURCES } from '../../support/fleet-bench.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { target } from '../../support/targets.ts';

const INTERVAL = 30_000;
const ANSWERED: EndedPoll = { type: 'answered' };

describe('a poller', () => {
  const on = (at = Number.NEGATIVE_INFINITY, isOutdated = false) => ({
    at,
    isOutdated,
    pollIntervalMs: INTERVAL,
    stalenessMs: 60_000,
  });

  let clock: ManualClock;
  let panel: FakeGateway;
  /** Due polls start at once, unless a test makes them wait for their turn. */
  let inTurn: InTurn;
  let changes: number;
  let signals: AbortSignal[];
  let answers: ((resources: Resources) => void)[];
  let poller: Poller;
  let record: ServerRecord;

  beforeEach(() => {
    clock = new ManualClock();
    panel = new FakeGateway();
    inTurn = atOnce;
    changes = 0;
    signals = [];
    answers = [];
    panel.answerResources = (_, signal) => {
      signals.push(signal);
      return new Promise((resolve) => answers.push(resolve));
    };
    record = new ServerRecord(target(), { socket: 60_000, poll: 60_000 });
    const sockets = { inTurn: (begin) => inTurn(begin) } as SocketAccess;
    const context: Partial<SessionContext> = { clock, panel, sockets, random: () => 0, telemetry: {} };
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

  it('begins a poll that is due in its turn of the event loop, unless its plan has changed', async () => {
    const begins = new Set<() => void>();
    inTurn = (begin) => {
      begins.add(begin);
      return () => void begins.delete(begin);
    };
    poller.follow(on());
    await clock.advance(0);
    expect([polls(), begins.size]).toEqual([0, 1]);
    poller.follow(undefined);
    expect(begins.size).toBe(0);
    poller.follow(on());
    await clock.advance(0);
    for (const begin of begins) begin();
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
    // It starts 25 s after its due time, only 5 s before the next one would be due.
    expect(third).toBe(second + 25_000 + INTERVAL);
  });

  it("has no use for what was requested before its last sample, or is in the panel's cache since then", async () => {
    const stored = vi.spyOn(record, 'pollSample');
    poller.follow(on());
    await clock.advance(0);
    const requestedAt = clock.now() - 5_000;
    answers[0]?.({ ...RESOURCES, requestedAt });
    await clock.advance(0);
    expect(stored).toHaveBeenCalledWith(expect.anything(), requestedAt, clock.now());
    const { sampledAt } = record;
    await clock.advance(INTERVAL);
    poller.follow(on());
    await clock.advance(0);
    expect(panel.asks.map(({ usefulFrom }) => usefulFrom)).toEqual([
      Number.NEGATIVE_INFINITY,
      (sampledAt ?? 0) + POLL_CACHE_MS,
    ]);
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
    // The next poll isn't earlier for this reason.
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
