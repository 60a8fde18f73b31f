// Divides the servers among several exporters.

import { createHash } from 'node:crypto';
import type { ServerTarget } from '../domain/server.ts';
import { shortId } from '../domain/server-ids.ts';

/** This exporter's place among all shards; `index` counts from 0. */
export interface Shard {
  readonly index: number;
  readonly total: number;
}

/** A single exporter for all servers. */
export const SINGLE_SHARD: Shard = { index: 0, total: 1 };

/**
 * The shard of a server, by rendezvous hashing: each shard draws a number for the server, and the
 * highest wins. When a shard is added or removed, only the servers that it wins or had move.
 */
export function chooseShard(server: Pick<ServerTarget, 'panel' | 'id'>, total: number): number {
  const subject = JSON.stringify([server.panel, shortId(server)]);
  let winner = 0;
  let highest = '';
  for (let index = 0; index < total; index += 1) {
    const draw = createHash('sha256').update(`${index} ${subject}`).digest('hex');
    if (draw > highest) {
      highest = draw;
      winner = index;
    }
  }
  return winner;
}

/** Does the server belong to this shard? */
export function isInShard(server: Pick<ServerTarget, 'panel' | 'id'>, shard: Shard): boolean {
  return shard.total === 1 || chooseShard(server, shard.total) === shard.index;
}
