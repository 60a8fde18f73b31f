import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { shownBackups } from '../../../src/fleet/backups.ts';

const END = fc.record({
  isSuccessful: fc.boolean(),
  completedAtMs: fc.nat(1_000_000_000),
  bytes: fc.nat(1_000_000),
});

const seconds = (ms: number | undefined) => (ms === undefined ? undefined : ms / 1_000);

it('a reading has the newest successful and the newest failed backup, and the number of successful ones', () => {
  fc.assert(
    fc.property(fc.array(END), (backups) => {
      const reading = shownBackups(backups);
      const endsOf = (successful: boolean) =>
        backups
          .filter(({ isSuccessful }) => isSuccessful === successful)
          .map(({ completedAtMs }) => completedAtMs)
          .sort((a, b) => b - a);
      const successes = endsOf(true);
      expect(reading.backups).toBe(successes.length);
      expect(reading.backup_last_success_timestamp_seconds).toBe(seconds(successes[0]));
      expect(reading.backup_last_failure_timestamp_seconds).toBe(seconds(endsOf(false)[0]));
      const sizes = backups
        .filter(({ isSuccessful, completedAtMs }) => isSuccessful && completedAtMs === successes[0])
        .map(({ bytes }) => bytes);
      expect(sizes.length === 0 ? [undefined] : sizes).toContain(reading.backup_last_size_bytes);
    }),
  );
});

it('a reading omits what is unknown', () => {
  expect(shownBackups([])).toEqual({ backups: 0 });
  const sizes = [
    { isSuccessful: true, completedAtMs: 2, bytes: 20 },
    { isSuccessful: true, completedAtMs: 3 },
  ];
  expect(shownBackups(sizes)).toEqual({
    backups: 2,
    backup_last_success_timestamp_seconds: 0.003,
  });
  const failed = [{ isSuccessful: false, completedAtMs: 4, bytes: 0 }];
  expect(shownBackups(failed)).toEqual({
    backups: 0,
    backup_last_failure_timestamp_seconds: 0.004,
  });
});
