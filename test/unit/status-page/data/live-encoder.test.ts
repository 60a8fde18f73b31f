import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CAUSES } from '../../../../src/diagnosis/causes.ts';
import type { Problem } from '../../../../src/domain/problem.ts';
import type { LastStop, ServerReading } from '../../../../src/domain/reading.ts';
import type { ServerTarget } from '../../../../src/domain/server.ts';
import { SERVER_FAMILIES } from '../../../../src/metrics/families.ts';
import { viewOf } from '../../../../src/metrics/server-view.ts';
import { LiveFleet, troubleWords } from '../../../../src/status-page/browser/live-fleet.ts';
import { Ledger } from '../../../../src/status-page/data/ledger.ts';
import { LiveEncoder, type Picture, shortened } from '../../../../src/status-page/data/live-encoder.ts';
import { COLUMNS, type Delta, type Full } from '../../../../src/status-page/data/protocol.ts';
import {
  FULL_SAMPLE,
  READ_AT,
  type ServerReadingChanges,
  serverReading,
  streamingReading,
} from '../../../support/readings.ts';

const clock = { toUnixMs: (ms: number) => 1_700_000_000_000 + ms };

const PROBLEMS: Readonly<Record<string, Problem>> = {
  a: { cause: 'closed', detail: 'a' },
  b: { cause: 'node_error', detail: 'b' },
};

/** Over the wire and back. */
const sent = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value;

function pictureOf(ledger: Ledger, servers: readonly ServerReading[], now: number): Picture {
  ledger.observe(servers, now, clock.toUnixMs(now));
  return { entries: ledger.entries, panels: [], now };
}

/** A reading of the same target object, not only of an equal one. */
function withTarget(target: ServerTarget | undefined, changes: ServerReadingChanges): ServerReading {
  const reading = streamingReading(changes);
  return target === undefined ? reading : { ...reading, target };
}

/** What a viewer sees of one server. */
function seen(reading: ServerReading, now = READ_AT): LiveFleet {
  const picture = pictureOf(new Ledger(), [reading], now);
  return new LiveFleet(sent(new LiveEncoder(picture, '1.2.3', clock).full()));
}

