// Divides the file descriptors of the process among console sockets and HTTP connections.

import type { SharedSockets } from '../fleet/shared-sockets.ts';

/**
 * Descriptors of Node.js and of the program's files, pipes and listeners: about 21 are in use
 * before the first connection.
 */
const OWN_DESCRIPTORS = 24;

/** Connections of scrapers and browsers: an eighth of all descriptors, from 48 to 256. */
const CONNECTION_SHARE = 1 / 8;
const MIN_CONNECTIONS = 48;
const MAX_CONNECTIONS = 256;

/**
 * Descriptors for API calls that all panels share, because panels rarely make calls at the same
 * time.
 */
const CALLS = 6;
const CALLS_PER_PANEL = 2;

/**
 * A replaced console socket is still closing while the next one opens, and name lookups use
 * descriptors, too.
 */
const OVERLAP = 8;

/**
 * The maximum number of console sockets of one panel, so that panels with smaller needs get all of
 * theirs. Of 100 sockets for panels that need 10, 60 and 60, it is 45. Infinite if all needs are
 * met.
 */
export function equalPart(sockets: number, needs: readonly number[]): number {
  let rest = sockets;
  const smallestFirst = [...needs].sort((one, other) => one - other);
  for (const [served, need] of smallestFirst.entries()) {
    const part = Math.floor(rest / (smallestFirst.length - served));
    if (need > part) return part;
    rest -= need;
  }
  return Number.POSITIVE_INFINITY;
}

/**
 * Divides the process's file descriptors: scrapes and API calls have a reserve, and all panels
 * share the rest for their sockets.
 */
export class SocketLimit implements SharedSockets {
  readonly descriptors: number;
  /** Connections that the exporter's own HTTP server may hold. */
  readonly connections: number;
  /**
   * The number of sockets that each panel needs, by the function that is called when the panel's
   * share may have changed.
   */
  readonly #needs = new Map<() => void, number>();
  part = Number.POSITIVE_INFINITY;

  constructor(descriptors = Number.POSITIVE_INFINITY) {
    const share = Math.floor(descriptors * CONNECTION_SHARE);
    this.descriptors = descriptors;
    this.connections = Math.min(Math.max(share, MIN_CONNECTIONS), MAX_CONNECTIONS);
  }

  get sockets(): number {
    return Math.max(0, this.descriptors - this.#reserve(this.connections));
  }

  get requiredDescriptors(): number {
    return [...this.#needs.values()].reduce((sum, need) => sum + need, this.#reserve(MAX_CONNECTIONS));
  }

  require(sockets: number, changed: () => void): void {
    this.#needs.set(changed, sockets);
    this.#divide();
  }

  leave(changed: () => void): void {
    this.#needs.delete(changed);
    this.#divide();
  }

  #reserve(connections: number): number {
    return OWN_DESCRIPTORS + connections + CALLS + CALLS_PER_PANEL * this.#needs.size + OVERLAP;
  }

  #divide(): void {
    const part = equalPart(this.sockets, [...this.#needs.values()]);
    if (part === this.part) return;
    this.part = part;
    for (const changed of this.#needs.keys()) changed();
  }
}
