// The backups of servers, from the panel's list to the snapshot.

import type { BackupsReading } from '../domain/snapshot.ts';
import type { PanelGateway } from '../panel/gateway.ts';
import type { Backup } from '../panel/responses.ts';
import { allPages, type PerServerList, seconds } from './per-server-list.ts';

/** Reads the backups of every server that may have some. */
export function backupsOfServers({
  gateway,
}: {
  readonly gateway: Pick<PanelGateway, 'backups'>;
}): PerServerList {
  return {
    // The panel rejects calls for a blocked server, and a server without a backup quota has no
    // backups.
    isAsked: ({ withoutBackups, blocked }) => withoutBackups !== true && blocked === undefined,
    read: async (server, deadline, signal) => {
      const pages = await allPages((page) => gateway.backups(server, page, deadline, signal));
      return shownBackups(pages.flatMap(({ backups }) => backups));
    },
  };
}

/** A server's backups in the form of the snapshot. */
export function shownBackups(backups: readonly Backup[]): Omit<BackupsReading, 'staleAt'> {
  const newestFirst = backups.toSorted((one, other) => other.completedAtMs - one.completedAtMs);
  const success = newestFirst.find(({ isSuccessful }) => isSuccessful);
  const failure = newestFirst.find(({ isSuccessful }) => !isSuccessful);
  return {
    backups: backups.filter(({ isSuccessful }) => isSuccessful).length,
    backup_last_success_timestamp_seconds: seconds(success?.completedAtMs),
    backup_last_failure_timestamp_seconds: seconds(failure?.completedAtMs),
    backup_last_size_bytes: success?.bytes,
  };
}