describe('the data of a server', () => {
  it('is in the columns, in their units', () => {
    const fleet = seen(streamingReading({ target: { limits: { cpuCores: 4, diskBytes: 2 ** 30 } } }));
    const values = Object.fromEntries(COLUMNS.map((column) => [column, fleet.value(column, 0)]));
    expect(values).toEqual({
      state: 2,
      condition: 2,
      blocked: -1,
      cause: -1,
      source: 0,
      cpu: 153,
      cpuLimit: 400,
      memory: 1_020,
      memoryLimit: 4_301,
      disk: 118,
      diskLimit: 1_024,
      receive: -1,
      transmit: -1,
      sampled: 0,
      started: 1_699_914_599,
      expected: 1,
      players: -1,
      playersMax: -1,
      attention: -1,
      stopReason: -1,
      stopped: -1,
      exitCode: -1,
      crashReason: -1,
      crashed: -1,
      crashExitCode: -1,
      crashes: 0,
      starts: 2,
      backups: -1,
      backedUp: -1,
      backupFailed: -1,
      backupSize: -1,
    });
    expect([fleet.state(0), fleet.condition(0), fleet.age(0), fleet.key(0)]).toEqual([
      'running',
      'streaming',
      0,
      'main/1a7ce997',
    ]);
  });

  it('is absent if it is unknown', () => {
    const fleet = seen(serverReading());
    expect(fleet.state(0)).toBe('unknown');
    expect(fleet.age(0)).toBeUndefined();
    expect([fleet.value('cpu', 0), fleet.value('memory', 0), fleet.value('receive', 0)]).toEqual([
      -1, -1, -1,
    ]);
  });

  it('has no stale values, but their age', () => {
    const fleet = seen(streamingReading({ sampledAt: READ_AT - 100_000 }));
    expect([fleet.state(0), fleet.value('cpu', 0), fleet.age(0)]).toEqual(['unknown', -1, 100]);
  });

  it('includes its last stop, its attention and its backups', () => {
    const fleet = seen(
      streamingReading({
        state: 'offline',
        isRestartAborted: true,
        lastStop: { at: READ_AT - 30_000, reason: 'crashed', exitCode: 139 },
        backups: {
          count: 3,
          lastSuccessUnixMs: 1_700_000_000_000,
          lastFailureUnixMs: 1_700_000_060_000,
          lastSizeBytes: 5 * 2 ** 30,
          staleAt: READ_AT + 1,
        },
      }),
    );
    expect(fleet.attention(0)).toBe('gave_up');
    expect(fleet.troubleAt(0)).toEqual({
      title: 'not restarted, exit code 139',
      action: 'Check its console for the cause. Then start it.',
      severity: 'error',
    });
    expect([fleet.lastStopWords(0), fleet.troubleSince(0)]).toEqual([
      'crashed, exit code 139',
      1_700_000_970,
    ]);
    const backups = (['backups', 'backedUp', 'backupFailed', 'backupSize'] as const).map((column) =>
      fleet.value(column, 0),
    );
    expect(backups).toEqual([3, 1_700_000_000, 1_700_000_060, 5_120]);
  });

  it('includes its last crash for an hour, even after another stop or with another problem', () => {
    const DISK = 2 ** 30;
    const ledger = new Ledger();
    const target = streamingReading({ target: { limits: { diskBytes: DISK } } }).target;
    const at = (lastStop: LastStop, now: number, diskBytes: number) => {
      const sample = { ...FULL_SAMPLE, diskBytes };
      const reading = { ...streamingReading({ sampledAt: now, lastStop, sample }), target };
      const picture = pictureOf(ledger, [reading], now);
      return new LiveFleet(sent(new LiveEncoder(picture, '1.2.3', clock).full()));
    };
    at({ at: READ_AT, reason: 'crashed', exitCode: 1 }, READ_AT, 1);
    const requested: LastStop = { at: READ_AT + 60_000, reason: 'requested' };
    const calm = at(requested, READ_AT + 3_599_000, 1);
    expect([calm.troubleAt(0)?.title, calm.troubleSince(0), calm.attention(0)]).toEqual([
      'crashed, exit code 1',
      1_700_001_000,
      undefined,
    ]);
    const full = at(requested, READ_AT + 3_599_000, DISK);
    expect([full.troubleAt(0)?.title, full.troubleSince(0), full.crashBeside(0)]).toEqual([
      'disk 100 % full',
      undefined,
      { title: 'crashed', at: 1_700_001_000 },
    ]);
    const later = at(requested, READ_AT + 3_600_000, 1);
    expect([later.troubleAt(0), later.crashBeside(0)]).toEqual([undefined, undefined]);
  });

  it('has no stale backups', () => {
    const fleet = seen(streamingReading({ backups: { count: 3, staleAt: READ_AT } }));
    expect(fleet.value('backups', 0)).toBe(-1);
  });

  it('has the same limits as the metrics', () => {
    const limits = fc.record(
      {
        cpuCores: fc.constantFrom<number | 'unlimited'>(1, 2.5, 'unlimited'),
        memoryBytes: fc.constantFrom<number | 'unlimited'>(2 ** 30, 'unlimited'),
        diskBytes: fc.constantFrom<number | 'unlimited'>(2 ** 32, 'unlimited'),
        listedMemoryBytes: fc.constant(2 ** 31),
      },
      { requiredKeys: [] },
    );
    const metric = (reading: ServerReading, name: string) =>
      SERVER_FAMILIES.find((family) => family.name === name)?.read(viewOf(reading, READ_AT, clock));
    fc.assert(
      fc.property(limits, fc.constantFrom(0, 2 ** 33), (limits, memoryLimitBytes) => {
        const reading = streamingReading({
          target: { limits },
          sample: { ...FULL_SAMPLE, memoryLimitBytes },
        });
        const fleet = seen(reading);
        const shown = (column: 'cpuLimit' | 'memoryLimit' | 'diskLimit', unit: number) => {
          const value = fleet.value(column, 0);
          return value < 0 ? undefined : value * unit;
        };
        expect(shown('cpuLimit', 0.01)).toBe(metric(reading, 'gameserver_cpu_limit_cores'));
        expect(shown('memoryLimit', 2 ** 20)).toBe(metric(reading, 'gameserver_memory_limit_bytes'));
        expect(shown('diskLimit', 2 ** 20)).toBe(metric(reading, 'gameserver_disk_limit_bytes'));
      }),
    );
  });
});

