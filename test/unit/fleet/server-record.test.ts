import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ServerState } from '../../../src/domain/power-states.ts';
import type { BlockedReason, Expect } from '../../../src/domain/server.ts';
import { NO_STOPS } from '../../../src/domain/stops.ts';
import { ServerRecord } from '../../../src/fleet/server-record.ts';
import { collectingLogger } from '../../support/logger.ts';
import { type SampleValues, sampleOf } from '../../support/samples.ts';
import { target } from '../../support/targets.ts';

const SECOND = 1_000;
let record: ServerRecord;
let now: number;

const clock = { toUnixMs: (ms: number) => ms };

/** The record's current snapshot for metrics and pages. */
const shown = (of: ServerRecord = record) => of.snapshot(now, clock);

beforeEach(() => {
  record = new ServerRecord(target(), { socket: 60_000, poll: 60_000 });
  now = 10_000_000;
});

/** A frame of a running server. `uptime` is in seconds, and `received` in bytes. */
function running(uptime: number, received: number, more: SampleValues = {}): SampleValues {
  return { state: 'running', uptimeMs: uptime * SECOND, networkReceiveBytes: received, ...more };
}

const OFF: SampleValues = {
  state: 'offline',
  uptimeMs: 0,
  networkReceiveBytes: 0,
  memoryBytes: 0,
  diskBytes: 5,
};

function frame(sample: SampleValues, afterMs = SECOND): void {
  now += afterMs;
  record.socketSample(sampleOf(sample), now);
}

/** A poll with an immediate response. Its data may be 20 s old. */
function poll(sample: SampleValues, afterMs = SECOND): void {
  now += afterMs;
  record.pollSample(sampleOf(sample), now, now);
}

function hint(state: ServerState, afterMs = 0): void {
  now += afterMs;
  record.stateHint(state, now);
}

/** The number of stops without a known request, after all decisions that are due at this time. */
function unrequestedStops(of: ServerRecord, at: number): number {
  of.decideStop(at);
  const { requested: _, ...unrequested } = shown(of).stops;
  return Object.values(unrequested).reduce((sum, count) => sum + count, 0);
}

const received = () => shown().network_receive_bytes_total;
const startedAt = () => shown().start_time_seconds;

it('a blocked server has the limits that are given, but no samples', () => {
  const limits = { cpuCores: 2, diskBytes: 4_096, listedMemoryBytes: 1_024 };
  record = new ServerRecord(target({ limits }), { socket: 60_000, poll: 60_000 });
  const names = ['cpu_limit_cores', 'disk_limit_bytes', 'memory_limit_bytes'] as const;
  const limitsShown = () => names.map((name) => shown()[name]);
  expect(limitsShown()).toEqual([undefined, undefined, undefined]);
  record.setCollection({ condition: 'blocked', blocked: 'suspended' }, 'none');
  expect(limitsShown()).toEqual([2, 4_096, 1_024]);
  expect(shown().collection_up).toBe(0);
});

describe('the order of samples', () => {
  beforeEach(() => record.interrupted());

  it('keeps the newer frame if an older one arrives later', () => {
    frame(running(1_000, 5_000));
    frame(running(1_001, 6_000));
    frame(running(1_000, 5_500), 20);
    expect(shown()).toMatchObject({
      uptime_milliseconds: 1_001 * SECOND,
      network_receive_bytes_total: 6_000,
    });
  });

  it('alternates between socket and polls without a decreasing counter', () => {
    const seen: (number | undefined)[] = [];
    const note = () => seen.push(received());
    frame(running(1_000, 9_000));
    note();
    poll(running(1_010, 9_400), 30 * SECOND);
    note();
    poll(running(1_050, 9_900), 30 * SECOND);
    note();
    record.interrupted();
    frame(running(1_065, 9_950), 5 * SECOND);
    note();
    expect(seen).toEqual([9_000, 9_400, 9_900, 9_950]);
  });
});

