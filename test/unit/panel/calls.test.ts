import { beforeEach, describe, expect, it } from 'vitest';
import { sleep } from '../../../src/domain/clock.ts';
import { Calls } from '../../../src/panel/calls.ts';
import {
  type CircuitKey,
  type EntryRequest,
  Gate,
  PANEL,
  pathKey,
  pollsKey,
} from '../../../src/panel/gate.ts';
import { RateLimit } from '../../../src/panel/rate-limit.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const PROBLEM = { cause: 'panel_down', detail: '502' } as const;
/** A signal of its own for each call, as callers have: Node.js warns about many listeners on one. */
const never = () => new AbortController().signal;

let clock: ManualClock;
let gate: Gate;
let limit: RateLimit;
let calls: Calls;
/** The subjects of the calls that started, in order, and how each ended. */
let started: string[];
let ends: Record<string, string>;

function open(perMinute: number): void {
  clock = new ManualClock();
  limit = new RateLimit({ clock, pinnedPerMinute: perMinute });
  gate = new Gate(clock, () => limit.allowedPerMinute);
  calls = new Calls({ clock, panel: 'main', gate, limit });
  started = [];
  ends = {};
}

beforeEach(() => open(6_000));

interface Made extends Partial<Omit<EntryRequest, 'circuits' | 'seatOf'>> {
  readonly circuits?: readonly CircuitKey[];
  readonly seatOf?: string;
  readonly tookMs?: number;
  readonly signal?: AbortSignal;
}

/** Makes a call that takes 100 ms, by default. */
function make(
  subject: string,
  { tookMs = 100, signal = never(), circuits = [PANEL], seatOf, ...request }: Made = {},
): void {
  const seat = seatOf === undefined ? {} : { seatOf: () => seatOf };
  const full: EntryRequest = { subject, deadline: 0, ...request, circuits: () => circuits, ...seat };
  calls
    .run(full, signal, async (scope) => {
      started.push(subject);
      await sleep(clock, tookMs, scope);
      return 'answered';
    })
    .then(
      (end) => (ends[subject] = end),
      (error: Error) => (ends[subject] = error.message),
    );
}

const many = (count: number, made?: Made) => {
  for (let index = 0; index < count; index += 1) make(`c${index}`, made);
};

const openCircuit = (key: Parameters<Gate['note']>[0]) => {
  const event = { type: 'failed', subject: 'x', problem: PROBLEM, now: clock.now(), needed: 1 } as const;
  gate.note(key, { ...event, isDecisive: true });
};

