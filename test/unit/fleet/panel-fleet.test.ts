import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ServerTarget } from '../../../src/domain/server.ts';
import type { PanelFleet, PanelSettings } from '../../../src/fleet/panel-fleet.ts';
import { PanelError } from '../../../src/panel/errors.ts';
import { FleetBench, named, RESOURCES, servers } from '../../support/fleet-bench.ts';

const MINUTE = 60_000;
const REFUSED = new PanelError({ cause: 'key_refused', detail: 'the API key is refused' }, { status: 401 });

let bench: FleetBench;
let clock: FleetBench['clock'];
let gateway: FleetBench['gateway'];
let log: FleetBench['log'];
let sockets: FleetBench['sockets'];
let fleet: PanelFleet;

beforeEach(() => {
  bench = new FleetBench();
  ({ clock, gateway, log, sockets } = bench);
});

afterEach(async () => {
  await fleet.stop();
});

function start(targets: readonly ServerTarget[], settings: Partial<PanelSettings> = {}): void {
  fleet = bench.create(targets, settings);
  fleet.start();
}

const planned = () => log.lines.filter(({ message }) => /^panel main(?::| allows fewer)/.test(message));
const conditions = () => fleet.records.map(({ status }) => status.condition);
const streamed = () => bench.streamed();
const times = <T>(count: number, value: T) => Array.from({ length: count }, () => value);
const NEVER = (_: string, signal: AbortSignal) =>
  new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });

