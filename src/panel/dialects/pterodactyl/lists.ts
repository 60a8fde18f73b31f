import type { NodeCapacity } from '../../../domain/reading.ts';
import { finiteLimit, MIB } from '../../../domain/server.ts';
import type { Backup, Schedule } from '../../dialect.ts';
import { asFields, asText, entriesOf, type Fields, limit, valueIn } from './responses.ts';

/** An ISO time in Unix milliseconds. */
function instant(value: unknown): number | undefined {
  const ms = Date.parse(asText(value) ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}

/** The most backups that panels return on one page. */
export const BACKUPS_PER_PAGE = 50;

/** The completed backups on one page of a server's list, in the panel's order. */
export function decodeBackupsPage(body: unknown) {
  const { usable: backups, totalPages } = entriesOf(body, BACKUPS_PER_PAGE, decodeBackup);
  return { backups, totalPages };
}

/**
 * A backup in a server's list; undefined while it isn't complete. A failed backup stays in the list until someone
 * deletes it. Pterodactyl and Pelican panels write `is_successful: false` and `completed_at` when the node reports the failure,
 * or when they give up waiting for a report (after 6 hours by default).
 */
function decodeBackup(attributes: Fields): Backup | undefined {
  const { is_successful: isSuccessful, completed_at: completedAt, bytes } = attributes;
  const completedAtMs = instant(completedAt);
  // The outcome is false from the start: without a completion time, the backup is in progress.
  if (typeof isSuccessful !== 'boolean' || completedAtMs === undefined) return undefined;
  const isSize = typeof bytes === 'number' && bytes >= 0 && bytes <= Number.MAX_SAFE_INTEGER;
  return { isSuccessful, completedAtMs, bytes: isSize ? bytes : undefined };
}

/** More than people make; panels don't page them. */
const MAX_SCHEDULES = 1_000;

export function decodeSchedules(body: unknown): readonly Schedule[] {
  return entriesOf(body, MAX_SCHEDULES, decodeSchedule).usable;
}

/**
 * A schedule in a server's list (`ScheduleTransformer` of Pterodactyl and Pelican); undefined without a number or a name. Without its
 * tasks in the response, it counts as having some.
 */
function decodeSchedule(attributes: Fields): Schedule | undefined {
  const { id } = attributes;
  const name = asText(attributes['name']);
  if (!Number.isSafeInteger(id) || name === undefined) return undefined;
  const tasks = valueIn(attributes, 'relationships', 'tasks', 'data');
  return {
    id: id as number,
    name,
    isDue: attributes['is_active'] === true && !(Array.isArray(tasks) && tasks.length === 0),
    isProcessing: attributes['is_processing'] === true,
    lastRunMs: instant(attributes['last_run_at']),
    nextRunMs: instant(attributes['next_run_at']),
  };
}

/** Panels return as many as are requested; all nodes of most panels fit. */
export const NODES_PER_PAGE = 100;

/** The nodes on one page of the application API's list, in the panel's order. */
export function decodeNodesPage(body: unknown) {
  const { usable: nodes, totalPages } = entriesOf(body, NODES_PER_PAGE, decodeNode);
  return { nodes, totalPages };
}

/**
 * A node in the application API's list (`NodeTransformer` of Pterodactyl and Pelican, which also contains what the daemons'
 * configuration needs); undefined without a name.
 */
function decodeNode(attributes: Fields): NodeCapacity | undefined {
  const name = asText(attributes['name']);
  if (name === undefined) return undefined;
  const allocated = asFields(attributes['allocated_resources']);
  return {
    name,
    memory_bytes: finiteLimit(limit(attributes['memory'], MIB)),
    disk_bytes: finiteLimit(limit(attributes['disk'], MIB)),
    memory_allocated_bytes: sumOfLimits(allocated?.['memory']),
    disk_allocated_bytes: sumOfLimits(allocated?.['disk']),
    memory_overallocation_ratio: overallocation(attributes['memory_overallocate']),
    disk_overallocation_ratio: overallocation(attributes['disk_overallocate']),
    maintenance: Number(attributes['maintenance_mode'] === true),
  };
}

function sumOfLimits(value: unknown): number | undefined {
  return value === 0 ? 0 : finiteLimit(limit(value, MIB));
}

/** In percent on the wire, where -1 means that any amount may be allocated. */
function overallocation(value: unknown): number | undefined {
  if (value === -1) return Number.POSITIVE_INFINITY;
  return typeof value === 'number' && value >= 0 ? value / 100 : undefined;
}
