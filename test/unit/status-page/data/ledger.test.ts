import { describe, expect, it } from 'vitest';
import type { ServerReading } from '../../../../src/domain/reading.ts';
import type { ServerState } from '../../../../src/domain/server.ts';
import { Ledger } from '../../../../src/status-page/data/ledger.ts';
import { FULL_SAMPLE, type ServerReadingChanges, streamingReading } from '../../../support/readings.ts';

const SECOND = 1_000;
const UNIX = 1_700_000_000_000;

/** A server with a sample at this time. */
const reading = (now: number, changes: ServerReadingChanges = {}) =>
  streamingReading({ sampledAt: now, ...changes });

const cpuAt = (now: number, cpuCores: number) => reading(now, { sample: { ...FULL_SAMPLE, cpuCores } });

function entryOf(ledger: Ledger, key = 'main/1a7ce997') {
  const entry = ledger.find(key);
  if (entry === undefined) throw new Error(`no entry for ${key}`);
  return entry;
}

/** Observes the readings of each of these seconds. */
function observeAt(
  ledger: Ledger,
  seconds: readonly number[],
  readings: (now: number) => ServerReading[],
): void {
  for (const second of seconds) {
    const now = second * SECOND;
    ledger.observe(readings(now), now, UNIX + now);
  }
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

describe('a server that is identified differently', () => {
  const UUID = '1a7ce997-259b-452e-8b4e-cecc464142ca';
  const cpu = (ledger: Ledger) =>
    ledger.series(entryOf(ledger), 'cpuCores').filter((value) => value !== null);

  it.each([
    ['1a7ce997', UUID],
    [UUID, '1a7ce997'],
  ])('keeps its history: %s, then %s', (before, after) => {
    const ledger = new Ledger();
    const named = (id: string) => (now: number) => [reading(now, { target: { id } })];
    observeAt(ledger, range(1_000, 1_010), named(before));
    observeAt(ledger, range(1_010, 1_020), named(after));
    expect(cpu(ledger)).toHaveLength(4);
    expect(ledger.find(`main/${before}`)).toBe(ledger.find(`main/${after}`));
  });

  it('has no history of another server that had the same short id', () => {
    const ledger = new Ledger();
    const other = '1a7ce997-0000-4000-8000-000000000000';
    const named = (id: string) => (now: number) => [reading(now, { target: { id, uuid: id } })];
    observeAt(ledger, range(1_000, 1_010), named(other));
    observeAt(ledger, range(1_010, 1_020), named(UUID));
    expect(cpu(ledger)).toHaveLength(2);
  });
});

describe('charts', () => {
  it('have a point every five seconds', () => {
    const ledger = new Ledger();
    observeAt(ledger, range(1_000, 1_020), (now) => [cpuAt(now, now / SECOND)]);
    expect(ledger.series(entryOf(ledger), 'cpuCores').slice(-5)).toEqual([null, 1_000, 1_005, 1_010, 1_015]);
    expect(ledger.newestPointAt(entryOf(ledger))).toBe(1_015 * SECOND);
  });

  it('of a large fleet are not all written in the same second', () => {
    const ledger = new Ledger();
    const ids = range(0, 10).map(String);
    observeAt(ledger, range(1_000, 1_005), (now) => ids.map((id) => reading(now, { target: { id } })));
    const points = ids.map((id) => ledger.newestPointAt(entryOf(ledger, `main/${id}`)) / SECOND);
    expect(points.sort((a, b) => a - b)).toEqual([
      1_000, 1_000, 1_001, 1_001, 1_002, 1_002, 1_003, 1_003, 1_004, 1_004,
    ]);
  });

  it('have a gap while there are no fresh samples or observations', () => {
    const ledger = new Ledger();
    observeAt(ledger, range(1_000, 1_005), (now) => [cpuAt(now, 1)]);
    observeAt(ledger, range(1_005, 1_010), (now) => [reading(now - 100_000)]);
    observeAt(ledger, range(1_020, 1_025), (now) => [cpuAt(now, 2)]);
    expect(ledger.series(entryOf(ledger), 'cpuCores').slice(-5)).toEqual([1, null, null, null, 2]);
  });

  it('show no points from an earlier round after a long pause', () => {
    const ledger = new Ledger();
    observeAt(ledger, range(1_000, 1_300), (now) => [cpuAt(now, 1)]);
    observeAt(ledger, range(1_900, 1_905), (now) => [cpuAt(now, 2)]);
    expect(ledger.series(entryOf(ledger), 'cpuCores').filter((value) => value !== null)).toEqual([2]);
  });

  it('show the network as rates', () => {
    const ledger = new Ledger();
    observeAt(ledger, range(1_000, 1_020), (now) => [
      reading(now, { sample: { ...FULL_SAMPLE, networkReceiveBytes: now, networkTransmitBytes: 2 * now } }),
    ]);
    expect(ledger.series(entryOf(ledger), 'receiveRate').at(-1)).toBe(1_000);
    expect(ledger.series(entryOf(ledger), 'transmitRate').at(-1)).toBe(2_000);
  });
});

describe('state changes', () => {
  const states = (...words: (ServerState | 'stale')[]) => {
    const ledger = new Ledger();
    for (const [index, word] of words.entries()) {
      const now = (1_000 + index) * SECOND;
      const server = word === 'stale' ? reading(now - 100_000) : reading(now, { state: word });
      ledger.observe([server], now, UNIX + now);
    }
    return ledger.changes(entryOf(ledger));
  };

  it('are kept with their time in seconds', () => {
    expect(states('running', 'running', 'offline', 'starting')).toEqual([
      { timestamp_seconds: 1_700_001_002, state: 'offline' },
      { timestamp_seconds: 1_700_001_003, state: 'starting' },
    ]);
  });

  it('do not include the first known state', () => {
    expect(states('stale', 'running', 'running')).toEqual([]);
  });

  it('include missing samples', () => {
    expect(states('running', 'stale', 'running').map(({ state }) => state)).toEqual(['unknown', 'running']);
  });

  it('are limited to the last twenty', () => {
    const words = range(0, 50).map((index): ServerState => (index % 2 === 0 ? 'running' : 'offline'));
    const kept = states(...words);
    expect(kept).toHaveLength(20);
    expect(kept.at(-1)).toEqual({ timestamp_seconds: 1_700_001_049, state: 'offline' });
  });
});

describe('a changing fleet', () => {
  it('keeps the data of servers by panel and id, and forgets removed servers', () => {
    const ledger = new Ledger();
    observeAt(ledger, range(1_000, 1_010), (now) => [cpuAt(now, 1), reading(now, { target: { id: 'b' } })]);
    const { slot } = entryOf(ledger);
    observeAt(ledger, range(1_010, 1_020), (now) => [
      reading(now, { target: { id: 'c' } }),
      reading(now, { target: { name: 'renamed' }, sample: { ...FULL_SAMPLE, cpuCores: 3 } }),
    ]);
    expect(entryOf(ledger).slot).toBe(slot);
    expect(entryOf(ledger).reading.target.name).toBe('renamed');
    expect(ledger.series(entryOf(ledger), 'cpuCores').slice(-4)).toEqual([1, 1, 3, 3]);
    expect(ledger.find('main/b')).toBeUndefined();
    expect(ledger.entries.map(({ reading: { target } }) => target.id)).toEqual(['c', '1a7ce997']);
  });

  it('reuses the slot of a removed server', () => {
    const ledger = new Ledger();
    for (const id of ['a', 'b', 'c', 'd'])
      observeAt(ledger, [1_000], (now) => [reading(now, { target: { id } })]);
    expect(entryOf(ledger, 'main/d').slot).toBeLessThan(2);
  });
});

describe('the players chart', () => {
  const queried = (now: number, players: number, changes: ServerReadingChanges = {}) =>
    reading(now, {
      query: { players, durationSeconds: 0.05, staleAt: now + SECOND },
      ...changes,
    });

  it('has a point every five seconds', () => {
    const ledger = new Ledger();
    observeAt(ledger, range(1_000, 1_020), (now) => [queried(now, now / SECOND)]);
    expect(ledger.players(entryOf(ledger))?.slice(-5)).toEqual([null, 1_000, 1_005, 1_010, 1_015]);
  });

  it('has gaps if the game does not answer or the server is off', () => {
    const ledger = new Ledger();
    const problem = { cause: 'query_no_answer', detail: 'no answer' } as const;
    observeAt(ledger, range(1_000, 1_005), (now) => [queried(now, 1)]);
    observeAt(ledger, range(1_005, 1_010), (now) => [
      reading(now, { query: { problem, durationSeconds: 5, staleAt: now + SECOND } }),
    ]);
    observeAt(ledger, range(1_010, 1_015), (now) => [queried(now, 1, { state: 'offline' })]);
    observeAt(ledger, range(1_015, 1_020), (now) => [queried(now, 4)]);
    expect(ledger.players(entryOf(ledger))?.slice(-4)).toEqual([1, null, null, 4]);
  });

  it('has gaps without observations', () => {
    const ledger = new Ledger();
    // Longer than a chart, so that there are older points below the gap.
    observeAt(ledger, range(600, 1_006), (now) => [queried(now, 7)]);
    observeAt(ledger, [1_030], (now) => [queried(now, 7)]);
    expect(ledger.players(entryOf(ledger))?.slice(-7)).toEqual([7, 7, null, null, null, null, 7]);
  });

  it('is absent for a server that was never queried', () => {
    const ledger = new Ledger();
    observeAt(ledger, range(1_000, 1_020), (now) => [reading(now)]);
    expect(ledger.players(entryOf(ledger))).toBeUndefined();
  });
});