describe('the plan', () => {
  it('gives every server a socket and polls none if the budget is sufficient', async () => {
    start(servers(3));
    await clock.advance(1_000);
    expect(conditions()).toEqual(times(3, 'streaming'));
    expect(streamed()).toEqual(['a', 'b', 'c']);
    await clock.advance(MINUTE);
    expect(gateway.asked('resources')).toEqual([]);
    expect(gateway.fleetSize).toBe(3);
    expect(gateway.consoles).toEqual(['a', 'b', 'c']);
    expect(planned()).toMatchObject([
      {
        level: 'info',
        fields: { panel: 'main', sockets: 3, polls: 0, callsPerMinute: 0.4, budgetPerMinute: 60 },
      },
    ]);
  });

  it('lets servers take turns, each for the life of a token, if the budget is too small', async () => {
    gateway.limitPerMinute = 0.5;
    start(servers(10));
    await clock.advance(5 * MINUTE);
    expect(streamed()).toEqual(['a', 'b', 'c', 'd']);
    await clock.advance(10 * MINUTE);
    expect(streamed()).toEqual(['e', 'f', 'g', 'h']);
    await clock.advance(10 * MINUTE);
    expect(streamed()).toEqual(['i', 'j', 'a', 'b']);
    expect(gateway.asked('resources')).toEqual([]);
    expect(planned()).toMatchObject([
      {
        level: 'warn',
        fields: {
          sockets: 0,
          turns: 10,
          turnSockets: 4,
          longestAgeSeconds: 1_560,
          wantedCallsPerMinute: 1.3,
        },
      },
    ]);
  });

  it('with turns keeps every sample younger than planned', async () => {
    gateway.limitPerMinute = 0.5;
    start(servers(10));
    await clock.advance(30 * MINUTE);
    for (let minute = 0; minute < 60; minute += 1) {
      await clock.advance(MINUTE);
      expect(fleet.records.map((record) => record.isFresh(clock.now()))).toEqual(times(10, true));
    }
    expect(fleet.records[0]?.stalenessMs).toBeCloseTo(60_000 + 2 * 10 * MINUTE * 1.25, 3);
  });

  it('with turns gives the place of a failing server to the next one', async () => {
    gateway.limitPerMinute = 0.5;
    const answer = gateway.answerCredentials;
    gateway.answerCredentials = (server, signal) =>
      server === 'b'
        ? Promise.reject(
            new PanelError({ cause: 'not_found', detail: 'there is no such server' }, { status: 404 }),
          )
        : answer(server, signal);
    start(servers(10));
    await clock.advance(MINUTE);
    expect(streamed()).toEqual(['a', 'c', 'd', 'e']);
    expect(fleet.records[1]?.status).toMatchObject({ condition: 'blocked', blocked: 'not_found' });
  });

  it('with turns polls a server whose socket is rejected, if its mode allows polling', async () => {
    gateway.limitPerMinute = 0.5;
    const answer = gateway.answerCredentials;
    gateway.answerCredentials = (server, signal) =>
      server === 'b'
        ? Promise.reject(
            new PanelError(
              { cause: 'no_console_permission', detail: 'no consoles for you' },
              { status: 403 },
            ),
          )
        : answer(server, signal);
    start(servers(10));
    await clock.advance(MINUTE);
    expect(gateway.asked('resources')).toEqual(['b']);
    expect(fleet.records[1]?.status.condition).toBe('polling');
  });

  it("counts the panel's servers that need calls", () => {
    start([named('a'), named('b', { mode: 'poll' }), named('c', { blocked: 'suspended' })]);
    expect(gateway.fleetSize).toBe(2);
    expect(gateway.consoles).toEqual(['a']);
  });

  it('respects the modes', async () => {
    gateway.limitPerMinute = 1;
    start([
      named('a', { mode: 'poll' }),
      ...['b', 'c', 'd', 'e', 'f'].map((id) => named(id)),
      ...['g', 'h', 'i', 'j'].map((id) => named(id, { mode: 'socket' })),
    ]);
    await clock.advance(10 * MINUTE);
    expect(new Set(gateway.asked('resources'))).toEqual(new Set(['a']));
    expect(streamed()).toEqual(expect.arrayContaining(['g', 'h', 'i', 'j']));
  });

  it('is shown in the reading', () => {
    gateway.limitPerMinute = 0.5;
    start(servers(10));
    expect(fleet.reading()).toEqual({
      name: 'main',
      up: false,
      problems: [],
      nodes: expect.any(Function) as unknown,
      budget: { limitPerMinute: 0.5, usedLastMinute: 0, queueLength: 0, paused: false },
      plan: {
        sockets: 0,
        turns: 10,
        turnSockets: 4,
        longestAgeMs: 60_000 + 2 * 10 * MINUTE * 1.25,
        polls: 0,
        unseated: 0,
        pollIntervalMs: 30_000,
        callsPerMinute: 0.4,
        wantedCallsPerMinute: 1.25,
      },
    });
    gateway.becomes('up');
    expect(fleet.reading().up).toBe(true);
  });
});

describe('a change of the rate limit', () => {
  it('upwards gives every server its own socket, and keeps the existing sockets', async () => {
    gateway.limitPerMinute = 0.5;
    start(servers(10));
    await clock.advance(5 * MINUTE);
    gateway.allows(48);
    await clock.advance(1_000);
    expect(conditions()).toEqual(times(10, 'streaming'));
    expect(sockets).toHaveLength(10);
    await clock.advance(30 * MINUTE);
    expect(conditions()).toEqual(times(10, 'streaming'));
    expect(sockets.filter(({ ended }) => ended === undefined)).toHaveLength(10);
  });

  it('downwards closes only the sockets that are no longer planned', async () => {
    start(servers(10));
    await clock.advance(1_000);
    expect(streamed()).toHaveLength(10);
    gateway.allows(0.5);
    expect(streamed()).toEqual(['a', 'b', 'c', 'd']);
    expect(sockets).toHaveLength(10);
    expect(sockets.slice(4).map(({ ended }) => ended)).toEqual(times(6, 'closed'));
  });

  it('does not stop servers that stream past the end of their turn', async () => {
    gateway.limitPerMinute = 0.5;
    start(servers(10));
    await clock.advance(5 * MINUTE);
    gateway.allows(48);
    await clock.advance(20 * MINUTE);
    expect(conditions()).toEqual(times(10, 'streaming'));
  });

  it('that leaves the plan the same changes nothing', async () => {
    start(servers(3));
    await clock.advance(1_000);
    gateway.allows(48);
    gateway.allows(120);
    await clock.advance(1_000);
    expect(sockets).toHaveLength(3);
    expect(streamed()).toHaveLength(3);
  });

  it('that shortens the poll interval applies immediately', async () => {
    gateway.limitPerMinute = 1;
    start(servers(10, { mode: 'poll' }));
    await clock.advance(10 * MINUTE);
    gateway.allows(48);
    await clock.advance(MINUTE);
    expect(fleet.records.map((record) => record.isFresh(clock.now()))).toEqual(times(10, true));
  });
});

