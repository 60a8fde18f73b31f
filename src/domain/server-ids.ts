// The ids of a server, short and full.

import type { ServerTarget } from './server.ts';

/**
 * Length of the short identifier: the first characters of the UUID (`uuidShort` in the panels'
 * sources).
 */
export const SHORT_ID_LENGTH = 8;

/**
 * The identifier in newer panels: `serv_` and the UUID's 16 bytes in base32
 * (`HasRealtimeIdentifier` of Pterodactyl).
 */
const LONG_IDENTIFIER = /^serv_(?<digits>[a-z2-7]{26})$/i;

/** The digits of base32 (RFC 4648), in lower case. */
export const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

/** The canonical form of an id: the UUID for `serv_…`, and any other id unchanged. */
export function canonicalId(id: string): string {
  const digits = LONG_IDENTIFIER.exec(id)?.groups?.['digits']?.toLowerCase();
  if (digits === undefined) return id;
  const bits = Array.from(digits, (digit) => BASE32.indexOf(digit).toString(2).padStart(5, '0')).join('');
  const hex = Array.from({ length: 32 }, (_, place) =>
    Number.parseInt(bits.slice(place * 4, place * 4 + 4), 2).toString(16),
  ).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** The short identifier of a server: the label `server_id`, and its key within the panel. */
export function shortId({ id }: Pick<ServerTarget, 'id'>): string {
  return id.slice(0, SHORT_ID_LENGTH).toLowerCase();
}

/**
 * Are both the same server of one panel? A short id equals the full id that begins with it: a panel
 * never has two servers with the same short id, but may reuse one later.
 */
export function isSameServer(one: ServerIds, other: ServerIds): boolean {
  const [a = '', b = ''] = [one, other].map(({ id, uuid = id }) => uuid.toLowerCase());
  return a.startsWith(b) || b.startsWith(a);
}

type ServerIds = Pick<ServerTarget, 'id' | 'uuid'>;

/** The id if it is a UUID; undefined if it is a short one. */
export function fullId({ id }: ServerIds): string | undefined {
  return id.length > SHORT_ID_LENGTH ? id.toLowerCase() : undefined;
}