describe('a problem', () => {
  it('is shown with the title and remedy of its cause', () => {
    const problem = { cause: 'origin', detail: 'the node rejected the socket upgrade (403)' } as const;
    const fleet = seen(serverReading({ status: { condition: 'polling', problem } }));
    const { title, remedy, severity } = CAUSES.origin;
    expect(fleet.problem(0)).toEqual({ ...problem, title, remedy, severity });
    expect(troubleWords(fleet, 0)).toBe(`${title}: ${problem.detail}. ${remedy}`);
  });

  it('is a fact and not a fault if the server is suspended', () => {
    const problem = { cause: 'suspended', detail: "suspended according to the panel's listing" } as const;
    const fleet = seen(serverReading({ status: { condition: 'blocked', blocked: 'suspended', problem } }));
    expect(fleet.problem(0)).toMatchObject({ severity: 'fact', remedy: CAUSES.suspended.remedy });
  });

  it('of a streaming server that is listed as suspended is the contradiction, without advice', () => {
    const detail = "suspended according to the panel's listing, but the console socket streams";
    const problem = { cause: 'suspended', detail } as const;
    const fleet = seen(streamingReading({ status: { condition: 'streaming', problem } }));
    expect(troubleWords(fleet, 0)).toBe(detail);
  });

  it('is absent for a healthy server', () => {
    const fleet = seen(streamingReading());
    expect([fleet.problem(0), troubleWords(fleet, 0)]).toEqual([undefined, '']);
  });

  it('can be encoded for every cause', () => {
    for (const cause of Object.keys(CAUSES) as (keyof typeof CAUSES)[]) {
      const status = { condition: 'failing', problem: { cause, detail: 'd' } } as const;
      expect(seen(serverReading({ status })).problem(0)?.cause).toBe(cause);
    }
  });
});

describe('an update', () => {
  const server = fc.record({
    cpuCores: fc.constantFrom(0, 0.5, 1),
    memoryBytes: fc.constantFrom(0, 2 ** 30),
    state: fc.constantFrom('running' as const, 'offline' as const),
    trouble: fc.constantFrom('', 'a', 'b'),
    node: fc.constantFrom(undefined, 'fra-1:8080'),
    age: fc.constantFrom(0, 10_000, 100_000),
  });
  const second = fc.array(server, { minLength: 12, maxLength: 12 });

  it('brings a viewer to the same state as a new viewer', () => {
    fc.assert(
      fc.property(fc.array(second, { minLength: 2, maxLength: 6 }), (seconds) => {
        const ledger = new Ledger();
        const targets = seconds[0]?.map(
          (_, index) => streamingReading({ target: { id: `${index}` } }).target,
        );
        // One at a time, because the ledger only knows its last observation.
        const pictureAt = (index: number) => {
          const now = READ_AT + index * 1_000;
          const readings = (seconds[index] ?? []).map(
            ({ cpuCores, memoryBytes, state, trouble, node, age }, at) =>
              withTarget(targets?.[at], {
                state,
                sampledAt: now - age,
                sample: { ...FULL_SAMPLE, cpuCores, memoryBytes },
                status: { condition: 'streaming', ...(trouble === '' ? {} : { problem: PROBLEMS[trouble] }) },
                node,
              }),
          );
          return pictureOf(ledger, readings, now);
        };
        const encoder = new LiveEncoder(pictureAt(0), '1.2.3', clock);
        const fleet = new LiveFleet(sent<Full>(encoder.full()));
        for (let index = 1; index < seconds.length; index += 1) {
          const picture = pictureAt(index);
          expect(encoder.fits(picture.entries)).toBe(true);
          fleet.apply(sent<Delta>(encoder.delta(picture)));
          const newcomer = new LiveEncoder(picture, '1.2.3', clock);
          expectSame(fleet, new LiveFleet(sent<Full>(newcomer.full())));
        }
      }),
    );
  });

  it('is empty without changes', () => {
    const ledger = new Ledger();
    const picture = pictureOf(ledger, [streamingReading()], READ_AT);
    const encoder = new LiveEncoder(picture, '1.2.3', clock);
    expect(encoder.delta(picture)).toEqual({ time: 1_700_001_000, columns: {} });
  });

  it('of a whole fleet contains no indices', () => {
    const ledger = new Ledger();
    const servers = (cpuCores: number) =>
      BASE.map(({ target }) => withTarget(target, { sample: { ...FULL_SAMPLE, cpuCores } }));
    const encoder = new LiveEncoder(pictureOf(ledger, servers(1), READ_AT), '1.2.3', clock);
    const { columns } = encoder.delta(pictureOf(ledger, servers(2), READ_AT));
    expect(columns).toEqual({ cpu: [[0, 100], Array.from({ length: 100 }, () => 200)] });
  });

  it('is impossible if the fleet has changed', () => {
    const ledger = new Ledger();
    const encoder = new LiveEncoder(pictureOf(ledger, [streamingReading()], READ_AT), '1.2.3', clock);
    const renamed = streamingReading({ target: { name: 'renamed' } });
    expect(encoder.fits(pictureOf(ledger, [renamed], READ_AT).entries)).toBe(false);
  });
});

