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
  it('that the budget carries gives every server a socket and polls none', async () => {
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

  it('that is too dear lets servers take turns, each for the life of a token', async () => {
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

  it('of turns keeps every sample younger than it announced', async () => {
    gateway.limitPerMinute = 0.5;
    start(servers(10));
    await clock.advance(30 * MINUTE);
    for (let minute = 0; minute < 60; minute += 1) {
      await clock.advance(MINUTE);
      expect(fleet.records.map((record) => record.isFresh(clock.now()))).toEqual(times(10, true));
    }
    expect(fleet.records[0]?.stalenessMs).toBeCloseTo(60_000 + 2 * 10 * MINUTE * 1.25, 3);
  });

  it('of turns gives the place of one that fails to the next', async () => {
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

  it('of turns polls a server whose socket is refused, if that may be', async () => {
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

  it('counts servers for the panel that ask it for something', () => {
    start([named('a'), named('b', { mode: 'poll' }), named('c', { blocked: 'suspended' })]);
    expect(gateway.fleetSize).toBe(2);
    expect(gateway.consoles).toEqual(['a']);
  });

  it('heeds the modes', async () => {
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

  it('is what the reading shows', () => {
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

describe('a change of the rate', () => {
  it('upwards gives every server a socket of its own, and leaves those that have one alone', async () => {
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

  it('downwards closes only the sockets that there is no place for', async () => {
    start(servers(10));
    await clock.advance(1_000);
    expect(streamed()).toHaveLength(10);
    gateway.allows(0.5);
    expect(streamed()).toEqual(['a', 'b', 'c', 'd']);
    expect(sockets).toHaveLength(10);
    expect(sockets.slice(4).map(({ ended }) => ended)).toEqual(times(6, 'closed'));
  });

  it('that shows servers streaming past the end of their turn stops nothing', async () => {
    gateway.limitPerMinute = 0.5;
    start(servers(10));
    await clock.advance(5 * MINUTE);
    gateway.allows(48);
    await clock.advance(20 * MINUTE);
    expect(conditions()).toEqual(times(10, 'streaming'));
  });

  it('that changes no plan changes nothing', async () => {
    start(servers(3));
    await clock.advance(1_000);
    gateway.allows(48);
    gateway.allows(120);
    await clock.advance(1_000);
    expect(sockets).toHaveLength(3);
    expect(streamed()).toHaveLength(3);
  });

  it('that shortens the interval of polled servers shortens it at once', async () => {
    gateway.limitPerMinute = 1;
    start(servers(10, { mode: 'poll' }));
    await clock.advance(10 * MINUTE);
    gateway.allows(48);
    await clock.advance(MINUTE);
    expect(fleet.records.map((record) => record.isFresh(clock.now()))).toEqual(times(10, true));
  });
});

describe('the limit of the panel', () => {
  it('is asked for before all else, and the answer is a sample too', async () => {
    start(servers(3));
    await clock.advance(0);
    expect(gateway.calls.slice(0, 2)).toEqual(['learn a', 'credentials a']);
    expect(fleet.records[0]?.sample).toMatchObject({ memoryBytes: 7 });
  });

  it('is not asked for where the rate is pinned', async () => {
    start(servers(3), { ratePinned: true });
    await clock.advance(180 * MINUTE);
    expect(gateway.asked('learn')).toEqual([]);
  });

  it('is not asked for again while polls are answered', async () => {
    start([named('a'), named('b', { mode: 'poll' })]);
    await clock.advance(180 * MINUTE);
    expect(gateway.asked('learn')).toEqual(['a']);
  });

  it('is asked for once an hour where nothing is polled', async () => {
    start(servers(2));
    await clock.advance(125 * MINUTE);
    expect(gateway.asked('learn')).toEqual(['a', 'b', 'a']);
  });
});

describe("the panel's health", () => {
  it("shows a key's problem on every server that does not stream, with no line for each", async () => {
    start([...servers(2), named('c', { mode: 'poll' }), named('d', { mode: 'poll' })]);
    await clock.advance(MINUTE);
    expect(conditions()).toEqual(['streaming', 'streaming', 'polling', 'polling']);
    const before = log.lines.length;
    gateway.becomes('down', REFUSED.problem);
    // Trouble of the key blocks no server.
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

  it('up wakes those that the key kept out, without their slow retry', async () => {
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

  it('up wakes those that wait out a failure', async () => {
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

  it('up does not wake a server that is blocked for a reason of its own', async () => {
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

it("one server's trouble leaves the others alone", async () => {
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
    ['at once after the start', 0, () => {}],
    ['while all stream', MINUTE, () => {}],
    ['while some are polled', 5 * MINUTE, () => void (gateway.limitPerMinute = 1)],
    [
      'while calls hang',
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
  ])('%s leaves no timer, no socket and no call behind', async (_, afterMs, arrange) => {
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

  it('is not undone by what the panel says after it', async () => {
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
