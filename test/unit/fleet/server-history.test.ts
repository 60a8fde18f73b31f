import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ServerState } from '../../../src/domain/power-states.ts';
import type { ChartSeries } from '../../../src/domain/recent-history.ts';
import { ServerHistory } from '../../../src/fleet/server-history.ts';
import { ServerRecord } from '../../../src/fleet/server-record.ts';
import { stripText } from '../../../src/status-page/data/strip-text.ts';
import { type SampleValues, sampleOf } from '../../support/samples.ts';
import { target } from '../../support/targets.ts';

const SECOND = 1_000;
const UNIX = 1_700_000_000_000;
const clock = { toUnixMs: (ms: number) => UNIX + ms };

/** The second of the monotonic clock in which a step begins. */
const START = 1_000;

let record: ServerRecord;
let second: number;

beforeEach(() => {
  record = new ServerRecord(target(), { socket: 15_000, poll: 45_000 });
  record.interrupted();
  second = START;
});

const at = () => second * SECOND;

/** Advances the time by these seconds, with a frame in each. */
function stream(seconds: number, sample: SampleValues | (() => SampleValues) = {}): void {
  for (let count = 0; count < seconds; count += 1) {
    const content = typeof sample === 'function' ? sample() : sample;
    record.socketSample(sampleOf({ state: 'running', uptimeMs: at(), ...content }), at());
    second += 1;
  }
}

/** The newest points of a series, up to the last complete second. */
function newest(series: ChartSeries, count: number) {
  return record.history(at() - 1, clock).series[series]?.slice(-count);
}

const changes = (now = at()) =>
  record.history(now, clock).state_changes.map(({ state, reason }) => (reason ? [state, reason] : state));

describe('charts', () => {
  it('have a point every five seconds, as of the first sample of each step', () => {
    stream(20, () => ({ cpuCores: second }));
    const history = record.history(at() - 1, clock);
    expect(history.series.cpu_usage_cores).toHaveLength(60);
    expect(newest('cpu_usage_cores', 5)).toEqual([null, 1_000, 1_005, 1_010, 1_015]);
    expect(history.end_timestamp_seconds).toBe(1_700_001_015);
  });

  it('keep the series apart, and leave out what a sample lacks', () => {
    stream(1, { cpuCores: 1, memoryBytes: 2 });
    const { series } = record.history(at(), clock);
    expect(Object.values(series).map((values) => values.at(-1))).toEqual([1, 2, null, null]);
  });

  it('have a gap while there are no fresh samples', () => {
    stream(5, { cpuCores: 1 });
    second += 30;
    stream(5, { cpuCores: 2 });
    // The last sample stayed fresh for three more steps.
    expect(newest('cpu_usage_cores', 9)).toEqual([null, 1, 1, 1, 1, null, null, null, 2]);
  });

  it('end with the last sample once it is stale', () => {
    stream(5, { cpuCores: 1 });
    second += 20;
    expect(newest('cpu_usage_cores', 6)).toEqual([null, 1, null, null, null, null]);
  });

  it('show no points from an earlier round after a long pause', () => {
    stream(310, { cpuCores: 1 });
    second += 600;
    stream(1, { cpuCores: 2 });
    expect(newest('cpu_usage_cores', 60)?.filter((value) => value !== null)).toEqual([2]);
  });

  it('repeat the values of a polled server until the next poll', () => {
    for (const cpuCores of [1, 2]) {
      record.pollSample(sampleOf({ state: 'running', cpuCores, uptimeMs: at() }), at(), at());
      second += 30;
    }
    expect(newest('cpu_usage_cores', 13)).toEqual([null, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2]);
  });

  it('show the network as rates', () => {
    stream(20, () => ({ networkReceiveBytes: at(), networkTransmitBytes: 2 * at() }));
    expect([
      newest('network_receive_bytes_per_second', 1),
      newest('network_transmit_bytes_per_second', 1),
    ]).toEqual([[1_000], [2_000]]);
    expect(record.snapshot(at() - 1, clock)).toMatchObject({
      network_receive_bytes_per_second: 1_000,
      network_transmit_bytes_per_second: 2_000,
    });
  });

  it('have no rate across a gap', () => {
    stream(10, () => ({ networkReceiveBytes: at() }));
    second += 60;
    stream(1, () => ({ networkReceiveBytes: at() }));
    expect(newest('network_receive_bytes_per_second', 1)).toEqual([null]);
    expect(record.snapshot(at(), clock).network_receive_bytes_per_second).toBeUndefined();
  });

  it('have the players of a game that is queried, with gaps where it does not respond', () => {
    stream(5);
    expect(record.history(at(), clock).series).not.toHaveProperty('players');
    const staleAt = Number.POSITIVE_INFINITY;
    for (const result of [
      { players: 1 },
      { query_problem: { cause: 'query_no_answer', detail: '' } as const },
      { players: 4 },
    ]) {
      record.query = { ...result, query_duration_seconds: 1, staleAt, run: record.starts };
      stream(5);
    }
    expect(newest('players', 4)).toEqual([null, 1, null, 4]);
  });
});

