import type { Backup, BackupsPage, Schedule } from '../../dialect.ts';
import { asFields, asText, attributesOf, entriesOf, instant, isUsable, pageCount } from './fields.ts';

/**
 * The completed backups on one page of a server's list, in the panel's order.
 *
 * @throws ShapeError if the body holds no list
 */
export function decodeBackupsPage(body: unknown): BackupsPage {
  return { backups: entriesOf(body).filter(isUsable) as readonly Backup[], totalPages: pageCount(body) };
}

/**
 * A backup in a server's list; undefined while it isn't complete. A failed backup stays in the list until someone
 * deletes it. Pterodactyl and Pelican panels write `is_successful: false` and `completed_at` when the node reports the failure,
 * or when they give up waiting for a report (after 6 hours by default).
 */
export function decodeBackup(entry: unknown): Backup | undefined {
  const attributes = attributesOf(entry);
  const completedAt = asText(attributes?.['completed_at']);
  const isSuccessful = attributes?.['is_successful'];
  // The outcome is false from the start: without a completion time, the backup is in progress.
  if (typeof isSuccessful !== 'boolean' || completedAt === undefined) return undefined;
  const completedAtMs = instant(completedAt);
  if (completedAtMs === undefined) return undefined;
  const bytes = attributes?.['bytes'];
  const isSize = typeof bytes === 'number' && bytes >= 0 && bytes <= Number.MAX_SAFE_INTEGER;
  return { isSuccessful, completedAtMs, bytes: isSize ? bytes : undefined };
}

/**
 * The server's schedules in the panel's order.
 *
 * @throws ShapeError if the body holds no list
 */
export function decodeSchedules(body: unknown): readonly Schedule[] {
  return entriesOf(body).filter(isUsable) as readonly Schedule[];
}

/**
 * A schedule in a server's list (`ScheduleTransformer` of Pterodactyl and Pelican); undefined without a number or a name. Without its
 * tasks in the response, it counts as having some.
 */
export function decodeSchedule(entry: unknown): Schedule | undefined {
  const attributes = attributesOf(entry);
  const id = attributes?.['id'];
  const name = asText(attributes?.['name']);
  if (attributes === undefined || !Number.isSafeInteger(id) || name === undefined) return undefined;
  const tasks = asFields(asFields(attributes['relationships'])?.['tasks'])?.['data'];
  return {
    id: id as number,
    name,
    isDue: attributes['is_active'] === true && !(Array.isArray(tasks) && tasks.length === 0),
    isProcessing: attributes['is_processing'] === true,
    lastRunMs: instant(attributes['last_run_at']),
    nextRunMs: instant(attributes['next_run_at']),
  };
}
