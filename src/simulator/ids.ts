// The ids in simulated panels.

import { createHash } from 'node:crypto';
import { BASE32 } from '../domain/server-ids.ts';

/**
 * The identifier that newer panels give a server in addition to the short one: its UUID's bytes in
 * base32.
 */
export function serverIdentifier(uuid: string): string {
  const bytes = Buffer.from(uuid.replaceAll('-', ''), 'hex');
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0'));
  const digits = bits.join('').match(/.{1,5}/g) ?? [];
  return `serv_${digits.map((five) => BASE32[Number.parseInt(five.padEnd(5, '0'), 2)]).join('')}`;
}

/** A UUID for a text. The same text always gives the same UUID. */
export function uuidFor(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