const BASE = Array.from({ length: 100 }, (_, index) => streamingReading({ target: { id: `${index}` } }));

function expectSame(one: LiveFleet, other: LiveFleet): void {
  expect(pictureFor(one)).toEqual(pictureFor(other));
  expect(one.time).toBe(other.time);
}

/** Everything that a viewer sees. */
function pictureFor(fleet: LiveFleet) {
  return Array.from({ length: fleet.size }, (_, server) => [
    ...COLUMNS.map((column) => fleet.value(column, server)),
    fleet.trouble[server],
    fleet.node[server],
    fleet.problem(server)?.cause,
  ]);
}

it.each([
  [0, 0],
  [7.4, 7],
  [994, 990],
  [1_049, 1_000],
  [12_949, 13_000],
  [1_234_567, 1_200_000],
  [Number.NaN, -1],
])('%d with two significant digits is %d', (value, expected) => {
  expect(shortened(value, 2)).toBe(expected);
});

describe('the query of a game', () => {
  const query = { players: 12, playersMax: 40, durationSeconds: 0.05, staleAt: READ_AT + 10_000 };
  const problem = { cause: 'query_refused', detail: 'nothing listens there' } as const;
  const failed = { problem, durationSeconds: 0.01, staleAt: READ_AT + 10_000 };

  it('is in the columns', () => {
    const fleet = seen(streamingReading({ query }));
    expect([fleet.value('players', 0), fleet.value('playersMax', 0)]).toEqual([12, 40]);
    expect(fleet.problem(0)).toBeUndefined();
  });

  it.each<[string, ServerReadingChanges, number?]>([
    ['is not running', { query, state: 'stopping' }],
    ['was queried too long ago', { query: { ...query, staleAt: READ_AT } }],
    ['does not answer', { query: failed }],
  ])('is absent if the server %s', (_, changes) => {
    const fleet = seen(streamingReading(changes));
    expect([fleet.value('players', 0), fleet.value('playersMax', 0)]).toEqual([-1, -1]);
  });

  it('that fails is the problem of the server', () => {
    expect(seen(streamingReading({ query: failed })).problem(0)).toMatchObject({
      cause: 'query_refused',
      detail: 'nothing listens there',
      remedy: expect.stringContaining('query.address') as string,
    });
    const status = { condition: 'polling', problem: { cause: 'node_error', detail: '' } } as const;
    expect(seen(streamingReading({ query: failed, status })).problem(0)?.cause).toBe('node_error');
  });

  it('is updated as it changes, and ends with the run', () => {
    const ledger = new Ledger();
    const server = streamingReading({ query });
    const encoder = new LiveEncoder(pictureOf(ledger, [server], READ_AT), '1.2.3', clock);
    const live = new LiveFleet(sent(encoder.full()));
    for (const [changes, players, cause] of [
      [{ query: { ...query, players: 13 } }, 13, undefined],
      [{ query: failed }, -1, 'query_refused'],
      [{ query, state: 'offline' }, -1, undefined],
    ] as const) {
      const next = withTarget(server.target, changes);
      live.apply(sent(encoder.delta(pictureOf(ledger, [next], READ_AT))));
      expect(live.value('players', 0)).toBe(players);
      expect(live.problem(0)?.cause).toBe(cause);
    }
  });
});