describe('counters', () => {
  beforeEach(() => record.interrupted());

  it('restart when the uptime decreases', () => {
    frame(running(5_000, 1_000_000));
    frame(running(2, 50), 10 * SECOND);
    expect(received()).toBe(50);
  });

  it.each(['offline', 'starting'] as const)('restart when the state passes through %s', (state) => {
    frame({ state: 'running', networkReceiveBytes: 1_000_000 });
    hint(state, 500);
    frame({ state: 'running', networkReceiveBytes: 50 }, 4 * SECOND);
    expect(received()).toBe(50);
  });

  it('never decrease unless the server was restarted, for any samples in any order', () => {
    const step = fc.record({
      uptime: fc.integer({ min: 1, max: 100_000 }),
      bytes: fc.integer({ min: 0, max: 1_000_000 }),
      afterMs: fc.integer({ min: 0, max: 900 }),
      source: fc.constantFrom('socket', 'poll'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 50 }), (steps) => {
        const one = new ServerRecord(target(), { socket: 60_000, poll: 60_000 });
        let at = 50_000_000;
        let highest = 0;
        for (const { uptime, bytes, afterMs, source } of steps) {
          at += afterMs;
          const before = one.starts;
          // The uptime is too long for a start between two samples that are less than a second
          // apart.
          const sample = running(uptime + 30, bytes);
          if (source === 'socket') one.socketSample(sampleOf(sample), at);
          else one.pollSample(sampleOf(sample), at, at);
          if (one.starts > before) highest = 0;
          const { network_receive_bytes_total: received = 0 } = one.snapshot(at, clock);
          expect(received).toBeGreaterThanOrEqual(highest);
          highest = received;
        }
      }),
    );
  });
});

describe('starts and stops', () => {
  beforeEach(() => record.interrupted());
  const stops = (afterMs = 10 * SECOND) => unrequestedStops(record, now + afterMs);

  it.each([
    ['a crash', ['running', 'offline'], 0, 1],
    ['a crash during the start', ['offline', 'starting', 'offline'], 1, 1],
    ['a requested stop', ['running', 'stopping', 'offline'], 0, 0],
    ['a stop whose stopping event arrives late', ['running', 'offline', 'stopping'], 0, 0],
    ['a restart', ['running', 'stopping', 'offline', 'starting', 'running'], 1, 0],
    ['a crash with a restart', ['running', 'offline', 'starting', 'running'], 1, 1],
    ['a start', ['offline', 'starting', 'running'], 1, 0],
    ['a start without the starting state', ['offline', 'running'], 1, 0],
    ['the first state after a connect', ['offline'], 0, 0],
    ['a kill during the start', ['offline', 'starting', 'stopping', 'offline'], 1, 0],
    ['a state that is not known, before a stop', ['running', 'unknown', 'offline', 'running'], 1, 1],
    ['a state that is not known, in a run', ['running', 'unknown', 'running'], 0, 0],
    ['a state that is not known, in a stop', ['running', 'stopping', 'unknown', 'offline'], 0, 0],
    ['a state that is not known, in a start', ['offline', 'unknown', 'starting', 'unknown', 'running'], 1, 0],
  ] as const)('%s', (_what, states, starts, unexpected) => {
    for (const state of states) hint(state, 500);
    expect({ starts: record.starts, unexpected: stops() }).toEqual({ starts, unexpected });
  });

  it('with a late stopping event leave the server offline', () => {
    hint('running');
    hint('offline', 500);
    hint('stopping', 100);
    expect(record.state).toBe('offline');
  });

  it('are not counted for the first state from a new socket', () => {
    hint('running');
    record.interrupted();
    hint('offline', 500);
    expect(shown().stops).toEqual({ ...NO_STOPS, unknown: 1 });
    record.interrupted();
    hint('running', 500);
    expect(record.starts).toBe(0);
  });

  it.each<[title: string, greeting: ServerState, first: SampleValues]>([
    ['with status first, as daemons do', 'running', running(12, 10)],
    ['from a daemon that sends no uptime', 'running', { state: 'running', memoryBytes: 1 }],
    ['during the start, before its container runs', 'starting', { state: 'starting', uptimeMs: 0 }],
    ['during the start', 'starting', { state: 'starting', uptimeMs: 900 }],
  ])('are counted for an offline server that started between two sockets: %s', (_title, greeting, first) => {
    frame(OFF);
    record.interrupted();
    hint(greeting, 60 * SECOND);
    frame(first);
    frame({ ...first, state: 'running' });
    expect(record.starts).toBe(1);
    expect(stops()).toBe(0);
  });

  it('are not counted for a single wrong status', () => {
    frame(running(5_000, 10));
    record.interrupted();
    hint('offline', 60 * SECOND);
    record.interrupted();
    hint('running', 5 * SECOND);
    frame(running(5_066, 20));
    frame(running(5_067, 20));
    expect(record.starts).toBe(0);
  });

  it('are counted for a restart in a gap even if the new run is longer than the previous one, and counters restart', () => {
    frame(running(10, 5_000));
    record.interrupted();
    hint('running', 300 * SECOND);
    frame(running(200, 100));
    frame(running(201, 120));
    expect(record.starts).toBe(1);
    expect(received()).toBe(120);
    expect(startedAt()).toBe(now / SECOND - 201);
  });

  it('are not counted again because of the uptime', () => {
    frame(OFF);
    hint('starting', 500);
    // The image is pulled first, so the container starts much later.
    frame({ state: 'starting', uptimeMs: 0 }, 60 * SECOND);
    frame({ state: 'running', uptimeMs: 900 });
    frame({ state: 'running', uptimeMs: 1_900 });
    expect(record.starts).toBe(1);
  });

  it('are counted from polls, but without a reason', () => {
    poll(running(1_000, 5));
    poll(OFF, 30 * SECOND);
    poll(running(10, 5), 30 * SECOND);
    expect(record.starts).toBe(1);
    expect(shown().stops).toEqual({ ...NO_STOPS, unknown: 1 });
    poll(OFF, 30 * SECOND);
    poll({ state: 'starting', uptimeMs: 0 }, 30 * SECOND);
    expect(record.starts).toBe(2);
  });
});

