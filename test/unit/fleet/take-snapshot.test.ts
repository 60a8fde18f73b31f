import { describe, expect, it } from 'vitest';
import type { CollectionStatus } from '../../../src/domain/snapshot.ts';
import { NOTHING_SEEN, type Power } from '../../../src/fleet/power-model.ts';
import { ServerHistory } from '../../../src/fleet/server-history.ts';
import { ServerSamples } from '../../../src/fleet/server-samples.ts';
import { freshReading, knownNumber, reasonSince, takeSnapshot } from '../../../src/fleet/take-snapshot.ts';
import { FULL_SAMPLE } from '../../support/readings.ts';
import { sampleOf } from '../../support/samples.ts';
import { target } from '../../support/targets.ts';

const NOW = 1_000_000;
const UNIX = 1_700_000_000_000;
const clock = { toUnixMs: (ms: number) => UNIX + ms };
const RUNNING: Power = { ...NOTHING_SEEN, state: 'running', since: NOW - 60_000 };
const LIMITS = { cpuCores: 2, memoryBytes: 2_000, diskBytes: 3_000 };

/** A second of samples of a running server. The last one is half a second old. */
function sampled(): ServerSamples {
  const samples = new ServerSamples();
  for (const ago of [1_500, 500]) {
    const sample = sampleOf({ ...FULL_SAMPLE, uptimeMs: 86_400_000 - ago });
    sample.arrived('socket', NOW - ago, NOW - ago);
    samples.accept(sample, false, RUNNING, LIMITS);
  }
  return samples;
}

type Record = Parameters<typeof takeSnapshot>[0];
type Facts = Parameters<typeof takeSnapshot>[2];

/** The snapshot of a running server that streams, with changes. */
function shown(record: Partial<Record> = {}, facts: Partial<Facts> = {}) {
  return takeSnapshot(
    {
      target: target({ limits: LIMITS }),
      status: { condition: 'streaming' },
      node: 'node-1',
      consoleLines: 7,
      awaitsNotice: false,
      backups: undefined,
      schedules: undefined,
      ...record,
    },
    clock,
    {
      now: NOW,
      isFresh: true,
      inStateMs: 60_000,
      isExpected: true,
      samples: sampled(),
      power: RUNNING,
      history: new ServerHistory(),
      unwantedStops: [],
      query: undefined,
      ...facts,
    },
  );
}

const only = <Shown extends object, Name extends keyof Shown>(all: Shown, ...names: readonly Name[]) =>
  names.map((name) => all[name]);