describe('the calls to a panel', () => {
  it('are made eight at a time, the earliest deadline first', async () => {
    many(8, { deadline: 50 });
    make('late', { deadline: 300 });
    make('soon', { deadline: 100 });
    make('next', { deadline: 200 });
    await clock.advance(0);
    expect(started).toHaveLength(8);
    expect(calls.waiting).toBe(3);
    await clock.advance(100);
    expect(started.slice(8)).toEqual(['soon', 'next', 'late']);
    await clock.advance(100);
    expect(new Set(Object.values(ends))).toEqual(new Set(['answered']));
  });

  it('never exceed the limit within any 60 s, and go on by their deadlines', async () => {
    open(20);
    many(20);
    await clock.advance(1_000);
    make('late', { deadline: 2 });
    make('soon', { deadline: 1 });
    await clock.advance(58_900);
    expect(started).toHaveLength(20);
    await clock.advance(100);
    expect(started.slice(20)).toEqual(['soon', 'late']);
  });

  it('begin with trials, whose outcome others wait for', async () => {
    open(8);
    many(8);
    await clock.advance(0);
    make('due', { deadline: 1 });
    make('trial', { deadline: 1_000, circuits: [pollsKey('n')], seatOf: 'n' });
    await clock.advance(60_000);
    expect(started.slice(8)).toEqual(['trial', 'due']);
  });

  it('count for all panels with the same account', async () => {
    open(6);
    const other = new Calls({ clock, panel: 'other', gate: new Gate(clock, () => 6), limit });
    many(4);
    let made = 0;
    for (let index = 0; index < 4; index += 1)
      void other.run({ subject: `o${index}`, circuits: () => [PANEL], deadline: 0 }, never(), () => {
        made += 1;
        return Promise.resolve();
      });
    await clock.advance(59_000);
    expect(started.length + made).toBe(6);
    await clock.advance(2_000);
    expect(started.length + made).toBe(8);
    other.stop();
  });

  it('wait from the start if other panels with the same account have used up the limit', async () => {
    open(4);
    many(4);
    await clock.advance(1_000);
    const other = new Calls({ clock, panel: 'other', gate: new Gate(clock, () => 4), limit });
    let madeAt = 0;
    void other.run({ subject: 'o', circuits: () => [PANEL], deadline: 0 }, never(), () => {
      madeAt = clock.now();
      return Promise.resolve();
    });
    const [waitMs, askedAt] = [limit.readyAt - clock.now(), clock.now()];
    await clock.advance(60_000);
    expect(madeAt).toBe(askedAt + waitMs);
    other.stop();
  });

  it('wait while anything holds them', async () => {
    const release = calls.hold('first call');
    make('a');
    await clock.advance(10_000);
    expect(started).toEqual([]);
    release();
    await clock.advance(0);
    expect(started).toEqual(['a']);
  });

  it('wait until a demanded pause is over', async () => {
    limit.throttled(30_000);
    make('a');
    const canary = calls.canary(never(), () => Promise.resolve(clock.now()));
    const pausedAt = clock.now();
    await clock.advance(29_000);
    expect(started).toEqual([]);
    await clock.advance(1_000);
    expect(started).toEqual(['a']);
    expect(await canary).toBe(pausedAt + 30_000);
  });

  it('leave the queue when their circuit opens, and come back when it closes', async () => {
    many(8);
    make('queued', { circuits: [PANEL, pathKey('websocket')] });
    make('other', { circuits: [PANEL, pathKey('resources')] });
    await clock.advance(0);
    openCircuit(pathKey('websocket'));
    await clock.advance(1_000);
    expect(started).toContain('other');
    expect(started).not.toContain('queued');
    gate.note(pathKey('websocket'), { type: 'succeeded' });
    await clock.advance(1_000);
    expect(ends['queued']).toBe('answered');
  });

  it('wait again if their own limit was used up while they were queued, and leave their trial to others', async () => {
    openCircuit(pathKey('websocket'));
    const circuits = [PANEL, pathKey('websocket')];
    let readyAt = clock.now();
    make('full', { circuits, readyAt: () => readyAt });
    make('other', { circuits, deadline: 1 });
    const release = calls.hold('test');
    await clock.advance(15_000);
    readyAt = clock.now() + 60_000;
    release();
    await clock.advance(1_000);
    expect(started).toEqual(['other']);
    gate.note(pathKey('websocket'), { type: 'succeeded' });
    await clock.advance(58_000);
    expect(started).toEqual(['other']);
    await clock.advance(1_000);
    expect(started).toEqual(['other', 'full']);
  });

  it('are withdrawn by their signal, whether they wait or run', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    openCircuit(pathKey('backups'));
    make('runs', { signal });
    await clock.advance(0);
    many(7);
    make('queued', { signal });
    make('held', { circuits: [pathKey('backups')], signal });
    controller.abort(new Error('not wanted'));
    await clock.advance(0);
    expect(ends).toEqual({ runs: 'not wanted', queued: 'not wanted', held: 'not wanted' });
    expect(calls.waiting).toBe(0);
  });

  it('leave room for others while many polls hang: each counts as one of the eight for 3 s', async () => {
    for (let index = 0; index < 12; index += 1) {
      const node = `n${index}`;
      make(`p${index}`, { circuits: [pollsKey(node)], seatOf: node, tookMs: 20_000 });
    }
    await clock.advance(12_000);
    expect(started).toHaveLength(12);
    many(8);
    await clock.advance(100);
    expect(started).toHaveLength(20);
    await clock.advance(20_000);
    expect(new Set(Object.values(ends))).toEqual(new Set(['answered']));
  });

  it('are rejected when the exporter stops, and so is every later one', async () => {
    openCircuit(pathKey('backups'));
    make('runs');
    make('held', { circuits: [pathKey('backups')] });
    await clock.advance(0);
    calls.stop();
    make('later');
    await clock.advance(0);
    const end = 'panel main: no more calls, because the exporter is stopping';
    expect(ends).toEqual({ runs: end, held: end, later: end });
  });
});

describe('a canary', () => {
  it('is made beside the queue, and counts', async () => {
    many(8, { tookMs: 10_000 });
    await clock.advance(0);
    await calls.canary(never(), () => Promise.resolve());
    expect(limit.usedLastMinute).toBe(9);
  });

  it('is made at once when the rate becomes higher', async () => {
    open(1);
    make('a');
    await clock.advance(1_000);
    const made: string[] = [];
    void calls.canary(never(), () => Promise.resolve(made.push('canary')));
    make('b');
    limit.pin({ pinnedPerMinute: 60 });
    await clock.advance(0);
    expect(made).toEqual(['canary']);
    expect(started).toEqual(['a', 'b']);
  });

  it('ends with its signal while it waits', async () => {
    open(1);
    make('a');
    await clock.advance(1_000);
    const controller = new AbortController();
    const canary = calls.canary(controller.signal, () => Promise.resolve());
    controller.abort(new Error('over'));
    await expect(canary).rejects.toThrow('over');
    make('b');
    await clock.advance(60_000);
    expect(started).toEqual(['a', 'b']);
  });

  it('leaves no room for other calls if it takes the last', async () => {
    open(1);
    make('a');
    await clock.advance(1_000);
    make('b');
    void calls.canary(never(), () => Promise.resolve());
    await clock.advance(60_000);
    expect([started, limit.usedLastMinute]).toEqual([['a'], 1]);
    await clock.advance(60_000);
    expect(started).toEqual(['a', 'b']);
  });

  it('waits for the rate limit like all calls, and goes first', async () => {
    open(2);
    many(3);
    await clock.advance(1_000);
    const made: string[] = [];
    void calls.canary(never(), () => Promise.resolve(made.push(...started)));
    await clock.advance(58_000);
    expect(made).toEqual([]);
    await clock.advance(2_000);
    expect(made).toEqual(['c0', 'c1']);
    expect(started).toEqual(['c0', 'c1', 'c2']);
    expect(limit.usedLastMinute).toBe(2);
  });
});
