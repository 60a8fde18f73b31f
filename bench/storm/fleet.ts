/** The servers of the simulated fleet, and their nodes. */

import { createHash } from 'node:crypto';

/** One server of the fleet. */
export interface StormServer {
  readonly uuid: string;
  readonly name: string;
  /** The index of its node. */
  readonly node: number;
}

/** The share of the fleet that the first node has; the other nodes share the rest equally. */
const LARGE_NODE_SHARE = 0.1;

/** `count` servers on `nodes` nodes, of which the first is the largest; the same ones at every call. */
export function stormFleet(count: number, nodes: number): readonly StormServer[] {
  const large = Math.ceil(count * LARGE_NODE_SHARE);
  return Array.from({ length: count }, (_, index) => ({
    uuid: uuidOf(index),
    name: `server-${index + 1}`,
    node: index < large || nodes === 1 ? 0 : 1 + ((index - large) % (nodes - 1)),
  }));
}

/** No two begin alike: of 10,000 random ones two would, and one of these would not be monitored. */
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
