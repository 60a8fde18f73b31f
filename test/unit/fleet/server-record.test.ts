import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { NO_STOPS } from '../../../src/domain/reading.ts';
import type { BlockedReason, Expect, Sample, ServerState } from '../../../src/domain/server.ts';
import { ServerRecord } from '../../../src/fleet/server-record.ts';
import { target } from '../../support/targets.ts';

const SECOND = 1_000;
let record: ServerRecord;
let now: number;

beforeEach(() => {
  record = new ServerRecord(target(), { socket: 60_000, poll: 60_000 });
  now = 10_000_000;
});

/** A frame of a server that has run for `uptime` seconds and received `received` bytes. */
function running(uptime: number, received: number, more: Partial<Sample> = {}): Sample {
  return { state: 'running', uptimeMs: uptime * SECOND, networkReceiveBytes: received, ...more };
}

const OFF: Sample = { state: 'offline', uptimeMs: 0, networkReceiveBytes: 0, memoryBytes: 0, diskBytes: 5 };

function frame(sample: Sample, afterMs = SECOND): void {
  now += afterMs;
  record.socketSample(sample, now);
}

/** A poll that is answered at once; its data may be 20 s old. */
function poll(sample: Sample, afterMs = SECOND): void {
  now += afterMs;
  record.pollSample(sample, now, now);
}

function hint(state: ServerState, afterMs = 0): void {
  now += afterMs;
  record.stateHint(state, now);
}

/** Stops that nobody is known to have asked for, as decided by an instant. */
function unaskedStops(of: ServerRecord, at: number): number {
  of.decideStop(at);
  const { requested: _, ...unasked } = of.stops;
  return Object.values(unasked).reduce((sum, count) => sum + count, 0);
}

const received = () => record.sample?.networkReceiveBytes;

describe('order', () => {
  beforeEach(() => record.socketBegan());

  it('a frame that another overtook does not replace it', () => {
    frame(running(1_000, 5_000));
    frame(running(1_001, 6_000));
    frame(running(1_000, 5_500), 20);
    expect(record.sample).toMatchObject({ uptimeMs: 1_001 * SECOND, networkReceiveBytes: 6_000 });
  });

  it('a frame from before the stop that comes after the word of it does not bring the server back', () => {
    frame(running(1_000, 5_000));
    hint('offline', 100);
    frame(running(1_001, 6_000), 20);
    expect(record.state).toBe('offline');
    expect(record.starts).toBe(0);
  });

  it('a daemon that finds the server running after all is believed after a moment', () => {
    frame(OFF);
    frame(running(90_000, 7_000), 4 * SECOND);
    expect(record.state).toBe('running');
    expect(received()).toBe(7_000);
  });

  it('a poll does not replace a frame that is younger than its cache', () => {
    frame(running(1_000, 9_000));
    poll(running(985, 8_000), 5 * SECOND);
    expect(record.source).toBe('socket');
    expect(received()).toBe(9_000);
  });

  it('a poll that shows a later uptime of the same run is taken at once', () => {
    frame(running(1_000, 9_000));
    poll(running(1_004, 9_500), 5 * SECOND);
    expect(record.source).toBe('poll');
    expect(received()).toBe(9_500);
  });

  it('a cached poll of the run before the restart is not taken for the new run', () => {
    frame(running(3, 10));
    poll(running(5_000, 9_000), 2 * SECOND);
    expect(received()).toBe(10);
  });

  it('socket, poll, socket: each in its turn, counters never down', () => {
    const seen: (number | undefined)[] = [];
    const note = () => seen.push(received());
    frame(running(1_000, 9_000));
    note();
    poll(running(1_010, 9_400), 30 * SECOND);
    note();
    poll(running(1_050, 9_900), 30 * SECOND);
    note();
    record.socketBegan();
    frame(running(1_065, 9_950), 5 * SECOND);
    note();
    expect(seen).toEqual([9_000, 9_400, 9_900, 9_950]);
  });
});

