// A list that the panel keeps for each server, such as its backups.

import type { ServerTarget } from '../domain/server.ts';
import type { BackupsReading, SchedulesReading } from '../domain/snapshot.ts';

/** How a list of every server is requested. */
export interface IntervalSettings {
  readonly intervalMs: number;
}

/** The lists that are read of every server, by their names in the record. */
export const LISTS = ['backups', 'schedules'] as const;
export type ListName = (typeof LISTS)[number];

/** If a list has more pages than this, the rest is not read. */
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
export interface ListOfServer {
  /** Is it read of this server? */
  readonly isAsked: (target: ServerTarget) => boolean;
  /** Reads it; the call is needed by the deadline. */
  readonly read: (
    server: ServerTarget,
    deadline: number,
    signal: AbortSignal,
  ) => Promise<Omit<BackupsReading & SchedulesReading, 'staleAt'>>;
}

/** Unix seconds, as metrics have them, from the milliseconds that panels send. */
export function seconds(unixMs: number | undefined): number | undefined {
  return unixMs === undefined ? undefined : unixMs / 1_000;
}