describe('state changes', () => {
  const pass = (...states: readonly ServerState[]) => {
    for (const state of states) stream(1, state === 'offline' ? { state, uptimeMs: 0 } : { state });
  };

  it('are kept with their time in seconds, but not the first known state', () => {
    pass('running', 'running', 'stopping', 'stopping');
    expect(record.history(at(), clock).state_changes).toEqual([
      { timestamp_seconds: 1_700_001_002, state: 'stopping' },
    ]);
  });

  it('include those that events show between two samples', () => {
    pass('running');
    for (const state of ['stopping', 'offline', 'starting'] as const) record.stateHint(state, at());
    expect(changes()).toEqual(['stopping', ['offline', 'requested'], 'starting']);
  });

  it('include missing samples, from when they count as missing until there is one', () => {
    pass('running');
    expect(changes(at() + 13_999)).toEqual([]);
    expect(record.history(at() + 20_000, clock).state_changes).toEqual([
      { timestamp_seconds: 1_700_001_015, state: 'unknown' },
    ]);
    second += 60;
    pass('running');
    expect(record.history(at(), clock).state_changes).toEqual([
      { timestamp_seconds: 1_700_001_015, state: 'unknown' },
      { timestamp_seconds: 1_700_001_061, state: 'running' },
    ]);
  });

  it('are limited to the last twenty', () => {
    for (let count = 0; count < 20; count += 1) pass('running', 'stopping');
    expect(changes()).toHaveLength(20);
    expect(changes().at(-1)).toBe('stopping');
  });

  it('show the reason of a stop with its own change, even if others followed before it was known', () => {
    pass('running');
    record.stateHint('offline', at());
    record.daemonNotice({ kind: 'exit code', code: 1 }, at());
    record.stateHint('starting', at() + 3_000);
    record.decideStop(at() + 10_000);
    expect(record.history(at() + 10_000, clock).state_changes).toMatchObject([
      { state: 'offline', reason: 'crashed', exit_code: 1 },
      { state: 'starting' },
    ]);
  });

  it('show a stop whose event was lost before the start that followed, once its reason is known', () => {
    pass('running');
    record.stateHint('starting', at());
    record.stateHint('running', at() + 3_000);
    record.decideStop(at() + 10_000);
    expect(changes(at() + 10_000)).toEqual([['offline', 'unknown'], 'starting', 'running']);
  });

  it('show a stop that no state showed, followed by the state since', () => {
    pass('running');
    second += 3;
    record.socketSample(sampleOf({ state: 'running', uptimeMs: 10 }), at());
    expect(changes()).toEqual([['offline', 'unknown'], 'running']);
  });
});

