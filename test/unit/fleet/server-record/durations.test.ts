import fc from 'fast-check';
import { beforeEach, expect, it } from 'vitest';
import { ServerRecord } from '../../../../src/fleet/server-record.ts';
import { type SampleValues, sampleOf } from '../../../support/samples.ts';
import { target } from '../../../support/targets.ts';

const limits = { cpuCores: 2, memoryBytes: 2_000 };

let record: ServerRecord;
let now: number;

/** A frame of a server that runs, without its uptime. */
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
