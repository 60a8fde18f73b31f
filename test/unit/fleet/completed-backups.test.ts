import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { CompletedBackups } from '../../../src/fleet/completed-backups.ts';

const MINUTE = 60_000;

/** What an immediate reader does with these events. Gaps are the times between events. */
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

it('each event is followed by a read within a minute, and no server is read twice within a minute', () => {
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

it('the first event of a server is read immediately', () => {
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

it('each server has one place, however many events arrive', () => {
  const completed = new CompletedBackups();
  expect(completed.add('a', 0)).toBe(true);
  expect(completed.add('b', 1)).toBe(true);
  for (let event = 0; event < 1_000; event += 1) expect(completed.add('a', 2)).toBe(false);
  expect([completed.take(2), completed.take(2), completed.take(2)]).toEqual(['a', 'b', undefined]);
});

it('a server that was read for another reason is not read again', () => {
  const completed = new CompletedBackups();
  completed.add('a', 0);
  completed.add('b', 1);
  completed.drop('a');
  expect(completed.nextAt).toBe(1);
  expect(completed.take(1)).toBe('b');
  expect(completed.nextAt).toBe(Number.POSITIVE_INFINITY);
});
