import PQueue from 'p-queue';
import type { ResolveName } from '../query/place.ts';

/**
 * Look-ups at once. The system's resolver holds one of Node's four threads for each, for seconds where a DNS server is dead, and scrapes
 * are compressed on the same threads. Names of servers that didn't answer last share one, so that they hold up no other name.
 */
const LOOKUPS = 2;
const SILENT_LOOKUPS = 1;

/** Resolves the names of game servers, few at a time. Servers that share a name share a look-up that is under way. */
export class NameLookups {
  readonly #resolve: ResolveName;
  readonly #underWay = new Map<string, Promise<readonly string[]>>();
  readonly #lookups = new PQueue({ concurrency: LOOKUPS });
  readonly #silentLookups = new PQueue({ concurrency: SILENT_LOOKUPS });

  constructor(resolve: ResolveName) {
    this.#resolve = resolve;
  }

  /** The IP addresses of a name; `isSilent` if the server that goes by it didn't answer last. */
  resolve(name: string, isSilent: boolean): Promise<readonly string[]> {
    return this.#underWay.get(name) ?? this.#begin(name, isSilent);
  }

  #begin(name: string, isSilent: boolean): Promise<readonly string[]> {
    const queue = isSilent ? this.#silentLookups : this.#lookups;
    const lookup = queue.add(() => this.#resolve(name)).finally(() => this.#underWay.delete(name));
    this.#underWay.set(name, lookup);
    return lookup;
  }
}
