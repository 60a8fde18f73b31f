import { describe, expect, it } from 'vitest';
import { endBackup, scheduledEnd } from '../../../src/simulator/simulated-backups.ts';
import type { BackupSpec } from '../../../src/simulator/simulator-schema.ts';

const UNIX = Date.UTC(2026, 10, 29, 6, 7, 8, 999);

describe('a backup that ends', () => {
  it.each([
    [true, 'da39a3ee5e6b4b0d3255bfef95601890afd80709'],
    [false, ''],
  ])('is in the list, and told by the node: %s', (isSuccessful, checksum) => {
    const backups: BackupSpec[] = [];
    const told = JSON.parse(endBackup(backups, { is_successful: isSuccessful, bytes: 7 }, UNIX)) as object;
    expect(backups).toEqual([
      { is_successful: isSuccessful, completed_at: '2026-11-29T06:07:08+00:00', bytes: 7 },
    ]);
    expect(told).toEqual({
      checksum,
      checksum_type: 'sha1',
      file_size: 7,
      is_successful: isSuccessful,
      uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  it('takes the place of the oldest of fifty', () => {
    const backups: BackupSpec[] = [];
    for (let bytes = 0; bytes < 60; bytes += 1) endBackup(backups, { is_successful: true, bytes }, UNIX);
    expect(backups.map(({ bytes }) => bytes)).toEqual(Array.from({ length: 50 }, (_, index) => index + 10));
  });
});

it('every third scheduled backup fails', () => {
  const ends = [0, 1, 2, 3, 4, 5].map((index) => scheduledEnd(index * 1_000 + 999, 1_000));
  expect(ends.map(({ is_successful: isSuccessful }) => isSuccessful)).toEqual([
    true,
    true,
    false,
    true,
    true,
    false,
  ]);
  expect(ends.map(({ bytes }) => bytes > 0)).toEqual(
    ends.map(({ is_successful: isSuccessful }) => isSuccessful),
  );
});
