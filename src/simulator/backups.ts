import { randomUUID } from 'node:crypto';
import type { BackupEnd, BackupSpec } from './schema.ts';

/** Real panels keep as many backups as a server may have, and every failed one. */
const MOST_LISTED = 50;

const SOME_CHECKSUM = 'da39a3ee5e6b4b0d3255bfef95601890afd80709';
const SOME_BYTES = 734_003_200;

/** Adds a backup that ended at this Unix time to a server's list, and returns the argument of the node's event. */
export function endBackup(
  backups: BackupSpec[],
  { is_successful, bytes }: BackupEnd,
  unixMs: number,
): string {
  // Panels write whole seconds, and the offset in digits.
  const completed_at = new Date(unixMs).toISOString().replace(/\.\d+Z$/, '+00:00');
  backups.push({ is_successful, completed_at, bytes });
  if (backups.length > MOST_LISTED) backups.shift();
  return JSON.stringify({
    checksum: is_successful ? SOME_CHECKSUM : '',
    checksum_type: 'sha1',
    file_size: bytes,
    is_successful,
    uuid: randomUUID(),
  });
}

/** How the backup ends that a server makes by itself at this instant: every third fails. */
export function scheduledEnd(now: number, everyMs: number): BackupEnd {
  const isSuccessful = Math.floor(now / everyMs) % 3 !== 2;
  return { is_successful: isSuccessful, bytes: isSuccessful ? SOME_BYTES : 0 };
}