describe('the strip of two hours', () => {
  const strip = () => stripText(record.strip(at() - 1));
  const off = { state: 'offline', uptimeMs: 0 } as const;

  it('is empty before the first sample, and unknown where there was none', () => {
    second = 1_200;
    expect(strip()).toBe('');
    stream(200);
    second += 280;
    expect(strip()).toBe('u56r2u2;r180');
  });

  it('does not mix up servers when the clock begins', () => {
    const other = new ServerHistory();
    second = 0;
    stream(10, { cpuCores: 1 });
    expect([strip(), stripText(other.strip(at())), other.peak('cpu', at())]).toEqual([
      'u59r1;r9',
      '',
      undefined,
    ]);
    expect(newest('cpu_usage_cores', 60)?.filter((value) => value !== null)).toEqual([1, 1]);
    second = 1_200;
    stream(1);
    other.seen('running', at(), false);
    expect(stripText(other.strip(at()))).toBe('u59r1');
  });

  it('shows a server as down if it is expected to run, otherwise as off', () => {
    second = 1_200;
    stream(120, off);
    expect(strip()).toBe('u59d1;d119');
    record.target = { ...record.target, expect: 'any' };
    stream(125, off);
    stream(120, { state: 'starting' });
    stream(125);
    expect(strip()).toBe('u55d2o1c1r1;r120c120o120d120');
  });

  it('counts no time as off while nothing was known', () => {
    record.target = { ...record.target, expect: 'any' };
    second = 1_200;
    stream(11, off);
    second += 60;
    stream(1, off);
    // The last sample before the gap stayed fresh for 15 s.
    expect(strip()).toBe('u59o1;o25');
  });

  it('counts nothing in steps that have passed out of it', () => {
    second = 1_200;
    stream(60);
    second += 3 * 3_600;
    stream(1);
    expect(strip()).toBe('u59r1');
  });

  it('does not show a server as down before the reason of its stop is decided', () => {
    second = 1_200;
    stream(60);
    record.stateHint('offline', at());
    stream(1, off);
    expect(strip()).toBe('u59o1;r60');
    record.decideStop(at() + 10_000);
    second += 10;
    stream(1, off);
    expect(strip()).toBe('u59d1;r60o11');
  });

  it('marks a crash of a server that is allowed to be off, once its reason is known', () => {
    record.target = { ...record.target, expect: 'any' };
    second = 1_200;
    stream(60);
    record.stateHint('offline', at());
    record.daemonNotice({ kind: 'exit code', code: 1 }, at());
    expect(strip()).toBe('u59o1;r60');
    record.decideStop(at() + 10_000);
    expect(strip()).toBe('u59d1;r60o11');
  });
});

describe('stops', () => {
  const crash = () => {
    record.stateHint('running', at());
    stream(1);
    record.stateHint('offline', at());
    record.daemonNotice({ kind: 'exit code', code: 1 }, at());
    record.decideStop(at() + 10_000);
    second += 20;
  };
  const shown = (now = at()) => record.snapshot(now, clock);

  it('that were unwanted count for an hour', () => {
    crash();
    crash();
    expect(shown()).toMatchObject({
      off_reason: 'crashed',
      unwanted_stops: [{ reason: 'crashed' }, { reason: 'crashed' }],
    });
    const [first] = shown().unwanted_stops;
    const monotonic = (first?.timestamp_seconds ?? 0) * SECOND - UNIX;
    expect(shown(monotonic + 3_599_999).unwanted_stops).toHaveLength(2);
    expect(shown(monotonic + 3_600_000).unwanted_stops).toHaveLength(1);
  });

  it('that were requested are not unwanted', () => {
    crash();
    stream(1);
    record.stateHint('stopping', at());
    second += 1;
    record.stateHint('offline', at());
    record.decideStop(at() + 10_000);
    expect(shown()).toMatchObject({
      last_stop: { reason: 'requested' },
      unwanted_stops: [{ reason: 'crashed' }],
    });
  });

  it('explain why the server is off only if it has been off since', () => {
    crash();
    stream(1);
    expect(shown().off_reason).toBeUndefined();
    record.stateHint('offline', at());
    expect(shown()).toMatchObject({
      off_reason: undefined,
      is_stop_awaited: true,
      last_stop: { reason: 'crashed' },
    });
  });
});