/** The actions of a server in a simulated life. */
const LIFE = ['start', 'crash', 'stop', 'restart', 'gap', 'wait'] as const;

describe('a stats frame at the same time as a status', () => {
  beforeEach(() => record.interrupted());
  const stops = (afterMs = 10 * SECOND) => unrequestedStops(record, now + afterMs);
  const stats = (state: ServerState, afterMs: number) => frame({ state, memoryBytes: 1 }, afterMs);

  it.each<[from: ServerState, to: ServerState, starts: number]>([
    ['running', 'offline', 0],
    ['offline', 'running', 1],
    ['offline', 'starting', 1],
    ['starting', 'running', 0],
    ['running', 'stopping', 0],
  ])('may come before it, and one with the older state after both: %s, then %s', (from, to, starts) => {
    hint(from);
    stats(to, 10 * SECOND);
    hint(to, 1);
    stats(from, 1);
    stats(to, SECOND);
    expect({ starts: record.starts, stops: stops(), state: record.state }).toEqual({
      starts,
      stops: to === 'offline' ? 1 : 0,
      state: to,
    });
  });

  it('with a state from earlier in a quick restart changes nothing', () => {
    frame(running(100, 5_000));
    for (const state of ['stopping', 'offline', 'starting'] as const) hint(state, 300);
    for (const state of ['running', 'stopping', 'offline'] as const) stats(state, 100);
    stats('starting', SECOND);
    expect({ starts: record.starts, stops: stops(), state: record.state }).toEqual({
      starts: 1,
      stops: 0,
      state: 'starting',
    });
  });

  it('does not restore the resource usage of an offline server', () => {
    frame(running(100, 5_000, { memoryBytes: 7 }));
    hint('offline', SECOND);
    frame(OFF, 10);
    stats('running', 10);
    expect(shown()).toMatchObject({ state: 'offline', memory_usage_bytes: 0 });
  });

  it('is accepted after two seconds', () => {
    frame(running(100, 5_000));
    hint('offline', SECOND);
    stats('running', 2_001);
    expect(record.state).toBe('running');
  });

  it.each([
    ['of the run that the status is about changes nothing', 5_000, 1, 'running'],
    ['of a run that began after it is another start', 900, 2, 'starting'],
    ['without an uptime is another start', 0, 2, 'starting'],
  ])('that says much later that the server is starting, %s', (_what, uptimeMs, starts, state) => {
    hint('offline');
    hint('starting', SECOND);
    frame({ state: 'starting', uptimeMs: 500 }, SECOND);
    hint('running', SECOND);
    frame({ state: 'starting', uptimeMs }, 3 * SECOND);
    expect([record.starts, record.state]).toEqual([starts, state]);
  });

  it.each<[ServerState, ServerState[]]>([
    ['running', ['stopping']],
    ['running', ['stopping', 'offline']],
    ['stopping', ['stopping', 'offline']],
  ])(
    'of a container that has ended changes nothing, however late it comes: %s after %s',
    (late, statuses) => {
      frame(running(100, 5_000));
      for (const status of statuses) hint(status, 3 * SECOND);
      frame({ state: late, uptimeMs: 0, memoryBytes: 1 }, 6 * SECOND);
      expect(record.state).toBe(statuses.at(-1));
      hint('offline');
      hint('starting', SECOND);
      hint('running', SECOND);
      expect({ starts: record.starts, stops: stops(), state: record.state }).toEqual({
        starts: 1,
        stops: 0,
        state: 'running',
      });
    },
  );

  describe('of a server whose socket was closed is accepted', () => {
    const NEXT_SOCKET = (sample: SampleValues) => {
      record.interrupted();
      frame(sample, 60 * SECOND);
    };
    const POLL = (sample: SampleValues) => poll(sample, 60 * SECOND);

    it.each([
      ['its next socket', NEXT_SOCKET],
      ['a poll', POLL],
    ])('if it has stopped: from %s', (_, seen) => {
      frame(OFF);
      for (const status of ['starting', 'running'] as const) hint(status, SECOND);
      frame(running(100, 5_000));
      seen(OFF);
      expect(record.state).toBe('offline');
    });

    it.each([
      ['its next socket', NEXT_SOCKET],
      ['a poll', POLL],
    ])('if it runs again, without statistics about it: from %s', (_, seen) => {
      frame(running(100, 5_000));
      for (const status of ['stopping', 'offline'] as const) hint(status, SECOND);
      seen({ state: 'running', uptimeMs: 0, memoryBytes: 0, cpuCores: 0 });
      expect(record.state).toBe('running');
    });
  });

  it('with the first uptime of a run belongs to the start before it, however long an image took to arrive', () => {
    frame(running(100, 5_000));
    for (const status of ['stopping', 'offline', 'starting'] as const) hint(status, SECOND);
    frame({ state: 'starting', uptimeMs: 0 }, SECOND);
    frame({ state: 'starting', uptimeMs: 11 }, 27 * SECOND);
    hint('running', SECOND);
    frame(running(5, 5_000), 4 * SECOND);
    expect([record.starts, stops()]).toEqual([1, 0]);
    frame(running(2, 5_000), 60 * SECOND);
    expect([record.starts, stops()]).toEqual([2, 1]);
  });

  it('with an uptime after another end is another start, although the run before never had one', () => {
    frame(running(100, 5_000));
    for (const status of ['stopping', 'offline', 'starting', 'offline'] as const) hint(status, SECOND);
    frame(running(3, 5_000), 60 * SECOND);
    expect([record.starts, record.state]).toEqual([2, 'running']);
  });

  it('that is newer than the status is accepted', () => {
    hint('starting');
    stats('running', SECOND);
    expect(record.state).toBe('running');
  });

  it('does not change a status if it is a cached poll', () => {
    frame(running(100, 5_000));
    hint('offline', 30 * SECOND);
    poll(running(125, 5_500), SECOND);
    expect(record.state).toBe('offline');
    expect(record.starts).toBe(0);
  });

  it('is accepted if it is a poll of a run that began after the status', () => {
    frame(running(100, 5_000));
    hint('offline', 30 * SECOND);
    poll(running(3, 5), 10 * SECOND);
    expect(record.state).toBe('running');
    expect(record.starts).toBe(1);
  });

  it('never changes the number of starts and crashes, whatever older frames arrive within two seconds of a status', () => {
    const step = fc.record({
      what: fc.constantFrom(...LIFE),
      lateMs: fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 3 }),
      isMixed: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), fc.boolean(), (steps, tellsUptime) => {
        const one = new ServerRecord(target(), { socket: 60_000, poll: 60_000 });
        let at = 50_000_000;
        let state: ServerState = 'offline';
        let since = 0;
        const expected = { starts: 0, stops: 0 };
        const say = (of: ServerState, uptimeMs: number) =>
          one.socketSample(sampleOf({ state: of, ...(tellsUptime && { uptimeMs }) }), at);
        const uptime = () => (state === 'offline' ? 0 : at - since);
        /**
         * Changes the server's state. The node reports the new state, and then sends late frames
         * with the previous one. Their other values are the previous or the new ones.
         */
        const turn = (next: ServerState, late: readonly number[], isMixed: boolean) => {
          const before = { state, uptime: uptime() };
          at += 500;
          if (next === 'starting') since = at;
          state = next;
          one.stateHint(next, at);
          for (const ms of late) {
            at += ms;
            say(before.state, isMixed ? uptime() : before.uptime);
          }
        };
        one.interrupted();
        one.stateHint(state, at);
        say(state, 0);
        for (const { what, lateMs, isMixed } of steps) {
          const isOn = state !== 'offline';
          if (what === 'gap') {
            const wasOn = isOn;
            one.interrupted();
            at += 100_000;
            if (!wasOn) {
              since = at - 40_000;
              state = 'running';
              expected.starts += 1;
            }
            one.stateHint(state, at);
          }
          if (what === 'start' && !isOn) {
            turn('starting', lateMs, isMixed);
            turn('running', lateMs, isMixed);
            expected.starts += 1;
          }
          if (what === 'crash' && isOn) {
            turn('offline', lateMs, isMixed);
            expected.stops += 1;
          }
          if ((what === 'stop' || what === 'restart') && isOn) {
            turn('stopping', lateMs, isMixed);
            turn('offline', lateMs, isMixed);
          }
          if (what === 'restart' && isOn) {
            turn('starting', lateMs, isMixed);
            expected.starts += 1;
          }
          // The node reports the current state, and repeats it later.
          at += 2_500;
          say(state, uptime());
          at += 10_000;
          say(state, uptime());
        }
        expect({ starts: one.starts, stops: unrequestedStops(one, at + 10_000) }).toEqual(expected);
      }),
    );
  });
});

