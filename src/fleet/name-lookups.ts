import PQueue from 'p-queue';
import type { ResolveName } from '../query/place.ts';

/**
 * Concurrent lookups, of names that resolved last time and of others. Each occupies one of Node's four threads in the system
 * resolver, for seconds if a DNS server is down, and scrapes are compressed on the same threads.
 */
const PROVEN_LOOKUPS = 1;
const UNPROVEN_LOOKUPS = 2;

/**
 * Resolves the names of game servers, a few at a time. Names that resolved last time don't wait for others, since those may take
 * long. Servers that share a name share a pending lookup; no answer is cached.
 */
export class NameLookups {
  readonly #resolve: ResolveName;
  readonly #underWay = new Map<string, Promise<readonly string[]>>();
  /** Names that resolved last time. */
  readonly #proven = new Set<string>();
  readonly #provenLookups = new PQueue({ concurrency: PROVEN_LOOKUPS });
  readonly #unprovenLookups = new PQueue({ concurrency: UNPROVEN_LOOKUPS });

  constructor(resolve: ResolveName) {
    this.#resolve = resolve;
  }

  /** The IP addresses of a name. */
  resolve(name: string): Promise<readonly string[]> {
    return this.#underWay.get(name) ?? this.#begin(name);
  }

  #begin(name: string): Promise<readonly string[]> {
    const queue = this.#proven.has(name) ? this.#provenLookups : this.#unprovenLookups;
    const lookup = queue.add(() => this.#lookUp(name)).finally(() => this.#underWay.delete(name));
    this.#underWay.set(name, lookup);
    return lookup;
  }

  async #lookUp(name: string): Promise<readonly string[]> {
    this.#proven.delete(name);
    const addresses = await this.#resolve(name);
    this.#proven.add(name);
    return addresses;
  }
}
