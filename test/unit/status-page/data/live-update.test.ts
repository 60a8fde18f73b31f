import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Problem } from '../../../../src/domain/problems.ts';
import type { ServerReading } from '../../../../src/domain/reading.ts';
import { LiveFleet } from '../../../../src/status-page/browser/live-fleet.ts';
import type { LiveServer } from '../../../../src/status-page/data/live-update.ts';
import { pictureOf, shownFleet, updateOf } from '../../../support/page-data.ts';
import {
  READ_AT,
  readingOf,
  serverReading,
  staleReading,
  streamingReading,
  streamingSnapshot,
} from '../../../support/readings.ts';

/** What a viewer sees of one server. */
function seen(reading: ServerReading, now = READ_AT): { fleet: LiveFleet; server: LiveServer } {
  const fleet = shownFleet([reading], now);
  const [server] = fleet.servers;
  if (server === undefined) throw new Error('the server is missing');
  return { fleet, server };
}

it.each([
  { servers: 20, turns: 1 },
  { servers: 500, turns: 1 },
  { servers: 3_400, turns: 7 },
])(
  'each of $servers servers is looked at in one of $turns pictures in a row, and its strip in one of seven looks',
  ({ servers, turns }) => {
    const [looks, strips] = [new Map<number, number>(), new Map<number, number>()];
    const count = (counts: Map<number, number>, place: number) => {
      const next = (counts.get(place) ?? 0) + 1;
      counts.set(place, next);
      return next;
    };
    const fleet = Array.from({ length: servers }, (_, place) => ({
      ...streamingReading(),
      snapshot: () => streamingSnapshot({ players: count(looks, place) }),
      strip: () => `r${count(strips, place)}`,
    }));
    let picture = pictureOf(fleet);
    const page = new LiveFleet(updateOf(undefined, picture));
    for (let taken = 1; taken <= 7 * turns; taken += 1) {
      const before = picture;
      picture = pictureOf(fleet, READ_AT + taken * 1_000, before);
      const lookedAt = picture.values.filter((values, place) => values !== before.values[place]);
      expect(lookedAt.length).toBeLessThanOrEqual(500);
      page.apply(updateOf(before, picture));
      if (taken % turns !== 0) continue;
      expect(new Set(page.servers.map(({ players }) => players))).toEqual(new Set([1 + taken / turns]));
    }
    expect(new Set(page.servers.map(({ strip }) => strip))).toEqual(new Set(['r2']));
  },
);

describe('the data of a server', () => {
  it('has the names and units of the snapshot, rounded as displayed', () => {
    const uuid = '1a7ce997-259b-452e-8b4e-cecc464142ca';
    const reading = streamingReading({
      target: { uuid, egg: 'Paper', node: 'fra-1', labels: { game: 'minecraft', tier: 'gold' } },
      cpu_limit_cores: 4,
      disk_limit_bytes: 2 ** 30,
      network_receive_bytes_per_second: 12_949,
      strip: 'u58r2',
    });
    expect(seen(reading).server).toEqual({
      panel: 'main',
      server: 'survival',
      server_id: '1a7ce997',
      uuid,
      egg: 'Paper',
      labels: { game: 'minecraft', tier: 'gold' },
      node: 'fra-1',
      state: 'running',
      condition: 'streaming',
      source: 'socket',
      cpu_usage_cores: 1.53,
      cpu_limit_cores: 4,
      memory_usage_bytes: 1_020 * 2 ** 20,
      memory_limit_bytes: 4_509_715_660,
      disk_usage_bytes: 118 * 2 ** 20,
      disk_limit_bytes: 2 ** 30,
      network_receive_bytes_per_second: 13_000,
      last_sample_timestamp_seconds: 0,
      start_time_seconds: 1_699_914_599,
      expected_running: 1,
      starts_total: 2,
      strip: 'u58r2',
    });
  });

  it('is absent if it is unknown', () => {
    const { server } = seen(serverReading());
    expect(server.state).toBe('unknown');
    expect(server.last_sample_timestamp_seconds).toBeUndefined();
    expect([server.cpu_usage_cores, server.memory_usage_bytes]).toEqual([undefined, undefined]);
  });

  it('has the time of its last sample unless samples keep coming', () => {
    const aged = (sample_age_seconds: number) => {
      const { server } = seen(
        streamingReading({
          sample_age_seconds,
          last_sample_timestamp_seconds: 1_700_001_000 - sample_age_seconds,
        }),
      );
      return server.last_sample_timestamp_seconds;
    };
    expect([aged(0.5), aged(2.9), aged(3), aged(100)]).toEqual([0, 0, 1_700_000_997, 1_700_000_900]);
  });
});