describe('frozen statistics', () => {
  beforeEach(() => record.interrupted());
  const ASKED_AFTER = 15 * SECOND;
  const isFresh = () => record.isFresh(now);

  it('leave a running server without a fresh sample after two responses with the same uptime', () => {
    frame(running(1_000, 5_000));
    const first = startedAt();
    frame(running(1_000, 5_000), ASKED_AFTER);
    expect([isFresh(), startedAt()]).toEqual([true, first]);
    for (let answer = 0; answer < 10; answer += 1) {
      frame(running(1_000, 5_000), ASKED_AFTER);
      expect(isFresh()).toBe(false);
    }
    expect(record.starts).toBe(0);
  });

  it('are not a restart, however short the run was', () => {
    frame(running(3, 5_000));
    for (let answer = 0; answer < 4; answer += 1) frame(running(3, 5_000), ASKED_AFTER);
    record.interrupted();
    hint('running', 60 * SECOND);
    frame(running(3, 5_000));
    expect(record.starts).toBe(0);
  });

  it('do not hide that the server went offline', () => {
    frame(running(1_000, 5_000));
    for (let answer = 0; answer < 4; answer += 1) frame(running(1_000, 5_000), ASKED_AFTER);
    frame(OFF, ASKED_AFTER);
    expect(isFresh()).toBe(true);
    expect(record.state).toBe('offline');
    expect(unrequestedStops(record, now + 10 * SECOND)).toBe(1);
  });

  it.each<[title: string, sample: SampleValues]>([
    ['an old daemon, which sends no uptime', { state: 'running', memoryBytes: 5 }],
    ['an offline server', OFF],
    ['a container that has not started yet', { state: 'starting', uptimeMs: 0 }],
  ])('are not detected for %s', (_title, sample) => {
    for (let answer = 0; answer < 10; answer += 1) {
      frame(sample, ASKED_AFTER);
      expect(isFresh()).toBe(true);
    }
  });

  it('are not detected for a node that sends stats without a request, even if the uptime repeats', () => {
    for (let second = 0; second < 60; second += 1) {
      frame(running(1_000, 5_000));
      expect(isFresh()).toBe(true);
    }
  });

  it('leave a polled server without a fresh sample, once the panel can no longer have cached its uptime', () => {
    poll(running(1_000, 5_000));
    poll(running(1_000, 5_000), 40 * SECOND);
    expect(isFresh()).toBe(true);
    for (let answer = 0; answer < 10; answer += 1) {
      poll(running(1_000, 5_000), SECOND);
      expect(isFresh()).toBe(false);
    }
    poll(running(1_061, 5_500));
    expect(isFresh()).toBe(true);
  });
});

