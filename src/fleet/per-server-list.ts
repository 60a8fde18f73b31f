// Lists that the panel keeps for each server, such as its backups.

import type { ServerTarget } from '../domain/server.ts';
import type { BackupsReading, SchedulesReading } from '../domain/snapshot.ts';

/** How often the list of each server is read. */
export interface IntervalSettings {
  readonly intervalMs: number;
}

/** The lists that are read for each server, by their names in the record. */
export const PER_SERVER_LISTS = ['backups', 'schedules'] as const;
export type ListName = (typeof PER_SERVER_LISTS)[number];

/** The maximum number of pages that are read. */
const MAX_PAGES = 20;

/** Reads a list page by page. */
export async function allPages<Page extends { readonly totalPages: number }>(
  read: (page: number) => Promise<Page>,
): Promise<readonly Page[]> {
  const pages: Page[] = [];
  do pages.push(await read(pages.length + 1));
  while (pages.length < Math.min(pages.at(-1)?.totalPages ?? 0, MAX_PAGES));
  return pages;
}

/** How a list of servers is read. */
export interface PerServerList {
  /** Is the list of this server read? */
  readonly isAsked: (target: ServerTarget) => boolean;
  /** Reads it. The call is due by the deadline. */
  readonly read: (
    server: ServerTarget,
    deadline: number,
    signal: AbortSignal,
  ) => Promise<Omit<BackupsReading & SchedulesReading, 'staleAt'>>;
}

/** Unix milliseconds from the panel as Unix seconds for the metrics. */
export function seconds(unixMs: number | undefined): number | undefined {
  return unixMs === undefined ? undefined : unixMs / 1_000;
}
