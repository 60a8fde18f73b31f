import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { CompletedBackups } from '../../../src/fleet/completed-backups.ts';

const MINUTE = 60_000;

/** What a reader that reads at once does with these events; gaps are from one event to the next. */
function play(events: readonly { readonly gapMs: number; readonly server: string }[]) {
  const completed = new CompletedBackups();
  const arrivals: { readonly server: string; readonly at: number }[] = [];
  const reads: { readonly server: string; readonly at: number }[] = [];
  const readUntil = (end: number) => {
    while (completed.nextAt <= end) {
      const at = completed.nextAt;
      const server = completed.take(at);
      if (server !== undefined) reads.push({ server, at });
    }
  };
  let now = 0;
  for (const { gapMs, server } of events) {
    readUntil(now + gapMs);
    now += gapMs;
    arrivals.push({ server, at: now });
    completed.add(server, now);
  }
  readUntil(Number.MAX_VALUE);
  return { arrivals, reads };
}

const EVENTS = fc.array(
  fc.record({ gapMs: fc.integer({ min: 0, max: 90_000 }), server: fc.constantFrom('a', 'b', 'c') }),
  { maxLength: 60 },
);

it('has each event followed by a read within a minute, and no server read twice in a minute', () => {
  fc.assert(
    fc.property(EVENTS, (events) => {
      const { arrivals, reads } = play(events);
      for (const { server, at } of arrivals) {
        const isRead = reads.some(
          (read) => read.server === server && read.at >= at && read.at <= at + MINUTE,
        );
        expect(isRead).toBe(true);
      }
      for (const server of ['a', 'b', 'c']) {
        const instants = reads.filter((read) => read.server === server).map(({ at }) => at);
        for (const [index, at] of instants.entries()) {
          const before = instants[index - 1];
          if (before !== undefined) expect(at - before).toBeGreaterThanOrEqual(MINUTE);
        }
      }
    }),
  );
});

it('reads the first event of a server at once', () => {
  const { reads } = play([
    { gapMs: 5, server: 'a' },
    { gapMs: 1, server: 'b' },
    { gapMs: 1, server: 'a' },
  ]);
  expect(reads).toEqual([
    { server: 'a', at: 5 },
    { server: 'b', at: 6 },
    { server: 'a', at: 5 + MINUTE },
  ]);
});

it('keeps one place for each server, however many events come', () => {
  const completed = new CompletedBackups();
  expect(completed.add('a', 0)).toBe(true);
  expect(completed.add('b', 1)).toBe(true);
  for (let event = 0; event < 1_000; event += 1) expect(completed.add('a', 2)).toBe(false);
  expect([completed.take(2), completed.take(2), completed.take(2)]).toEqual(['a', 'b', undefined]);
});

it('takes nobody who was read for another reason', () => {
  const completed = new CompletedBackups();
  completed.add('a', 0);
  completed.add('b', 1);
  completed.drop('a');
  expect(completed.nextAt).toBe(1);
  expect(completed.take(1)).toBe('b');
  expect(completed.nextAt).toBe(Number.POSITIVE_INFINITY);
});