describe('start time', () => {
  beforeEach(() => record.interrupted());

  it('does not change between samples of one run', () => {
    frame({ state: 'running', uptimeMs: 60_000 });
    const first = startedAt();
    frame({ state: 'running', uptimeMs: 60_930 });
    frame({ state: 'running', uptimeMs: 62_110 });
    poll({ state: 'running', uptimeMs: 70_000 }, 30 * SECOND);
    expect(startedAt()).toBe(first);
    expect(first).toBe(10_001 - 60);
  });

  it('is absent when offline, and new after a start', () => {
    frame(running(5_000, 1));
    frame(OFF);
    expect(startedAt()).toBeUndefined();
    frame(running(2, 1), 10 * SECOND);
    expect(startedAt()).toBe(now / SECOND - 2);
  });

  it('is absent if the panel sends no uptime', () => {
    frame({ state: 'running', memoryBytes: 1 });
    expect(startedAt()).toBeUndefined();
  });
});

describe('freshness and limits', () => {
  it('end at once when the panel blocks the server', () => {
    frame(running(10, 5));
    expect(record.isFresh(now)).toBe(true);
    record.setCollection({ condition: 'blocked', blocked: 'suspended' }, 'none');
    expect(record.isFresh(now)).toBe(false);
    record.setCollection({ condition: 'connecting' }, 'connecting');
    expect(record.isFresh(now)).toBe(true);
  });

  it('a sample becomes stale by the staleness of its source', () => {
    record.staleness = { socket: 60_000, poll: 150_000 };
    frame(running(1, 1));
    expect(record.isFresh(now + 60_000)).toBe(true);
    expect(record.isFresh(now + 60_001)).toBe(false);
    poll(running(101, 1), 100 * SECOND);
    expect(record.isFresh(now + 150_000)).toBe(true);
  });

  it('the memory limit from the socket is kept between polls', () => {
    frame(running(1, 1, { memoryLimitBytes: 4_096 }));
    poll(running(61, 1, { memoryBytes: 7 }), 60 * SECOND);
    expect(shown()).toMatchObject({ memory_limit_bytes: 4_096, memory_usage_bytes: 7 });
  });

  it.each(['socket', 'poll'] as const)(
    'a running server without statistics by %s has a state and no usage, and neither a stop nor a start',
    (source) => {
      const sample = source === 'socket' ? frame : poll;
      const nothing = { state: 'running', uptimeMs: 0, memoryBytes: 0, cpuCores: 0 } as const;
      sample(running(100, 50, { memoryBytes: 7, cpuCores: 1, diskBytes: 4 }));
      sample({ ...nothing, networkReceiveBytes: 0, networkTransmitBytes: 0, diskBytes: 5 }, 30 * SECOND);
      expect(shown()).toMatchObject({
        state: 'running',
        collection_up: 1,
        memory_usage_bytes: undefined,
        cpu_usage_cores: undefined,
        network_receive_bytes_total: undefined,
        network_transmit_bytes_total: undefined,
        uptime_milliseconds: undefined,
        start_time_seconds: undefined,
        disk_usage_bytes: 5,
      });
      sample(running(160, 60, { memoryBytes: 8, cpuCores: 1 }), 30 * SECOND);
      expect(shown()).toMatchObject({
        memory_usage_bytes: 8,
        network_receive_bytes_total: 60,
        starts_total: 0,
        stops: NO_STOPS,
      });
    },
  );

  it('a field that is no longer sent is absent', () => {
    frame(running(1, 1, { diskBytes: 9 }));
    frame(running(2, 1));
    expect(shown().disk_usage_bytes).toBeUndefined();
  });
});

