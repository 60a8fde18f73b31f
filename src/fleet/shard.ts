import { createHash } from 'node:crypto';
import { identityOf, type ServerTarget } from '../domain/server.ts';

/** Which of how many exporters this one is; `index` counts from 0. */
export interface Shard {
  readonly index: number;
  readonly total: number;
}

/** An exporter that has all servers for itself. */
export const WHOLE: Shard = { index: 0, total: 1 };

/**
 * The shard that a server belongs to, by rendezvous hashing: each shard draws a number for the server and the highest one has it.
 * So when the count changes, only the servers move that the new shard wins or the gone one had.
 */
export function shardOf(server: Pick<ServerTarget, 'panel' | 'id'>, total: number): number {
  const subject = JSON.stringify([server.panel, identityOf(server)]);
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

/** Is the server this shard's? */
export function isInShard(server: Pick<ServerTarget, 'panel' | 'id'>, shard: Shard): boolean {
  return shard.total === 1 || shardOf(server, shard.total) === shard.index;
}