describe("the panel's rate limit", () => {
  it('is requested before everything else, and the answer is also a sample', async () => {
    start(servers(3));
    await clock.advance(0);
    expect(gateway.calls.slice(0, 2)).toEqual(['learn a', 'credentials a']);
    expect(fleet.records[0]?.sample).toMatchObject({ memoryBytes: 7 });
  });

  it('is not requested if the rate is pinned', async () => {
    start(servers(3), { ratePinned: true });
    await clock.advance(180 * MINUTE);
    expect(gateway.asked('learn')).toEqual([]);
  });

  it('is not requested again while polls are answered', async () => {
    start([named('a'), named('b', { mode: 'poll' })]);
    await clock.advance(180 * MINUTE);
    expect(gateway.asked('learn')).toEqual(['a']);
  });

  it('is requested once an hour if nothing is polled', async () => {
    start(servers(2));
    await clock.advance(125 * MINUTE);
    expect(gateway.asked('learn')).toEqual(['a', 'b', 'a']);
  });
});

describe("the panel's health", () => {
  it('shows a problem of the key on every server that does not stream, without a log line for each', async () => {
    start([...servers(2), named('c', { mode: 'poll' }), named('d', { mode: 'poll' })]);
    await clock.advance(MINUTE);
    expect(conditions()).toEqual(['streaming', 'streaming', 'polling', 'polling']);
    const before = log.lines.length;
    gateway.becomes('down', REFUSED.problem);
    // A problem of the key blocks no server.
    const failing = { condition: 'failing', problem: { cause: 'key_refused' } };
    expect(fleet.records.map(({ status }) => status)).toMatchObject([
      { condition: 'streaming' },
      { condition: 'streaming' },
      failing,
      failing,
    ]);
    expect(fleet.records.map(({ status }) => status.blocked)).toEqual(times(4, undefined));
    expect(fleet.reading()).toMatchObject({ up: false, problems: [REFUSED.problem] });
    expect(log.lines.slice(before).filter(({ level }) => level !== 'debug')).toEqual([]);
  });

  it('up wakes servers that failed because of the key, without waiting for their slow retry', async () => {
    const take = gateway.answerCredentials;
    gateway.answerCredentials = () => Promise.reject(REFUSED);
    gateway.answerResources = () => Promise.reject(REFUSED);
    start([...servers(3), named('d', { mode: 'poll' })]);
    await clock.advance(MINUTE);
    gateway.becomes('down', REFUSED.problem);
    expect(conditions()).toEqual(times(4, 'failing'));
    expect(fleet.records.map(({ status }) => status.problem?.cause)).toEqual(times(4, 'key_refused'));
    expect(fleet.records.map(({ status }) => status.blocked)).toEqual(times(4, undefined));
    expect(streamed()).toEqual([]);
    gateway.answerCredentials = take;
    gateway.answerResources = () => Promise.resolve(RESOURCES);
    gateway.becomes('up');
    await clock.advance(1_000);
    expect(conditions()).toEqual(['streaming', 'streaming', 'streaming', 'polling']);
    expect(log.lines.filter(({ level }) => level === 'warn')).toEqual([]);
  });

  it('up wakes servers that back off after a failure', async () => {
    const take = gateway.answerCredentials;
    gateway.answerCredentials = () =>
      Promise.reject(new PanelError({ cause: 'connection', detail: 'no answer' }));
    start(servers(1));
    await clock.advance(10 * MINUTE);
    expect(conditions()).not.toContain('streaming');
    gateway.answerCredentials = take;
    gateway.becomes('up');
    await clock.advance(MINUTE);
    expect(conditions()).toEqual(['streaming']);
  });

  it('up does not wake a server that is blocked for its own reason', async () => {
    gateway.answerCredentials = () =>
      Promise.reject(new PanelError({ cause: 'not_found', detail: 'no such server' }));
    start(servers(1));
    await clock.advance(1_000);
    expect(fleet.records[0]?.status.blocked).toBe('not_found');
    gateway.becomes('up');
    await clock.advance(MINUTE);
    expect(gateway.asked('credentials')).toHaveLength(1);
  });
});

