import { expect, it } from 'vitest';
import { endBackup, scheduledEnd } from '../../../src/simulator/fleet.ts';
import type { BackupSpec } from '../../../src/simulator/schema.ts';

it('an ended backup is in the list and in the event', () => {
  const backups: BackupSpec[] = [];
  const outcome: unknown = JSON.parse(
    endBackup(backups, { is_successful: false, bytes: 0 }, Date.UTC(2026, 10, 20, 4, 0, 30, 250)),
  );
  expect(backups).toEqual([{ is_successful: false, completed_at: '2026-11-20T04:00:30+00:00', bytes: 0 }]);
  expect(outcome).toMatchObject({ is_successful: false, checksum: '', checksum_type: 'sha1', file_size: 0 });
});

it('the list of a server with many backups stays short', () => {
  const backups: BackupSpec[] = [];
  for (let made = 0; made < 200; made += 1) endBackup(backups, { is_successful: true, bytes: made }, made);
  expect(backups).toHaveLength(50);
  expect(backups.at(-1)?.bytes).toBe(199);
});

it('every third scheduled backup fails', () => {
  const ends = [0, 1, 2, 3, 4, 5].map((index) => scheduledEnd(index * 100 + 7, 100).is_successful);
  expect(ends).toEqual([true, true, false, true, true, false]);
});