const TARGETS = Array.from({ length: 12 }, (_, at) => streamingSnapshot({ target: { id: `${at}` } }).target);
const targetOf = (at: number) => TARGETS[at] ?? streamingSnapshot().target;

describe('an update', () => {
  const STOPS = [
    undefined,
    { timestamp_seconds: 1_700_000_900, reason: 'crashed', exit_code: 1 },
    { timestamp_seconds: 1_700_000_950, reason: 'requested' },
  ] as const;
  const PROBLEMS: readonly (Problem | undefined)[] = [
    undefined,
    { cause: 'closed', detail: 'a' },
    { cause: 'node_error', detail: 'b' },
  ];
  const server = fc.record({
    cpu_usage_cores: fc.constantFrom(undefined, 0, 0.5, 1),
    memory_usage_bytes: fc.constantFrom(0, 2 ** 30),
    state: fc.constantFrom('running' as const, 'offline' as const),
    problem: fc.constantFrom(...PROBLEMS),
    node: fc.constantFrom(undefined, 'fra-1:8080'),
    last_stop: fc.constantFrom(...STOPS),
    players: fc.constantFrom(undefined, 0, 12),
    sample_age_seconds: fc.constantFrom(0, 10),
  });
  const second = fc.array(server, { minLength: 12, maxLength: 12 });

  it('brings a viewer to the same state as a new viewer', () => {
    fc.assert(
      fc.property(fc.array(second, { minLength: 2, maxLength: 6 }), (seconds) => {
        const pictures = seconds.map((changes, index) =>
          pictureOf(
            TARGETS.map((target, at) => readingOf({ ...streamingSnapshot(), ...changes[at], target })),
            READ_AT + index * 1_000,
          ),
        );
        const [first, ...later] = pictures;
        if (first === undefined) return;
        const fleet = new LiveFleet(updateOf(undefined, first));
        for (const [index, picture] of later.entries()) {
          fleet.apply(updateOf(pictures[index], picture));
          const newcomer = new LiveFleet(updateOf(undefined, picture));
          expect(fleet).toEqual(newcomer);
        }
      }),
    );
  });

  it('is empty without changes', () => {
    const [before, after] = [pictureOf([streamingReading()]), pictureOf([streamingReading()])];
    expect(updateOf(before, after)).toEqual({ version: '1.2.3', time: 1_700_001_000, size: 1, changes: [] });
  });

  it('contains each changed field once: with the servers in which it changed, or whole if these are most', () => {
    const using = (...cores: readonly number[]) =>
      pictureOf(
        cores.map((cpu_usage_cores, at) =>
          readingOf({ ...streamingSnapshot(), cpu_usage_cores, target: targetOf(at) }),
        ),
      );
    const before = using(1, 1, 1);
    const { changes } = updateOf(before, using(2, 1, 1.004));
    expect(changes).toEqual([['cpu_usage_cores', [0], [2]]]);
    expect(updateOf(before, using(2, 3, 1)).changes).toEqual([['cpu_usage_cores', null, [2, 3, 1]]]);
  });

  it('removes the values of a server that is no longer seen', () => {
    const [before, after] = [pictureOf([streamingReading()]), pictureOf([staleReading()])];
    const fleet = new LiveFleet(updateOf(undefined, before));
    fleet.apply(updateOf(before, after));
    expect(fleet.servers[0]).toMatchObject({ state: 'unknown', cpu_usage_cores: undefined });
  });
});
