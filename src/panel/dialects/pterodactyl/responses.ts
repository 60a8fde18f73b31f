import { decodeJwt } from 'jose/jwt/decode';
import type { NodeCapacity } from '../../../domain/reading.ts';
import { finiteLimit, MIB } from '../../../domain/server.ts';
import { type Backup, type Credentials, type Schedule, ShapeError } from '../../dialect.ts';
import { asFields, asText, attributesOf, entriesOf, type Fields, instant, limit, valueIn } from './fields.ts';

/** The contract specifies 10 to 15 minutes; the shorter is assumed if the token contains no expiry. */
const DEFAULT_LIFETIME_MS = 600_000;

/** A token that claims a longer lifetime is still renewed daily. */
const MAX_LIFETIME_MS = 86_400_000;

/** The far end silently drops an auth frame of 4,096 bytes or more; this leaves room for what surrounds the token. */
const MAX_TOKEN_BYTES = 4_000;

export function decodeAccount(body: unknown) {
  const attributes = attributesOf(body);
  const username = asText(attributes?.['username']);
  if (username === undefined) throw new ShapeError('expected "username" in "attributes"');
  // Newer versions of Pelican call it root_admin (app/Transformers/Api/Client/UserTransformer.php).
  return { username, isAdmin: attributes?.['admin'] === true || attributes?.['root_admin'] === true };
}

/** Many times as long as any real address; an open socket keeps several copies of its address. */
const MAX_SOCKET_URL_LENGTH = 2_048;

export function decodeCredentials(body: unknown): Credentials {
  const token = asText(valueIn(body, 'data', 'token'));
  const socketUrl = asText(valueIn(body, 'data', 'socket'));
  if (token === undefined || socketUrl === undefined) {
    throw new ShapeError('expected "token" and "socket" in "data"');
  }
  const bytes = Buffer.byteLength(JSON.stringify(token));
  if (bytes > MAX_TOKEN_BYTES)
    throw new ShapeError(`expected a token of at most ${MAX_TOKEN_BYTES} bytes, got ${bytes}`);
  if (socketUrl.length > MAX_SOCKET_URL_LENGTH) {
    const expected = `expected a socket address of at most ${MAX_SOCKET_URL_LENGTH} characters`;
    throw new ShapeError(`${expected}, got ${socketUrl.length}`);
  }
  return { token, socketUrl, lifetimeMs: tokenLifetimeMs(token) };
}

// Only the difference of the two claims is used: `exp` alone would have to be compared with this machine's wall clock, which may
// be wrong or stepped.
function tokenLifetimeMs(token: string): number {
  const { iat, exp } = readClaims(token);
  if (typeof iat !== 'number' || typeof exp !== 'number') return DEFAULT_LIFETIME_MS;
  const lifetimeMs = (exp - iat) * 1_000;
  return lifetimeMs > 0 ? Math.min(lifetimeMs, MAX_LIFETIME_MS) : DEFAULT_LIFETIME_MS;
}

function readClaims(token: string): { readonly iat?: unknown; readonly exp?: unknown } {
  try {
    return decodeJwt(token);
  } catch {
    return {};
  }
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
