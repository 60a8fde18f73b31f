import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { Sample } from '../../../src/domain/sample.ts';
import { ServerRecord } from '../../../src/fleet/server-record.ts';
import {
  compareObservations,
  type Observation,
  type SampleOrder,
} from '../../../src/fleet/server-samples.ts';
import { POLL_CACHE_MS } from '../../../src/panel/responses.ts';
import { type SampleValues, sampleOf } from '../../support/samples.ts';
import { target } from '../../support/targets.ts';

const SECOND = 1_000;
const DAY = 86_400 * SECOND;
const UNKNOWN = Number.NaN;

/** A frame that arrived at this time, from a server with this uptime. */
function frame(at: number, uptimeMs: number, more: Partial<Observation> = {}): Observation {
  return { source: 'socket', receivedAt: at, measuredFrom: at, state: 'running', uptimeMs, ...more };
}

/** A poll that started at this time. Its response arrived `tookMs` later. */
function poll(at: number, uptimeMs: number, tookMs = 0): Observation {
  return {
    source: 'poll',
    receivedAt: at + tookMs,
    measuredFrom: at - POLL_CACHE_MS,
    state: 'running',
    uptimeMs,
  };
}

const NOTHING: Observation = new Sample();

const off = (at: number) => frame(at, 0, { state: 'offline' });

type Row = [title: string, previous: Observation, next: Observation, verdict: SampleOrder, offAt?: number];

describe('compareObservations', () => {
  it.each<Row>([
    ['the first frame', NOTHING, frame(0, DAY), 'newer'],
    ['the first poll', NOTHING, poll(0, DAY), 'newer'],

    ['a frame after a frame', frame(0, DAY), frame(1_000, DAY + 1_000), 'newer'],
    ['a late frame', frame(0, DAY), frame(1_000, DAY + 200), 'newer'],
    ['a frame that was overtaken', frame(0, DAY), frame(20, DAY - 1_000), 'older'],
    [
      'a frame that seems overtaken by more than three seconds is accepted',
      frame(0, DAY),
      frame(3_001, DAY - 1_000),
      'newer',
    ],
    ['frames without uptime', frame(0, UNKNOWN), frame(20, UNKNOWN), 'newer'],
    ['a frame without uptime after one with uptime', frame(0, DAY), frame(20, UNKNOWN), 'newer'],
    ['a frame of the previous run after a restart', frame(0, 2_000), frame(500, DAY), 'older'],
    ['a frame of a new run whose start was not seen', frame(0, DAY), frame(10_000, 4_000), 'restarted'],
    ['a frame that shows the server is off', frame(0, DAY), off(20), 'newer'],
    ['the first frame of a new run', off(0), frame(30_000, 1_000), 'newer'],
    ['a frame from before the stop', off(0), frame(20, DAY), 'older', 0],
    [
      'a frame from before the stop, more than three seconds later, is accepted',
      off(0),
      frame(3_001, DAY),
      'newer',
      0,
    ],
    ['a new run soon after the stop', off(0), frame(2_500, 1_500), 'newer', 0],

    ['a poll after a frame, with possibly older data', frame(0, DAY), poll(1_000, DAY - 5_000), 'older'],
    ['a poll after a frame, with data of the same age', frame(0, DAY), poll(1_000, DAY), 'older'],
    ['a poll after a frame, with a later uptime', frame(0, DAY), poll(5_000, DAY + 3_000), 'newer'],
    [
      'a poll sent when no cached data can be older than the frame',
      frame(0, DAY),
      poll(POLL_CACHE_MS, DAY),
      'newer',
    ],
    ['a poll without uptime, possibly older', frame(0, UNKNOWN), poll(19_999, UNKNOWN), 'older'],
    ['a poll without uptime, certainly newer', frame(0, UNKNOWN), poll(20_000, UNKNOWN), 'newer'],
    ['a slow poll is judged by when it was sent', frame(0, UNKNOWN), poll(10_000, UNKNOWN, 25_000), 'older'],
    ['a poll with data of the previous run', frame(0, 5_000), poll(1_000, DAY), 'older'],
    ['a poll that shows a restart', frame(0, DAY), poll(60_000, 30_000), 'restarted'],

    ['a poll after a poll', poll(0, DAY), poll(30_000, DAY + 30_000), 'newer'],
    ['a poll after a poll, with a response from the same cache', poll(0, DAY), poll(15_000, DAY), 'newer'],
    ['a poll after a poll, with a restart between', poll(0, DAY), poll(30_000, 10_000), 'restarted'],
    ['a frame after a poll', poll(0, DAY), frame(100, DAY + 15_000), 'newer'],
    ['a frame after a poll, with a restart between', poll(0, DAY), frame(30_000, 10_000), 'restarted'],
  ])('%s', (_, previous, next, verdict, offAt) => {
    expect(compareObservations(previous, next, offAt)).toEqual(verdict);
  });

  it.each<[title: string, previous: Observation, next: Observation, isRestart: boolean]>([
    ['a run that continues through the gap', frame(0, 10_000), frame(300_000, 310_000), false],
    ['a new run that is longer than the previous one', frame(0, 10_000), frame(300_000, 200_000), true],
    ['a run that began at the start of the gap', frame(0, 10_000), frame(300_000, 299_000), true],
    ['a run with frames delayed by less than the jitter', frame(0, 4_000), frame(300_000, 299_500), false],
    ['a node whose clock was set back', frame(0, DAY), frame(300_000, DAY + 200_000), false],
    ['a frozen uptime', frame(0, 10_000), frame(300_000, 10_000), false],
    ['a poll of the new run', frame(0, 10_000), poll(300_000, 200_000), true],
    ['a poll that cached data of the old run can explain', frame(0, 10_000), poll(30_000, 20_500), false],
    ['a frame after a poll of the previous run', poll(0, 30_000), frame(300_000, 200_000), true],
    ['a container that has not started yet', frame(0, 0), frame(300_000, 200_000), false],
    ['a frame without uptime', frame(0, 10_000), frame(300_000, UNKNOWN), false],
  ])('detects a restart in a gap by a changed start time: %s', (_, previous, next, isRestart) => {
    expect(compareObservations(previous, next) === 'restarted').toBe(isRestart);
  });

  it('does not treat a delayed frame as a restart', () => {
    expect(
      compareObservations(frame(0, 10_000), frame(12_000, 11_000), undefined, true) === 'restarted',
    ).toBe(false);
  });

  it('distinguishes a restart in a gap from a run that continued, for any gap and uptimes', () => {
    const gap = fc.record({
      ranMs: fc.integer({ min: 1, max: DAY }),
      gapMs: fc.integer({ min: 10_000, max: DAY }),
      lateMs: fc.integer({ min: 0, max: 2_000 }),
      polled: fc.boolean(),
    });
    fc.assert(
      fc.property(
        gap,
        fc.double({ min: 0, max: 0.5, noNaN: true }),
        ({ ranMs, gapMs, lateMs, polled }, share) => {
          const at = (uptimeMs: number) =>
            polled ? poll(gapMs + lateMs, uptimeMs) : frame(gapMs + lateMs, uptimeMs);
          expect(compareObservations(frame(0, ranMs), at(ranMs + gapMs)) === 'restarted').toBe(false);
          // The old run may have continued for half of the gap, and the cache of polls can explain
          // the same time again.
          const offMs = Math.ceil(gapMs * share) + 8_000 + (polled ? POLL_CACHE_MS : 0);
          fc.pre(offMs < gapMs);
          expect(compareObservations(frame(0, ranMs), at(gapMs - offMs)) === 'restarted').toBe(true);
        },
      ),
    );
  });

  it('does not treat a drop of the uptime to more than the elapsed time as a restart', () => {
    expect(compareObservations(frame(0, DAY), frame(10_000, DAY / 2)) === 'restarted').toBe(false);
  });

  it('does not treat an overtaken frame in the first seconds of a run as a restart', () => {
    expect(compareObservations(frame(0, 2_000), frame(20, 1_000))).toEqual('older');
  });
});

