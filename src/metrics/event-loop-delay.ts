// Gauges of the event loop's delays.

import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';

/**
 * Milliseconds between two measurements: with prom-client's 10, an idle process wakes 100 times a
 * second.
 */
const EVERY_MS = 250;

/** The interval for prom-client's own monitor, with which it never measures. */
export const NEVER_MS = 2 ** 31 - 1;

type ReadDelay = (of: IntervalHistogram) => number;

/** The histogram contains the time between two measurements, in nanoseconds. */
const delay = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e9 - EVERY_MS / 1e3);

/** The gauges by the last part of their names, in seconds. */
const VALUES: Readonly<Record<string, readonly [what: string, read: ReadDelay]>> = {
  min: ['minimum', ({ min }) => delay(min)],
  max: ['maximum', ({ max }) => delay(max)],
  mean: ['mean', ({ mean }) => delay(mean)],
  stddev: ['standard deviation', ({ stddev }) => stddev / 1e9],
  p50: ['50th percentile', (of) => delay(of.percentile(50))],
  p90: ['90th percentile', (of) => delay(of.percentile(90))],
  p99: ['99th percentile', (of) => delay(of.percentile(99))],
};

/**
 * Replaces prom-client's gauges, whose values include the time between two measurements. These are
 * only the delays since the last scrape.
 */
export function collectEventLoopDelays(registry: Registry): void {
  const histogram = monitorEventLoopDelay({ resolution: EVERY_MS });
  histogram.enable();
  const gauges = Object.entries(VALUES).map(([name, [what, read]]) => {
    const gauge = `nodejs_eventloop_lag_${name}_seconds`;
    registry.removeSingleMetric(gauge);
    const help = `The ${what} of the event loop's delays since the last scrape, sampled every ${EVERY_MS} ms.`;
    return { read, gauge: new Gauge({ name: gauge, help, registers: [registry] }) };
  });
  const first = gauges[0]?.gauge as Gauge & { collect: () => void };
  first.collect = () => {
    for (const { read, gauge } of gauges) gauge.set(histogram.count === 0 ? 0 : read(histogram));
    histogram.reset();
  };
}
