import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Problem } from '../../../../src/domain/problems.ts';
import { LiveFleet } from '../../../../src/status-page/browser/live-fleet.ts';
import { pictureOf, updateOf } from '../../../support/page-data.ts';
import {
  READ_AT,
  readingOf,
  staleReading,
  streamingReading,
  streamingSnapshot,
} from '../../../support/readings.ts';

const TARGETS = Array.from({ length: 12 }, (_, at) => streamingSnapshot({ target: { id: `${at}` } }).target);
const targetAt = (at: number) => TARGETS[at] ?? streamingSnapshot().target;

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
          readingOf({ ...streamingSnapshot(), cpu_usage_cores, target: targetAt(at) }),
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