describe('a server that stays in a transition', () => {
  const MINUTE = 60 * SECOND;
  const stay = (state: ServerState, uptimes: readonly number[]) => {
    for (const uptimeMs of uptimes) frame({ state, uptimeMs: uptimeMs * MINUTE, memoryBytes: 1 }, MINUTE);
  };

  it.each<[title: string, state: ServerState, uptimes: readonly number[], detail: string | undefined]>([
    ['a start that was seen', 'starting', Array.from({ length: 17 }, (_, n) => n), 'starting for 16 min'],
    ['a start before the exporter', 'starting', [120, 121], 'starting for 2 h'],
    ['a start that is young', 'starting', [3, 4], undefined],
    [
      'a start without an uptime',
      'starting',
      Array.from({ length: 17 }, () => Number.NaN),
      'starting for 16 min',
    ],
    ['a stop', 'stopping', [120, 121, 122, 123, 124, 125], 'stopping for 5 min'],
    ['a stop that is young, of a long run', 'stopping', [120, 121], undefined],
    ['a long run', 'running', Array.from({ length: 20 }, (_, n) => 100 + n), undefined],
  ])('%s: %s', (_title, state, uptimes, detail) => {
    stay(state, uptimes);
    expect(shown().problem?.detail).toBe(detail);
    now += 10 * MINUTE;
    expect(shown().problem).toBeUndefined();
  });

  it('is queried once it has been starting for long, and its players are shown', () => {
    stay('starting', [1, 2]);
    expect(record.runAt(now)).toBeUndefined();
    stay('starting', [15]);
    expect(record.runAt(now)).toBe(0);
    record.query = { players: 3, staleAt: now + 10 * MINUTE, run: 0 };
    expect(shown()).toMatchObject({ players: 3, query_up: 1 });
    expect(shown().problem?.detail).toContain('players can join');
    stay('running', [16]);
    expect(shown()).toMatchObject({ players: 3, problem: undefined });
  });

  it('has the problem of its monitoring first', () => {
    stay('starting', [120, 121]);
    const problem = { cause: 'origin', detail: 'x' } as const;
    record.setCollection({ condition: 'polling', problem }, 'none');
    expect(shown().problem).toBe(problem);
  });
});