it('a problem of one server does not affect the others', async () => {
  const take = gateway.answerCredentials;
  gateway.answerCredentials = (server, signal) => {
    if (server === 'a') return Promise.reject(new PanelError({ cause: 'suspended', detail: 'suspended' }));
    return server === 'b' ? NEVER(server, signal) : take(server, signal);
  };
  start(servers(4));
  await clock.advance(1_000);
  expect(conditions()).toEqual(['blocked', 'waiting', 'streaming', 'streaming']);
});

describe('stop', () => {
  const failing = () => Promise.reject(new PanelError({ cause: 'connection', detail: 'no answer' }));

  it.each<[string, number, () => void]>([
    ['immediately after the start', 0, () => {}],
    ['while all stream', MINUTE, () => {}],
    ['while some are polled', 5 * MINUTE, () => void (gateway.limitPerMinute = 1)],
    [
      'during hanging calls',
      MINUTE,
      () => {
        gateway.limitPerMinute = 1;
        gateway.answerCredentials = NEVER;
        gateway.answerResources = NEVER;
      },
    ],
    [
      'while all fail',
      5 * MINUTE,
      () => {
        gateway.answerCredentials = failing;
        gateway.answerResources = failing;
      },
    ],
    [
      'while all are blocked',
      MINUTE,
      () => {
        gateway.answerCredentials = () => Promise.reject(REFUSED);
        gateway.answerResources = () => Promise.reject(REFUSED);
      },
    ],
  ])('%s leaves no timers, sockets or calls behind', async (_, afterMs, arrange) => {
    arrange();
    start(servers(10));
    if (afterMs > 0) await clock.advance(afterMs);
    await fleet.stop();
    const calls = gateway.calls.length;
    expect(clock.pending).toBe(0);
    expect(gateway.closed).toBe(true);
    expect(streamed()).toEqual([]);
    expect(sockets.every(({ ended }) => ended === 'closed')).toBe(true);
    expect(conditions()).toEqual(times(10, 'stopped'));
    await clock.advance(60 * MINUTE);
    expect(clock.pending).toBe(0);
    expect(gateway.calls).toHaveLength(calls);
  });

  it('waits for the last socket to close', async () => {
    start(servers(2));
    await clock.advance(1_000);
    const [first] = sockets;
    if (first === undefined) throw new Error('expected a socket');
    let close: () => void = () => {};
    first.close = () => new Promise((resolve) => (close = resolve));
    let stopped = false;
    const stopping = fleet.stop().then(() => (stopped = true));
    await clock.advance(1_000);
    expect(stopped).toBe(false);
    close();
    await stopping;
    expect(stopped).toBe(true);
  });

  it('is not undone by later events of the panel', async () => {
    start(servers(2));
    await clock.advance(1_000);
    await fleet.stop();
    gateway.allows(48);
    gateway.becomes('up');
    await clock.advance(MINUTE);
    expect(streamed()).toEqual([]);
    expect(conditions()).toEqual(times(2, 'stopped'));
  });
});
