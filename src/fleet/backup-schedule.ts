import type { BackupsReading } from '../domain/reading.ts';
import type { Backup } from '../panel/decode-backups.ts';

/** How the last question for a server's backups ended; `refused` where the account may not see them. */
export type BackupOutcome = 'answered' | 'failed' | 'refused';

/** A refusal is lifted by a person: it is asked about once a day. */
const REFUSED_RETRY_MS = 24 * 60 * 60_000;

/** What was answered holds on for so many intervals. */
const STALENESS_INTERVALS = 2.5;

/** The part of a panel's budget that backups take at the most. */
const BACKUP_SHARE = 0.1;

/** How often each of so many servers is asked, in milliseconds: as configured, or as often as their part of the budget carries. */
export function backupIntervalMs(intervalMs: number, servers: number, callsPerMinute: number): number {
  return Math.max(intervalMs, (servers / (callsPerMinute * BACKUP_SHARE)) * 60_000);
}

/**
 * Milliseconds until a server is asked again. Each has a place of its own in the interval (`phase`, from 0 to 1), so that a
 * fleet which was asked in a row at the start spreads out.
 */
export function untilNextMs(
  now: number,
  outcome: BackupOutcome,
  { phase, intervalMs }: { readonly phase: number; readonly intervalMs: number },
): number {
  if (outcome === 'refused') return Math.max(REFUSED_RETRY_MS, intervalMs);
  const earliest = now + intervalMs / 2;
  const start = phase * intervalMs;
  const place = start + Math.ceil((earliest - start) / intervalMs) * intervalMs;
  return place - now;
}

/** What a server's backups amount to, as of the monotonic instant `now`. */
export function readingOf(backups: readonly Backup[], now: number, intervalMs: number): BackupsReading {
  const last = backups.reduce<Backup | undefined>(
    (newest, backup) =>
      newest !== undefined && newest.completedAtMs >= backup.completedAtMs ? newest : backup,
    undefined,
  );
  return {
    count: backups.length,
    staleAt: now + intervalMs * STALENESS_INTERVALS,
    ...(last !== undefined && { lastSuccessUnixMs: last.completedAtMs }),
    ...(last?.bytes !== undefined && { lastSizeBytes: last.bytes }),
  };
}