describe('counters', () => {
  beforeEach(() => record.socketBegan());

  it('hold still where one value dips', () => {
    frame({ state: 'running', networkReceiveBytes: 1_000_000 });
    frame({ state: 'running', networkReceiveBytes: 999_500 });
    expect(received()).toBe(1_000_000);
    frame({ state: 'running', networkReceiveBytes: 1_000_100 });
    expect(received()).toBe(1_000_100);
  });

  it('begin anew when the uptime fell', () => {
    frame(running(5_000, 1_000_000));
    frame(running(2, 50), 10 * SECOND);
    expect(received()).toBe(50);
  });

  it.each(['offline', 'stopped', 'starting'] as const)(
    'begin anew when the state passed through %s',
    (state) => {
      frame({ state: 'running', networkReceiveBytes: 1_000_000 });
      hint(state, 500);
      frame({ state: 'running', networkReceiveBytes: 50 }, 4 * SECOND);
      expect(received()).toBe(50);
    },
  );

  it('go to zero with the server', () => {
    frame(running(5_000, 1_000_000));
    frame(OFF);
    expect(received()).toBe(0);
  });

  it('give in when they stay lower for a minute: then it was a start that nothing told of', () => {
    frame({ state: 'running', networkReceiveBytes: 1_000_000 });
    for (let second = 0; second < 60; second += 1)
      frame({ state: 'running', networkReceiveBytes: 100 + second });
    expect(received()).toBe(1_000_000);
    frame({ state: 'running', networkReceiveBytes: 160 });
    frame({ state: 'running', networkReceiveBytes: 161 });
    expect(received()).toBe(161);
  });

  it('never go down unless the server was restarted, whatever comes in whatever order', () => {
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
          // An uptime too long for a start between two samples that are less than a second apart.
          const sample = running(uptime + 30, bytes);
          if (source === 'socket') one.socketSample(sample, at);
          else one.pollSample(sample, at, at);
          if (one.starts > before) highest = 0;
          expect(one.sample?.networkReceiveBytes ?? 0).toBeGreaterThanOrEqual(highest);
          highest = one.sample?.networkReceiveBytes ?? 0;
        }
      }),
    );
  });
});

