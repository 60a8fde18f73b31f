import PQueue from 'p-queue';
import type { ResolveName } from '../query/place.ts';

/**
 * Look-ups at once. The system's resolver holds one of Node's four threads for each, for seconds where a DNS server is dead, and scrapes
 * are compressed on the same threads.
 */
const PROVEN_LOOKUPS = 1;
const UNPROVEN_LOOKUPS = 2;

/**
 * Resolves the names of game servers, few at a time. Names that were resolved last time wait for no others, since those may take long.
 * Servers that share a name share a look-up that is under way; no answer is kept.
 */
export class NameLookups {
  readonly #resolve: ResolveName;
  readonly #underWay = new Map<string, Promise<readonly string[]>>();
  /** Names that were resolved last time. */
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