describe('the highest one-second values of the last minute', () => {
  const peaks = (later = 0) => {
    const shown = record.snapshot(at() + later, clock);
    return [shown.cpu_usage_peak_cores, shown.memory_usage_peak_bytes];
  };

  it('are absent without values, and each is that of its own field', () => {
    stream(1);
    expect(peaks()).toEqual([undefined, undefined]);
    stream(1, { cpuCores: 1, memoryBytes: 100 });
    stream(1, { cpuCores: 3, memoryBytes: 50 });
    stream(1, { cpuCores: 2 });
    expect(peaks()).toEqual([3, 100]);
  });

  it('are never below the maximum of the last 60 s, or above that of the last 65 s, whatever is polled between', () => {
    const step = fc.record({
      afterMs: fc.nat({ max: 20_000 }),
      value: fc.nat({ max: 1_000 }),
      isPolled: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const one = new ServerHistory();
        const added: { at: number; value: number }[] = [];
        let now = 1_000_000;
        for (const { afterMs, value, isPolled } of steps) {
          now += afterMs;
          const sample = sampleOf({ cpuCores: value });
          sample.arrived(isPolled ? 'poll' : 'socket', now, now);
          one.sampled(sample, 'running', false, 15_000, undefined, 0);
          if (!isPolled) added.push({ at: now, value });
          const within = (ms: number) => added.filter((one) => now - one.at <= ms).map((one) => one.value);
          const peak = one.peak('cpu', now);
          if (peak === undefined) expect(within(60_000)).toEqual([]);
          else {
            expect(peak).toBeGreaterThanOrEqual(Math.max(...within(60_000)));
            expect(peak).toBeLessThanOrEqual(Math.max(...within(65_000)));
          }
        }
      }),
    );
  });
});

describe('the share of the last ten minutes at the CPU limit', () => {
  it.each<[string, [minutes: number, cores: number][], laterMs: number, expected: number]>([
    ['is 0 before the first minute at it', [[20, 1.8]], 0, 0],
    ['counts from 95 % of the limit on', [[10, 1.9]], 0, 1],
    [
      'counts the minutes at it',
      [
        [3, 2],
        [2, 1],
      ],
      0,
      0.3,
    ],
    ['is a share of ten minutes even if there were fewer', [[4, 2]], 0, 0.4],
    [
      'forgets what is older',
      [
        [30, 2],
        [6, 1],
      ],
      0,
      0.4,
    ],
    ['forgets it without samples, too', [[10, 2]], 4, 0.6],
    ['is 0 long after', [[10, 2]], 60, 0],
  ])('%s', (_title, usage, laterMinutes, expected) => {
    const minute = 60 * SECOND;
    record = new ServerRecord(target({ limits: { cpuCores: 2 } }), { socket: 100 * minute, poll: minute });
    second = 1_200;
    for (const [minutes, cpuCores] of usage) stream(minutes * 60, { cpuCores });
    const { cpu_saturated_share: share } = record.snapshot(at() - 1 + laterMinutes * minute, clock);
    expect(share).toBeCloseTo(expected, 1);
  });
});

describe('network rates', () => {
  it.each<
    [string, marks: [received: number, at: number][], now: [received: number, at: number], expected: number]
  >([
    [
      'cover the time from the second to last mark until now',
      [
        [1_000, 0],
        [6_000, 5_000],
      ],
      [8_000, 7_000],
      1_000,
    ],
    [
      'stay the same without a newer sample',
      [
        [0, 0],
        [30_000, 30_000],
      ],
      [30_000, 30_000],
      1_000,
    ],
    ['are unknown with a single sample', [[1_000, 0]], [1_000, 0], Number.NaN],
    ['are unknown without counters', [[1_000, 0]], [Number.NaN, 1_000], Number.NaN],
    [
      'never span two runs, which decreasing counters reveal',
      [
        [1e6, 0],
        [2e6, 5_000],
      ],
      [10, 6_000],
      Number.NaN,
    ],
    [
      'begin anew in the next run',
      [
        [1e6, 0],
        [2e6, 5_000],
        [500, 10_000],
      ],
      [1_500, 11_000],
      1_000,
    ],
  ])('%s', (_title, marks, [received, at], expected) => {
    const history = new ServerHistory();
    for (const [networkReceiveBytes, sampledAt] of marks) {
      const sample = sampleOf({ networkReceiveBytes, networkTransmitBytes: 0 });
      sample.arrived('poll', sampledAt, sampledAt);
      history.sampled(sample, 'running', false, 60_000, undefined, 0);
    }
    const sample = { receivedAt: at, networkReceiveBytes: received, networkTransmitBytes: 0 };
    expect(history.rate('networkReceiveBytes', sample)).toBe(expected);
  });
});