describe('what is counted over samples', () => {
  const limits = { cpuCores: 2, memoryBytes: 2_000 };

  let record: ServerRecord;
  let now: number;

  /** A frame of a running server, without its uptime. */
  function frame(afterMs: number, values: SampleValues = {}): void {
    now += afterMs;
    record.socketSample(sampleOf({ state: 'running', ...values }), now);
  }

  const shown = () => record.snapshot(now, { toUnixMs: (ms: number) => ms });

  function start(target_ = target({ limits })): void {
    record = new ServerRecord(target_, { socket: 60_000, poll: 60_000 });
    record.interrupted();
    now = 10_000_000;
  }

  beforeEach(() => start());

  it('observed and running time are counted by the state at the beginning of each gap, without gaps longer than a minute', () => {
    for (const afterMs of [0, 1_000]) frame(afterMs);
    frame(10_000, { state: 'offline' });
    for (const afterMs of [60_000, 60_001]) frame(afterMs);
    frame(1_000, { state: 'offline' });
    expect(shown()).toMatchObject({ observed_seconds_total: 72, running_seconds_total: 12 });
  });

  it('CPU time is that of a constant usage, however the samples are spaced, without gaps longer than a minute', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 120_000 })), (gaps) => {
        start();
        let seconds = 0;
        frame(0, { cpuCores: 3 });
        for (const gap of gaps) {
          frame(gap, { cpuCores: 3 });
          if (gap <= 60_000) seconds += gap / 1_000;
          expect(shown().cpu_seconds_total).toBeCloseTo(3 * seconds, 6);
        }
      }),
    );
  });

  it('CPU time counts nothing for a sample without a CPU usage', () => {
    frame(0);
    expect(shown().cpu_seconds_total).toBeUndefined();
    frame(1_000, { cpuCores: 2 });
    frame(1_000);
    frame(1_000, { cpuCores: 1 });
    expect(shown().cpu_seconds_total).toBe(3);
  });

  it.each([
    ['at 95 % of the limit', 0, 0.95, 1],
    ['not below 95 %', 0, 0.945, 0],
    ['above the limit', 0, 4, 1],
    ['for a gap of five seconds', 4_000, 1, 5],
    ['not for a longer one', 4_001, 1, 0],
  ])('saturation is counted %s', (_title, longerMs, share, seconds) => {
    frame(0);
    frame(1_000 + longerMs, { cpuCores: 2 * share });
    frame(1_000 + longerMs, { memoryBytes: 2_000 * share });
    expect(shown()).toMatchObject({
      cpu_saturated_seconds_total: seconds,
      memory_saturated_seconds_total: seconds,
    });
  });

  it('a counter stays at its highest value while lower ones arrive, for a minute from the first of them', () => {
    const received = [5, 3, 6, 4, 5, 5, 3].map((networkReceiveBytes, index) => {
      frame(index === 4 ? 59_999 : 1, { networkReceiveBytes });
      return shown().network_receive_bytes_total;
    });
    expect(received).toEqual([5, 5, 6, 6, 6, 5, 5]);
  });
});