describe('starts and stops that nobody asked for', () => {
  beforeEach(() => record.socketBegan());
  const stops = (afterMs = 10 * SECOND) => unaskedStops(record, now + afterMs);

  it.each([
    ['a crash', ['running', 'offline'], 0, 1],
    ['a crash at start', ['offline', 'starting', 'offline'], 1, 1],
    ['a stop that was asked for', ['running', 'stopping', 'offline'], 0, 0],
    ['a stop whose stopping came late', ['running', 'offline', 'stopping'], 0, 0],
    ['a restart', ['running', 'stopping', 'offline', 'starting', 'running'], 1, 0],
    ['a crash and its restart', ['running', 'offline', 'starting', 'running'], 1, 1],
    ['a start', ['offline', 'starting', 'running'], 1, 0],
    ['a start that skips a state', ['offline', 'running'], 1, 0],
    ['the first state of a connect', ['offline'], 0, 0],
  ] as const)('%s', (_what, states, starts, unexpected) => {
    for (const state of states) hint(state, 500);
    expect({ starts: record.starts, unexpected: stops() }).toEqual({ starts, unexpected });
  });

  it('wait two seconds for a late stopping, and ten for the words of the daemon', () => {
    hint('running');
    hint('offline', 500);
    expect(stops(9_999)).toBe(0);
    expect(stops(10_000)).toBe(1);
  });

  it('a late stopping leaves the server offline', () => {
    hint('running');
    hint('offline', 500);
    hint('stopping', 100);
    expect(record.state).toBe('offline');
  });

  it('what a new socket says first is no transition', () => {
    hint('running');
    record.socketBegan();
    hint('offline', 500);
    expect(record.stops).toEqual({ ...NO_STOPS, unknown: 1 });
    record.socketBegan();
    hint('running', 500);
    expect(record.starts).toBe(0);
  });

  it('a start that happened between two sockets shows by its uptime', () => {
    frame(running(5_000, 10));
    record.socketBegan();
    frame(running(12, 10), 60 * SECOND);
    expect(record.starts).toBe(1);
    frame(running(13, 10));
    expect(record.starts).toBe(1);
  });

  it.each<[title: string, greeting: ServerState, first: Sample]>([
    ['with status first, as daemons do', 'running', running(12, 10)],
    ['from a daemon that sends no uptime', 'running', { state: 'running', memoryBytes: 1 }],
    ['while it starts, before its container is up', 'starting', { state: 'starting', uptimeMs: 0 }],
    ['while it starts', 'starting', { state: 'starting', uptimeMs: 900 }],
  ])('a start of a server that was off, between two sockets: %s', (_title, greeting, first) => {
    frame(OFF);
    record.socketBegan();
    hint(greeting, 60 * SECOND);
    frame(first);
    frame({ ...first, state: 'running' });
    expect(record.starts).toBe(1);
    expect(stops()).toBe(0);
  });

  it('a server that was never off, whatever one status said, was not started', () => {
    frame(running(5_000, 10));
    record.socketBegan();
    hint('offline', 60 * SECOND);
    record.socketBegan();
    hint('running', 5 * SECOND);
    frame(running(5_066, 20));
    frame(running(5_067, 20));
    expect(record.starts).toBe(0);
  });

  it('a restart in a gap whose run is longer than the one before is counted, and its counters begin anew', () => {
    frame(running(10, 5_000));
    record.socketBegan();
    hint('running', 300 * SECOND);
    frame(running(200, 100));
    frame(running(201, 120));
    expect(record.starts).toBe(1);
    expect(received()).toBe(120);
    expect(record.startedAt).toBe(now - 201 * SECOND);
  });

  it('a run that goes on after a gap is no start', () => {
    frame(running(10, 5_000));
    record.socketBegan();
    hint('running', 300 * SECOND);
    frame(running(311, 5_100));
    expect(record.starts).toBe(0);
    expect(received()).toBe(5_100);
  });

  it('a stop that the node withheld, since it no longer accepted the token, has no known reason', () => {
    frame(running(10, 5_000));
    record.eventsWithheld();
    frame(OFF, 20 * SECOND);
    expect(record.stops).toEqual({ ...NO_STOPS, unknown: 1 });
    expect(record.state).toBe('offline');
  });

  it('a start that the node withheld is counted once', () => {
    frame(OFF);
    record.eventsWithheld();
    frame(running(5, 10), 20 * SECOND);
    frame(running(6, 20));
    expect(record.starts).toBe(1);
  });

  it('a start that its state told of is not counted again for its uptime', () => {
    frame(OFF);
    hint('starting', 500);
    // The image is pulled first: the container comes up much later.
    frame({ state: 'starting', uptimeMs: 0 }, 60 * SECOND);
    frame({ state: 'running', uptimeMs: 900 });
    frame({ state: 'running', uptimeMs: 1_900 });
    expect(record.starts).toBe(1);
  });

  it('a poll sees a start, but not how the server stopped', () => {
    poll(running(1_000, 5));
    poll(OFF, 30 * SECOND);
    poll(running(10, 5), 30 * SECOND);
    expect(record.starts).toBe(1);
    expect(record.stops).toEqual({ ...NO_STOPS, unknown: 1 });
  });
});

/** What a server did in one step of a made-up life, and what the node then says of it. */
const LIFE = ['start', 'crash', 'stop', 'restart', 'gap', 'wait'] as const;