describe('a server', () => {
  it('with fresh samples shows their values, in the units and times of metrics', () => {
    expect(shown()).toMatchObject({
      timestamp_seconds: 1_700_001_000,
      state: 'running',
      sample_age_seconds: 0.5,
      cpu_usage_cores: 1.53217,
      memory_limit_bytes: 2_000,
      cpu_seconds_total: 1.53217,
      start_time_seconds: 1_699_914_600,
      state_changed_timestamp_seconds: 1_700_000_940,
      running_seconds_total: 1,
      memory_saturated_seconds_total: 1,
      console_lines_total: 7,
      expected_running: 1,
      collection_up: 1,
      collection_streaming: 1,
      last_sample_timestamp_seconds: 1_700_000_999.5,
    });
  });

  it('whose samples are too old shows what it counted, but no state, usage or limits', () => {
    const stale = shown({}, { isFresh: false });
    expect(stale).toMatchObject({
      state: 'unknown',
      source: 'socket',
      sample_age_seconds: 0.5,
      running_seconds_total: 1,
      console_lines_total: 7,
      collection_up: 0,
    });
    const absent = only(
      stale,
      'cpu_usage_cores',
      'cpu_seconds_total',
      'cpu_limit_cores',
      'memory_limit_bytes',
      'start_time_seconds',
      'cpu_usage_peak_cores',
      'cpu_saturated_share',
      'state_changed_timestamp_seconds',
    );
    expect(absent).toEqual(absent.map(() => undefined));
  });

  it('without samples has no values, and zero for what is counted', () => {
    const empty = shown({}, { isFresh: false, samples: undefined, history: undefined, power: NOTHING_SEEN });
    expect(empty).toMatchObject({ running_seconds_total: 0, observed_seconds_total: 0, starts_total: 0 });
    expect(only(empty, 'source', 'sample_age_seconds', 'last_sample_timestamp_seconds')).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('has the rates and peaks of its history while its samples are fresh', () => {
    const history = new ServerHistory();
    for (const [ago, received] of [
      [20_000, 0],
      [10_000, 50_000],
    ] as const) {
      const sample = sampleOf({ cpuCores: 1.5, networkReceiveBytes: received, networkTransmitBytes: 0 });
      sample.arrived('socket', NOW - ago, NOW - ago);
      history.sampled(sample, 'running', false, 60_000, undefined, 0);
    }
    const samples = sampled();
    samples.newest.networkReceiveBytes = 97_500;
    const names = ['network_receive_bytes_per_second', 'cpu_usage_peak_cores'] as const;
    expect(only(shown({}, { history, samples }), ...names)).toEqual([5_000, 1.5]);
    expect(only(shown({}, { history, samples, isFresh: false }), ...names)).toEqual([undefined, undefined]);
    expect(only(shown(), ...names)).toEqual([undefined, undefined]);
  });

  it('that is blocked has the limits that are given, and its reason', () => {
    const status: CollectionStatus = { condition: 'blocked', blocked: 'suspended' };
    const blocked = shown({ status }, { isFresh: false });
    expect(only(blocked, 'blocked', 'cpu_limit_cores', 'memory_limit_bytes', 'disk_limit_bytes')).toEqual([
      'suspended',
      2,
      2_000,
      3_000,
    ]);
    expect(shown({ status: { ...status, condition: 'failing' } }).blocked).toBeUndefined();
  });

  it('without limits has no time at them', () => {
    const names = ['cpu_saturated_seconds_total', 'cpu_saturated_share', 'cpu_limit_cores'] as const;
    expect(only(shown({ target: target() }), ...names)).toEqual([undefined, undefined, undefined]);
    expect(only(shown(), ...names)).toEqual([0, 0, 2]);
  });
});

describe('the problem', () => {
  const failing: CollectionStatus = { condition: 'failing', problem: { cause: 'timeout', detail: '' } };
  const reinstall = target({ isReinstallFailed: true });
  const starting = { power: { ...RUNNING, state: 'starting' }, inStateMs: 3_600_000 } as const;

  it.each<[string, Partial<Record>, Partial<Facts>, string | undefined]>([
    ['of its collection comes first', { status: failing, target: reinstall }, starting, 'timeout'],
    ['of the server list comes before its state', { target: reinstall }, starting, 'reinstall_failed'],
    ['is that of a state that should have ended', {}, starting, 'still_starting'],
    ['is not that of an old state', {}, { ...starting, isFresh: false }, undefined],
    ['is absent otherwise', {}, {}, undefined],
  ])('%s', (_what, record, facts, cause) => {
    expect(shown(record, facts).problem?.cause).toBe(cause);
  });

  it('of a start says whether the game responds', () => {
    const query = { staleAt: NOW + 1, players: 1 };
    const failed = { ...query, query_problem: { cause: 'query_no_answer', detail: '' } } as const;
    const details = [query, failed].map((one) => shown({}, { ...starting, query: one }).problem?.detail);
    expect(details).toEqual([
      'starting for 60 min; its game responds to queries, so players can join',
      'starting for 60 min',
    ]);
  });
});

describe('backups and schedules', () => {
  const backups = { backups: 3, staleAt: NOW + 1 };
  const schedules = { schedules: [{ id: '1', name: 'daily' }], staleAt: NOW + 1 };

  it.each<[string, Partial<Record>, number | undefined, number]>([
    ['are shown while they are valid', { backups, schedules }, 3, 1],
    [
      'are not shown once they are old',
      { backups: { ...backups, staleAt: NOW }, schedules: { ...schedules, staleAt: NOW } },
      undefined,
      0,
    ],
    [
      'of a server that may have no backups are only its schedules',
      { backups, schedules, target: target({ withoutBackups: true }) },
      undefined,
      1,
    ],
    [
      'of a server that the list shows as blocked are only its backups',
      { backups, schedules, target: target({ blocked: 'suspended' }) },
      3,
      0,
    ],
    [
      'of a server whose socket is blocked are only its backups',
      { backups, schedules, status: { condition: 'blocked', blocked: 'suspended' } },
      3,
      0,
    ],
  ])('%s', (_what, record, count, listed) => {
    const all = shown(record);
    expect([all.backups, all.schedules.length]).toEqual([count, listed]);
  });
});

describe('a stop', () => {
  const stop = { at: NOW - 60_000, reason: 'crashed', exitCode: 1, whileDown: true } as const;
  const off: Power = { ...NOTHING_SEEN, state: 'offline', since: stop.at };

  it('is shown with its time, and explains why the server is off since', () => {
    const lastStop = { ...stop, run: 1, seen: 'happening', notices: [], noticedAt: 0 } as const;
    const all = shown({}, { power: { ...off, lastStop }, unwantedStops: [stop] });
    const expected = {
      timestamp_seconds: 1_700_000_940,
      reason: 'crashed',
      exit_code: 1,
      while_exporter_down: true,
    };
    expect(all).toMatchObject({ off_reason: 'crashed', last_stop: expected, unwanted_stops: [expected] });
    expect(shown({}, { power: { ...RUNNING, lastStop } }).off_reason).toBeUndefined();
  });

  it.each([
    [stop.at, 'crashed'],
    [stop.at + 1, undefined],
  ])('explains a state since %d', (since, reason) => {
    expect(reasonSince(since, stop)).toBe(reason);
    expect(reasonSince(since, undefined)).toBeUndefined();
  });
});

describe('players', () => {
  it.each([
    [{ players: 0 }, [0, 1]],
    [{ query_problem: { cause: 'query_no_answer', detail: '' } as const }, [undefined, 0]],
  ])('of a game that is queried: %j', (result, expected) => {
    const all = shown({}, { query: { staleAt: NOW + 1, ...result } });
    expect(only(all, 'players', 'query_up')).toEqual(expected);
    expect(only(shown(), 'players', 'query_up')).toEqual([undefined, undefined]);
  });
});

it('a value that is NaN is unknown, and a reading is valid until it is stale', () => {
  expect([knownNumber(Number.NaN), knownNumber(0), knownNumber(undefined)]).toEqual([
    undefined,
    0,
    undefined,
  ]);
  const reading = { staleAt: NOW };
  expect([freshReading(reading, NOW - 1), freshReading(reading, NOW), freshReading(undefined, NOW)]).toEqual([
    reading,
    undefined,
    undefined,
  ]);
});
