import { beforeEach, describe, expect, it } from 'vitest';
import type { ChartSeries } from '../../../src/domain/reading.ts';
import { SampleNumbers } from '../../../src/domain/sample-numbers.ts';
import type { Sample, ServerState } from '../../../src/domain/server.ts';
import { ServerRecord } from '../../../src/fleet/server-record.ts';
import { target } from '../../support/targets.ts';

const SECOND = 1_000;
const UNIX = 1_700_000_000_000;
const clock = { toUnixMs: (ms: number) => UNIX + ms };

/** A second of the monotonic clock at which a step begins. */
const START = 1_000;

let record: ServerRecord;
let second: number;

beforeEach(() => {
  record = new ServerRecord(target(), { socket: 15_000, poll: 45_000 });
  record.socketBegan();
  second = START;
});

const at = () => second * SECOND;

/** Lets these seconds pass, each with a frame. */
function stream(seconds: number, sample: Sample | (() => Sample) = {}): void {
  for (let count = 0; count < seconds; count += 1) {
    const content = typeof sample === 'function' ? sample() : sample;
    record.socketSample(SampleNumbers.of({ state: 'running', uptimeMs: at(), ...content }), at());
    second += 1;
  }
}

/** The newest points of a series, as of the last second that passed. */
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
    // The last sample was fresh for three more steps.
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
      record.pollSample({ state: 'running', cpuCores, uptimeMs: at() }, at(), at());
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
      { problem: { cause: 'query_no_answer', detail: '' } as const },
      { players: 4 },
    ]) {
      record.queried(record.starts, { ...result, durationSeconds: 1, staleAt });
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
    record.daemonWords({ kind: 'exit code', code: 1 }, at());
    record.stateHint('starting', at() + 3_000);
    record.decideStop(at() + 10_000);
    expect(record.history(at() + 10_000, clock).state_changes).toMatchObject([
      { state: 'offline', reason: 'crashed', exit_code: 1 },
      { state: 'starting' },
    ]);
  });

  it('show a stop that no state showed, followed by the state since', () => {
    pass('running');
    second += 3;
    record.socketSample(SampleNumbers.of({ state: 'running', uptimeMs: 10 }), at());
    expect(changes()).toEqual([['offline', 'unknown'], 'running']);
  });
});

describe('the strip of two hours', () => {
  const strip = () => record.strip(at() - 1);
  const off = { state: 'offline', uptimeMs: 0 } as const;

  it('is empty before the first sample, and unknown where there was none', () => {
    second = 1_200;
    expect(strip()).toBe('');
    stream(200);
    second += 280;
    expect(strip()).toBe('u56r2u2');
  });

  it('shows a server as down if it is expected to run, otherwise as off', () => {
    second = 1_200;
    stream(120, off);
    expect(strip()).toBe('u59d1');
    record.target = { ...record.target, expect: 'any' };
    stream(125, off);
    stream(120, { state: 'starting' });
    stream(125);
    expect(strip()).toBe('u55d2o1c1r1');
  });

  it('does not show a server as down before the reason of its stop is decided', () => {
    second = 1_200;
    stream(60);
    record.stateHint('offline', at());
    stream(1, off);
    expect(strip()).toBe('u59o1');
    record.decideStop(at() + 10_000);
    second += 10;
    stream(1, off);
    expect(strip()).toBe('u59d1');
  });

  it('marks a crash of a server that is allowed to be off, once its reason is known', () => {
    record.target = { ...record.target, expect: 'any' };
    second = 1_200;
    stream(60);
    record.stateHint('offline', at());
    record.daemonWords({ kind: 'exit code', code: 1 }, at());
    expect(strip()).toBe('u59o1');
    record.decideStop(at() + 10_000);
    expect(strip()).toBe('u59d1');
  });
});

describe('stops', () => {
  const crash = () => {
    record.stateHint('running', at());
    stream(1);
    record.stateHint('offline', at());
    record.daemonWords({ kind: 'exit code', code: 1 }, at());
    record.decideStop(at() + 10_000);
    second += 20;
  };
  const shown = (now = at()) => record.snapshot(now, clock);

  it('that were unwanted count for an hour, and the last crash is known', () => {
    crash();
    crash();
    expect(shown()).toMatchObject({
      off_reason: 'crashed',
      unwanted_stops: [{ reason: 'crashed' }, { reason: 'crashed' }],
    });
    const [first, second] = shown().unwanted_stops;
    expect(shown().last_crash).toEqual(second);
    const monotonic = (first?.timestamp_seconds ?? 0) * SECOND - UNIX;
    expect(shown(monotonic + 3_599_999).unwanted_stops).toHaveLength(2);
    expect(shown(monotonic + 3_600_000).unwanted_stops).toHaveLength(1);
  });

  it('that were requested are not unwanted, and do not replace the last crash', () => {
    crash();
    stream(1);
    record.stateHint('stopping', at());
    second += 1;
    record.stateHint('offline', at());
    record.decideStop(at() + 10_000);
    expect(shown()).toMatchObject({
      last_stop: { reason: 'requested' },
      last_crash: { reason: 'crashed' },
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