describe('a stats frame in the same instant as a status', () => {
  beforeEach(() => record.socketBegan());
  const stops = (afterMs = 10 * SECOND) => unaskedStops(record, now + afterMs);
  const stats = (state: ServerState, afterMs: number) => frame({ state, memoryBytes: 1 }, afterMs);

  it('that carries the older state undoes nothing', () => {
    frame(OFF);
    hint('starting', SECOND);
    stats('offline', 0);
    stats('starting', SECOND);
    expect({ starts: record.starts, stops: stops(), state: record.state }).toEqual({
      starts: 1,
      stops: 0,
      state: 'starting',
    });
  });

  it('that carries a state from earlier in a quick restart undoes nothing', () => {
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

  it('does not bring back what a server that is off used', () => {
    frame(running(100, 5_000, { memoryBytes: 7 }));
    hint('offline', SECOND);
    frame(OFF, 10);
    stats('running', 10);
    expect(record.sample).toMatchObject({ state: 'offline', memoryBytes: 0 });
  });

  it('that is newer than the status is believed', () => {
    hint('starting');
    stats('running', SECOND);
    expect(record.state).toBe('running');
  });

  it('is believed after two seconds', () => {
    frame(running(100, 5_000));
    hint('offline', SECOND);
    stats('running', 2_001);
    expect(record.state).toBe('running');
  });

  it('a cached poll does not undo a status either', () => {
    frame(running(100, 5_000));
    hint('offline', 30 * SECOND);
    poll(running(125, 5_500), SECOND);
    expect(record.state).toBe('offline');
    expect(record.starts).toBe(0);
  });

  it('a poll that shows a run which began after the status is believed', () => {
    frame(running(100, 5_000));
    hint('offline', 30 * SECOND);
    poll(running(3, 5), 10 * SECOND);
    expect(record.state).toBe('running');
    expect(record.starts).toBe(1);
  });

  it('counts every start and every crash once, whatever older frames come within two seconds of a status', () => {
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
          one.socketSample({ state: of, ...(tellsUptime && { uptimeMs }) }, at);
        const uptime = () => (state === 'offline' ? 0 : at - since);
        /** The server moves to a state; the node says so, and then publishes frames with the state before, with its numbers or the new ones. */
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
        one.socketBegan();
        one.stateHint(state, at);
        say(state, 0);
        for (const { what, lateMs, isMixed } of steps) {
          const isOn = state !== 'offline';
          if (what === 'gap') {
            const wasOn = isOn;
            one.socketBegan();
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
          // The node publishes what is the case, and goes on for a while.
          at += 2_500;
          say(state, uptime());
          at += 10_000;
          say(state, uptime());
        }
        expect({ starts: one.starts, stops: unaskedStops(one, at + 10_000) }).toEqual(expected);
      }),
    );
  });
});

describe('frozen statistics', () => {
  beforeEach(() => record.socketBegan());
  const ASKED_AFTER = 15 * SECOND;
  const isFresh = () => record.isFresh(now);

  it('a running server whose uptime stands still over two answers has no fresh sample', () => {
    frame(running(1_000, 5_000));
    const { startedAt } = record;
    frame(running(1_000, 5_000), ASKED_AFTER);
    expect(isFresh()).toBe(true);
    for (let answer = 0; answer < 10; answer += 1) {
      frame(running(1_000, 5_000), ASKED_AFTER);
      expect(isFresh()).toBe(false);
      expect(record.startedAt).toBe(startedAt);
    }
    expect(record.starts).toBe(0);
  });

  it('has one again when its uptime goes on, and its start time still holds', () => {
    frame(running(1_000, 5_000));
    const { startedAt } = record;
    for (let answer = 0; answer < 4; answer += 1) frame(running(1_000, 5_000), ASKED_AFTER);
    frame(running(1_061, 5_500));
    expect(isFresh()).toBe(true);
    expect(record.startedAt).toBe(startedAt);
    expect(record.starts).toBe(0);
    expect(received()).toBe(5_500);
  });

  it('are no restart, however short the run was when they froze', () => {
    frame(running(3, 5_000));
    for (let answer = 0; answer < 4; answer += 1) frame(running(3, 5_000), ASKED_AFTER);
    record.socketBegan();
    hint('running', 60 * SECOND);
    frame(running(3, 5_000));
    expect(record.starts).toBe(0);
  });

  it('still tell that the server went off', () => {
    frame(running(1_000, 5_000));
    for (let answer = 0; answer < 4; answer += 1) frame(running(1_000, 5_000), ASKED_AFTER);
    frame(OFF, ASKED_AFTER);
    expect(isFresh()).toBe(true);
    expect(record.state).toBe('offline');
    expect(unaskedStops(record, now + 10 * SECOND)).toBe(1);
  });

  it.each<[title: string, sample: Sample]>([
    ['an old daemon, which sends no uptime', { state: 'running', memoryBytes: 5 }],
    ['a server that is off', OFF],
    ['a container that is yet to start', { state: 'starting', uptimeMs: 0 }],
  ])('are not taken from %s', (_title, sample) => {
    for (let answer = 0; answer < 10; answer += 1) {
      frame(sample, ASKED_AFTER);
      expect(isFresh()).toBe(true);
    }
  });

  it('are not taken from a node that sends stats unasked, whatever uptime they repeat', () => {
    for (let second = 0; second < 60; second += 1) {
      frame(running(1_000, 5_000));
      expect(isFresh()).toBe(true);
    }
  });

  it('are not taken from polls, which the panel caches', () => {
    for (let answer = 0; answer < 10; answer += 1) {
      poll(running(1_000, 5_000), 10 * SECOND);
      expect(isFresh()).toBe(true);
    }
  });
});