describe('the expectation', () => {
  const create = (expect: Expect, blocked?: BlockedReason) =>
    new ServerRecord(target({ expect, ...(blocked && { blocked }) }), { socket: 60_000, poll: 60_000 });

  it.each<[expect: Expect, seen: readonly (ServerState | 'polled offline')[], expected: number | undefined]>([
    ['running', [], 1],
    ['running', ['running', 'stopping', 'offline'], 1],
    ['any', ['running'], 0],
    ['auto', [], undefined],
    ['auto', ['offline'], undefined],
    ['auto', ['offline', 'starting'], undefined],
    ['auto', ['offline', 'starting', 'running'], 1],
    ['auto', ['running', 'stopping', 'offline'], 0],
    ['auto', ['running', 'offline'], undefined],
    ['auto', ['running', 'polled offline'], 1],
  ])('%s, for a server with the states %j, is %s', (wanted, seen, expected) => {
    const one = create(wanted);
    one.interrupted();
    for (const state of seen) {
      now += SECOND;
      if (state === 'polled offline') one.pollSample(sampleOf(OFF), now, now);
      else one.stateHint(state, now);
    }
    one.decideStop(now + 60 * SECOND);
    now += 60 * SECOND;
    expect(shown(one).expected_running).toBe(expected);
  });

  it.each<[reason: BlockedReason, expected: number]>([
    ['installing', 0],
    ['install_failed', 0],
    ['transferring', 0],
    ['restoring', 0],
    ['suspended', 1],
    ['maintenance', 1],
  ])('auto for a server blocked as %s, by the server list or by its own calls, is %s', (reason, expected) => {
    for (const one of [create('auto', reason), create('auto')]) {
      one.interrupted();
      one.stateHint('running', now);
      if (one.target.blocked === undefined)
        one.setCollection({ condition: 'blocked', blocked: reason }, 'none');
      expect(shown(one).expected_running).toBe(expected);
      expect(shown(create('running', reason)).expected_running).toBe(1);
    }
  });
});

describe('a server that its panel no longer has', () => {
  it.each<[from: string, expect: Expect, isDiscovered: boolean, expected: number, deletions: number]>([
    ['the server list', 'auto', true, 0, 1],
    ['the server list', 'running', true, 0, 1],
    ['the server list', 'any', true, 0, 1],
    ['the configuration', 'running', false, 1, 0],
    ['the configuration', 'auto', false, 1, 0],
  ])('and that is from %s with expect: %s', (_from, expectation, isDiscovered, expected, deletions) => {
    let deleted = 0;
    const context = {
      clock: { now: () => now, schedule: () => () => undefined },
      log: collectingLogger(),
      deleted: () => (deleted += 1),
    };
    const one = new ServerRecord(
      target({ expect: expectation, ...(isDiscovered && { isDiscovered }) }),
      { socket: 60_000, poll: 60_000 },
      context,
    );
    one.interrupted();
    one.socketSample(sampleOf(running(10, 0)), now);
    for (let shows = 0; shows < 3; shows += 1)
      one.setCollection({ condition: 'blocked', blocked: 'not_found' }, 'none');
    expect(shown(one).expected_running).toBe(expected);
    expect(deleted).toBe(deletions);
  });
});

