// The servers of the storm's fleet, and their nodes.

import { createHash } from 'node:crypto';

/** A server of the fleet. */
export interface StormServer {
  readonly uuid: string;
  readonly name: string;
  /** The index of the server's node. */
  readonly node: number;
}

/** The first node's share of the servers. The other nodes share the rest equally. */
const LARGE_NODE_SHARE = 0.1;

/**
 * Returns `count` servers on `nodes` nodes, the first of which is the largest. All calls return the
 * same servers.
 */
export function stormFleet(count: number, nodes: number): readonly StormServer[] {
  const large = Math.ceil(count * LARGE_NODE_SHARE);
  return Array.from({ length: count }, (_, index) => ({
    uuid: uuidOf(index),
    name: `server-${index + 1}`,
    node: index < large || nodes === 1 ? 0 : 1 + ((index - large) % (nodes - 1)),
  }));
}

/**
 * The first eight digits are unique. Among 10,000 random ids, two would have the same ones, and one
 * of these servers would not be monitored.
 */
function uuidOf(index: number): string {
  const hex = createHash('sha256').update(`server ${index}`).digest('hex');
  return [
    (0x10_00_00_00 + index).toString(16),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