describe('start time', () => {
  beforeEach(() => record.socketBegan());

  it('holds still between samples of one run', () => {
    frame({ state: 'running', uptimeMs: 60_000 });
    const first = record.startedAt;
    frame({ state: 'running', uptimeMs: 60_930 });
    frame({ state: 'running', uptimeMs: 62_110 });
    poll({ state: 'running', uptimeMs: 70_000 }, 30 * SECOND);
    expect(record.startedAt).toBe(first);
    expect(first).toBe(10_001_000 - 60_000);
  });

  it('is absent when offline and new after a start', () => {
    frame(running(5_000, 1));
    frame(OFF);
    expect(record.startedAt).toBeUndefined();
    frame(running(2, 1), 10 * SECOND);
    expect(record.startedAt).toBe(now - 2_000);
  });

  it('is absent where the panel tells no uptime', () => {
    frame({ state: 'running', memoryBytes: 1 });
    expect(record.startedAt).toBeUndefined();
  });
});

describe('peaks', () => {
  beforeEach(() => record.socketBegan());

  it('are the highest one-second values of the last minute', () => {
    frame(running(100, 0, { cpuCores: 0.5, memoryBytes: 10 }));
    frame(running(101, 4_000, { cpuCores: 3.5, memoryBytes: 12 }));
    frame(running(102, 4_100, { cpuCores: 0.4, memoryBytes: 11 }));
    expect(record.peaks(now)).toEqual({
      cpuCores: 3.5,
      memoryBytes: 12,
      networkReceiveBytesPerSecond: 4_000,
    });
    expect(record.peaks(now + 55 * SECOND)).toMatchObject({ cpuCores: 3.5 });
    expect(record.peaks(now + 70 * SECOND)).toBeUndefined();
  });

  it('take the rate by the server’s own clock: frames that come bunched are no burst', () => {
    frame(running(100, 0));
    frame(running(101, 1_000), 1_900);
    frame(running(102, 2_000), 100);
    expect(record.peaks(now)).toMatchObject({ networkReceiveBytesPerSecond: 1_000 });
  });

  it('take no rate over a gap, a restart or a poll', () => {
    frame(running(100, 0));
    frame(running(160, 60_000), 60 * SECOND);
    frame(OFF);
    frame(running(1, 500), 3 * SECOND);
    poll(running(31, 90_000), 30 * SECOND);
    frame(running(32, 90_001), 1 * SECOND);
    expect(record.peaks(now)?.networkReceiveBytesPerSecond).toBeUndefined();
  });
});

describe('freshness and limits', () => {
  it('a sample is stale past its staleness, each way by its own', () => {
    record.staleness = { socket: 60_000, poll: 150_000 };
    frame(running(1, 1));
    expect(record.isFresh(now + 60_000)).toBe(true);
    expect(record.isFresh(now + 60_001)).toBe(false);
    poll(running(101, 1), 100 * SECOND);
    expect(record.isFresh(now + 150_000)).toBe(true);
  });

  it('the memory limit of the socket holds on over polls', () => {
    frame(running(1, 1, { memoryLimitBytes: 4_096 }));
    poll(running(61, 1, { memoryBytes: 7 }), 60 * SECOND);
    expect(record.sample).toMatchObject({ memoryLimitBytes: 4_096, memoryBytes: 7 });
  });

  it('a field that the panel no longer sends is absent', () => {
    frame(running(1, 1, { diskBytes: 9 }));
    frame(running(2, 1));
    expect(record.sample).not.toHaveProperty('diskBytes');
  });
});

