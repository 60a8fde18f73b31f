import type { Clock } from '../domain/clock.ts';
import { type BackupsReading, VALID_INTERVALS } from '../domain/reading.ts';
import type { Backup, BackupsPage } from '../panel/dialect.ts';
import type { PanelGateway } from '../panel/gateway.ts';
import type { ListOfServer } from './paced-reads.ts';

/** If a server has more pages of backups than this, the rest is not read. */
const MAX_PAGES = 20;

/** The backups of every server that may have some. */
export function backupsOfServers(
  gateway: Pick<PanelGateway, 'backups'>,
  clock: Clock,
): ListOfServer<BackupsReading> {
  return {
    what: 'backups',
    permission: 'backup.read',
    // The panel rejects every call for a blocked server, and a server that isn't allowed backups has none.
    isAsked: ({ withoutBackups, blocked }) => withoutBackups !== true && blocked === undefined,
    read: async (server, { deadline, intervalMs }, signal) => {
      const read = (page: number) => gateway.backups(server, page, deadline, signal);
      return readingOf(await allBackups(read), clock.now(), intervalMs);
    },
    store: (record, reading) => {
      record.backups = reading;
    },
  };
}

async function allBackups(read: (page: number) => Promise<BackupsPage>): Promise<readonly Backup[]> {
  const all: Backup[] = [];
  let pages = 1;
  for (let page = 1; page <= pages; page += 1) {
    const { backups, totalPages } = await read(page);
    all.push(...backups);
    pages = Math.min(totalPages, MAX_PAGES);
  }
  return all;
}

/** Summarizes a server's backups as of `now` (monotonic milliseconds). */
export function readingOf(backups: readonly Backup[], now: number, intervalMs: number): BackupsReading {
  const successful = backups.filter(({ isSuccessful }) => isSuccessful);
  const lastSuccess = newestOf(successful);
  const lastFailure = newestOf(backups.filter(({ isSuccessful }) => !isSuccessful));
  return {
    count: successful.length,
    staleAt: now + intervalMs * VALID_INTERVALS,
    lastSuccessUnixMs: lastSuccess?.completedAtMs,
    lastFailureUnixMs: lastFailure?.completedAtMs,
    lastSizeBytes: lastSuccess?.bytes,
  };
}

function newestOf(backups: readonly Backup[]): Backup | undefined {
  return backups.reduce<Backup | undefined>(
    (newest, backup) =>
      newest !== undefined && newest.completedAtMs >= backup.completedAtMs ? newest : backup,
    undefined,
  );
}