describe('the time since which a server is in its state', () => {
  beforeEach(() => record.interrupted());

  it('is that of the change, and of the first sample if no change was seen', () => {
    expect(shown().state_changed_timestamp_seconds).toBeUndefined();
    frame(running(100, 0));
    const first = now;
    frame(running(101, 0));
    expect(shown().state_changed_timestamp_seconds).toBe(first / SECOND);
    hint('stopping', 500);
    hint('offline', 1_500);
    const offSince = now;
    frame(OFF, 200);
    expect(shown().state_changed_timestamp_seconds).toBe(offSince / SECOND);
  });

  it('survives a gap without a change, and is absent without a fresh sample', () => {
    frame(running(100, 0));
    const first = now;
    now += 90 * SECOND;
    expect(shown().state_changed_timestamp_seconds).toBeUndefined();
    frame(running(191, 0));
    expect(shown().state_changed_timestamp_seconds).toBe(first / SECOND);
    frame({ ...running(192, 0), state: 'unknown' });
    expect(shown().state_changed_timestamp_seconds).toBeUndefined();
  });
});

describe('the time of the last stop', () => {
  it('is known once its reason is, and remains after the next start', () => {
    record.interrupted();
    frame(running(100, 0));
    expect(shown().last_stop_timestamp_seconds).toBeUndefined();
    hint('stopping', 500);
    hint('offline', 500);
    const stoppedAt = now;
    frame(OFF, 100);
    hint('starting', 5_000);
    frame(running(1, 0), 2_000);
    expect(shown().last_stop_timestamp_seconds).toBe(stoppedAt / SECOND);
  });
});

it.each([
  ['is not a start if it began before a sample showed the server off', 3_600, 0],
  ['is a start if it began after that', 5, 1],
])('a run %s', (_title, uptime, starts) => {
  frame(OFF);
  frame(OFF);
  record.interrupted();
  frame(running(uptime, 0), 10 * SECOND);
  expect(record.starts).toBe(starts);
});

describe('CPU time', () => {
  const using = (uptime: number, cpuCores: number) => running(uptime, 0, { cpuCores });
  beforeEach(() => record.interrupted());

  it('continues across a restart of the server, and is absent without a fresh sample', () => {
    expect(shown().cpu_seconds_total).toBeUndefined();
    frame(using(100, 2));
    expect(shown().cpu_seconds_total).toBe(0);
    frame(using(101, 2));
    frame({ ...OFF, cpuCores: 0 });
    frame(using(1, 1.5), 2 * SECOND);
    expect(shown().cpu_seconds_total).toBe(5);
    now += 61 * SECOND;
    expect(shown().cpu_seconds_total).toBeUndefined();
    frame(using(62, 4), 0);
    frame(using(63, 4));
    expect(shown().cpu_seconds_total).toBe(9);
  });

  it('counts no second twice when polls and the socket overlap', () => {
    frame(using(100, 1));
    frame(using(101, 1));
    poll(using(85, 1), 500);
    frame(using(102, 1), 500);
    expect(shown().cpu_seconds_total).toBe(2);
    poll(using(110, 1), 8 * SECOND);
    expect(shown().cpu_seconds_total).toBe(10);
  });
});

describe('saturation and uptime', () => {
  it('use a new limit as soon as it is known, whether configured or reported', () => {
    const atItsLimits = (second: number, memoryLimitBytes: number) =>
      running(second, 0, { cpuCores: 2, memoryBytes: 1_000, memoryLimitBytes });
    record = new ServerRecord(target({ limits: { cpuCores: 4 } }), { socket: 60_000, poll: 60_000 });
    record.interrupted();
    frame(atItsLimits(1, 2_000));
    frame(atItsLimits(2, 2_000));
    expect(shown()).toMatchObject({ cpu_saturated_seconds_total: 0, memory_saturated_seconds_total: 0 });
    frame(atItsLimits(3, 1_000));
    expect(shown()).toMatchObject({ cpu_saturated_seconds_total: 0, memory_saturated_seconds_total: 1 });
    record.target = target({ limits: { cpuCores: 2, memoryBytes: 4_000 } });
    frame(atItsLimits(4, 1_000));
    expect(shown()).toMatchObject({ cpu_saturated_seconds_total: 1, memory_saturated_seconds_total: 1 });
  });

  it('have no saturation without a limit', () => {
    frame(running(1, 0, { cpuCores: 9 }));
    expect(shown()).toMatchObject({
      cpu_saturated_seconds_total: undefined,
      memory_saturated_seconds_total: undefined,
    });
  });
});