describe('the expectation', () => {
  const create = (expect: Expect, blocked?: BlockedReason) =>
    new ServerRecord(target({ expect, ...(blocked && { blocked }) }), { socket: 60_000, poll: 60_000 });

  it.each<[expect: Expect, seen: readonly (ServerState | 'polled offline')[], expected: boolean | undefined]>(
    [
      ['running', [], true],
      ['running', ['running', 'stopping', 'offline'], true],
      ['any', ['running'], false],
      ['auto', [], undefined],
      ['auto', ['offline'], undefined],
      ['auto', ['offline', 'starting'], undefined],
      ['auto', ['offline', 'starting', 'running'], true],
      ['auto', ['running', 'stopping', 'offline'], false],
      ['auto', ['running', 'offline'], undefined],
      ['auto', ['running', 'polled offline'], true],
    ],
  )('%s, of a server that was seen %j, is %s', (wanted, seen, expected) => {
    const one = create(wanted);
    one.socketBegan();
    for (const state of seen) {
      now += SECOND;
      if (state === 'polled offline') one.pollSample(OFF, now, now);
      else one.stateHint(state, now);
    }
    one.decideStop(now + 60 * SECOND);
    expect(one.expected(now + 60 * SECOND)).toBe(expected);
  });

  it.each<[reason: BlockedReason, expected: boolean]>([
    ['installing', false],
    ['transferring', false],
    ['restoring', false],
    ['suspended', true],
    ['maintenance', true],
  ])('auto of a server that is %s, by the listing or its answers, is %s', (reason, expected) => {
    for (const one of [create('auto', reason), create('auto')]) {
      one.socketBegan();
      one.stateHint('running', now);
      if (one.target.blocked === undefined)
        one.setCollection({ condition: 'blocked', blocked: reason }, 'none');
      expect(one.expected(now)).toBe(expected);
      expect(create('running', reason).expected(now)).toBe(true);
    }
  });
});

describe('saturation and uptime', () => {
  it('go by the limits that the metrics show, and by the time between samples', () => {
    const limits = { cpuCores: 2, memoryBytes: 1_000 };
    record = new ServerRecord(target({ limits }), { socket: 60_000, poll: 60_000 });
    record.socketBegan();
    for (let second = 1; second <= 10; second += 1) {
      frame(running(second, 0, { cpuCores: second <= 4 ? 1.9 : 1, memoryBytes: 950 }));
    }
    frame(OFF, 2 * SECOND);
    expect(record.durations).toEqual({ observed: 11, running: 11, cpuSaturated: 3, memorySaturated: 9 });
    poll(OFF, 30 * SECOND);
    expect(record.durations).toMatchObject({ observed: 41, running: 11 });
  });

  it('go by a new limit from the moment that it is known, be it configured or reported', () => {
    const atItsLimits = (second: number, memoryLimitBytes: number) =>
      running(second, 0, { cpuCores: 2, memoryBytes: 1_000, memoryLimitBytes });
    record = new ServerRecord(target({ limits: { cpuCores: 4 } }), { socket: 60_000, poll: 60_000 });
    record.socketBegan();
    frame(atItsLimits(1, 2_000));
    frame(atItsLimits(2, 2_000));
    expect(record.durations).toMatchObject({ cpuSaturated: 0, memorySaturated: 0 });
    frame(atItsLimits(3, 1_000));
    expect(record.durations).toMatchObject({ cpuSaturated: 0, memorySaturated: 1 });
    record.target = target({ limits: { cpuCores: 2, memoryBytes: 4_000 } });
    frame(atItsLimits(4, 1_000));
    expect(record.durations).toMatchObject({ cpuSaturated: 1, memorySaturated: 1 });
  });

  it('know no saturation without a limit', () => {
    frame(running(1, 0, { cpuCores: 9 }));
    expect(record.durations).toMatchObject({ cpuSaturated: undefined, memorySaturated: undefined });
  });
});
