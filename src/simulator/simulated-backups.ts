// The backups of simulated servers.

import { randomUUID } from 'node:crypto';
import type { BackupEnd, BackupSpec } from './simulator-schema.ts';

/**
 * The maximum length of a backup list. Real panels keep as many backups as the server's limit, plus
 * every failed one.
 */
const MAX_LISTED = 50;

const SOME_CHECKSUM = 'da39a3ee5e6b4b0d3255bfef95601890afd80709';
const SOME_BYTES = 734_003_200;

/**
 * Adds a backup that was completed at this Unix time in milliseconds to a server's list. Returns
 * the argument of the node's event.
 */
export function endBackup(
  backups: BackupSpec[],
  { is_successful, bytes }: BackupEnd,
  unixMs: number,
): string {
  // Panels write whole seconds and a numeric offset.
  const completed_at = new Date(unixMs).toISOString().replace(/\.\d+Z$/, '+00:00');
  backups.push({ is_successful, completed_at, bytes });
  if (backups.length > MAX_LISTED) backups.shift();
  return JSON.stringify({
    checksum: is_successful ? SOME_CHECKSUM : '',
    checksum_type: 'sha1',
    file_size: bytes,
    is_successful,
    uuid: randomUUID(),
  });
}

/** The result of a scheduled backup at this instant: every third one fails. */
export function scheduledEnd(now: number, everyMs: number): BackupEnd {
  const isSuccessful = Math.floor(now / everyMs) % 3 !== 2;
  return { is_successful: isSuccessful, bytes: isSuccessful ? SOME_BYTES : 0 };
}
