import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RecentRefusals } from '../../../src/http/recent-refusals.ts';
import { ManualClock } from '../../support/manual-clock.ts';

test('rejections count for one to two minutes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(200_000), fc.nat(200_000), async (before, after) => {
      const clock = new ManualClock();
      const refusals = new RecentRefusals(clock);
      await clock.advance(before);
      refusals.add('a');
      refusals.add('a');
      await clock.advance(after);
      expect(refusals.of('b')).toBe(0);
      if (after < 60_000) expect(refusals.of('a')).toBe(2);
      if (after >= 120_000) expect(refusals.of('a')).toBe(0);
    }),
  );
});

test('a client with a correct password has no rejections', () => {
  const refusals = new RecentRefusals(new ManualClock());
  refusals.add('a');
  refusals.add('b');
  refusals.forget('a');
  expect([refusals.of('a'), refusals.of('b')]).toEqual([0, 1]);
});

test('the number of remembered clients is limited, and the latest is among them', () => {
  const refusals = new RecentRefusals(new ManualClock(), 10);
  const clients = Array.from({ length: 1_000 }, (_, index) => `${index}`);
  for (const client of clients) refusals.add(client);
  const known = clients.filter((client) => refusals.of(client) > 0);
  expect(known.length).toBeLessThanOrEqual(22);
  expect(known).toContain('999');
});
