import type { LookupAddress } from 'node:dns';
import type { Clock } from '../domain/clock.ts';
import { untilAborted } from '../domain/until-aborted.ts';

export type Addresses = readonly LookupAddress[];

/** Looks up a name with the system's resolver. A lookup that has begun can't be ended. */
export type LookUp = (name: string) => Promise<Addresses>;

/**
 * Resolves a name for one panel. Rejects with the resolver's error, or with the signal's reason as soon as it aborts; a lookup
 * that no caller waits for any more is not started.
 */
export type ResolveName = (name: string, signal: AbortSignal) => Promise<Addresses>;

/**
 * How long a failure is repeated without another lookup: all servers of a node retry within seconds, and a silent name server
 * keeps a thread for ten seconds or more each time. Short enough that a corrected name is found soon.
 */
export const FAILURE_MEMORY_MS = 5_000;

/** Names whose last outcome is remembered: a panel may list new names forever. */
const MAX_NAMES = 10_000;

/** A panel as one of those that share the threads. */
interface Owner {
  /** Callers that wait, over all lookups. */
  waiting: number;
  /** The kinds of lookups of which it has one in a thread. */
  readonly busy: Set<NameKind>;
}

/** Names that resolved last time are expected to resolve at once, so they don't wait for others of the same panel. */
type NameKind = 'proven' | 'unproven';

type Outcome = 'resolved' | { readonly error: Error; readonly at: number };

interface Lookup {
  readonly name: string;
  /** The number of waiting callers of each panel. */
  readonly owners: Map<Owner, number>;
  readonly result: Promise<Addresses>;
  readonly resolve: (addresses: Addresses) => void;
  readonly reject: (error: Error) => void;
  isRunning: boolean;
}

export interface NameLookupsOptions {
  readonly lookUp: LookUp;
  readonly clock: Pick<Clock, 'now'>;
  /** How many lookups the system can run at once. */
  readonly threads: number;
}

/**
 * The lookups of all panels. The system's resolver occupies a thread for each lookup, for many seconds if the name server
 * doesn't respond, and there are few threads. Therefore a panel has at most one lookup under way for names that resolved last
 * time, and one for others; free threads rotate between the panels, and the last one is never used for names that failed last
 * time. Callers that want the same name share its lookup. Addresses are not cached.
 */
export class NameLookups {
  readonly #options: NameLookupsOptions;
  readonly #lookups = new Map<string, Lookup>();
  readonly #outcomes = new Map<string, Outcome>();
  /** Panels with waiting callers, the one whose last lookup ended first at the front. */
  readonly #owners = new Set<Owner>();
  #running = 0;
  /** Running lookups of names that failed last time. */
  #retrying = 0;
  #isClosed = false;

  constructor(options: NameLookupsOptions) {
    this.#options = options;
  }

  /** Returns the resolver of another panel. */
  forPanel(): ResolveName {
    const owner: Owner = { waiting: 0, busy: new Set() };
    return (name, signal) => this.#resolve(owner, name, signal);
  }

  /** Rejects all waiting callers, and all later ones. */
  close(): void {
    this.#isClosed = true;
    for (const { reject } of this.#lookups.values()) reject(new Error('the exporter is stopping'));
  }

  async #resolve(owner: Owner, name: string, signal: AbortSignal): Promise<Addresses> {
    signal.throwIfAborted();
    if (this.#isClosed) throw new Error('the exporter is stopping');
    const outcome = this.#outcomes.get(name);
    if (isFailure(outcome) && this.#options.clock.now() < outcome.at + FAILURE_MEMORY_MS) throw outcome.error;
    const lookup = this.#lookups.get(name) ?? this.#add(name);
    lookup.owners.set(owner, (lookup.owners.get(owner) ?? 0) + 1);
    owner.waiting += 1;
    this.#owners.add(owner);
    this.#useThreads();
    try {
      return await untilAborted(lookup.result, signal);
    } finally {
      this.#leave(lookup, owner);
    }
  }

  #add(name: string): Lookup {
    let resolve: Lookup['resolve'] = () => {};
    let reject: Lookup['reject'] = () => {};
    const result = new Promise<Addresses>((onResolved, onRejected) => {
      resolve = onResolved;
      reject = onRejected;
    });
    // It may fail after the last caller has gone.
    result.catch(() => {});
    const lookup = { name, owners: new Map(), result, resolve, reject, isRunning: false };
    this.#lookups.set(name, lookup);
    return lookup;
  }

  #leave(lookup: Lookup, owner: Owner): void {
    const { name, owners } = lookup;
    const others = (owners.get(owner) ?? 1) - 1;
    if (others > 0) owners.set(owner, others);
    else owners.delete(owner);
    if (owners.size === 0 && !lookup.isRunning && this.#lookups.get(name) === lookup)
      this.#lookups.delete(name);
    owner.waiting -= 1;
    if (owner.waiting === 0) this.#owners.delete(owner);
  }

  #useThreads(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) void this.#run(...next);
  }

  /** The lookup to begin, and the panel whose turn it uses; undefined if none may begin now. */
  #next(): readonly [Lookup, Owner] | undefined {
    const { threads } = this.#options;
    if (this.#running >= threads) return undefined;
    return (
      this.#choose(false) ?? (this.#retrying < Math.max(1, threads - 1) ? this.#choose(true) : undefined)
    );
  }

  #choose(isRetry: boolean): readonly [Lookup, Owner] | undefined {
    for (const owner of this.#owners) {
      for (const lookup of this.#lookups.values()) {
        const { name, owners, isRunning } = lookup;
        if (isRunning || !owners.has(owner) || owner.busy.has(this.#kindOf(name))) continue;
        if (isFailure(this.#outcomes.get(name)) === isRetry) return [lookup, owner];
      }
    }
    return undefined;
  }

  async #run(lookup: Lookup, owner: Owner): Promise<void> {
    const { name } = lookup;
    const kind = this.#kindOf(name);
    const retries = isFailure(this.#outcomes.get(name)) ? 1 : 0;
    lookup.isRunning = true;
    owner.busy.add(kind);
    this.#running += 1;
    this.#retrying += retries;
    try {
      const addresses = await this.#options.lookUp(name);
      this.#remember(name, 'resolved');
      lookup.resolve(addresses);
    } catch (error) {
      this.#remember(name, { error: error as Error, at: this.#options.clock.now() });
      lookup.reject(error as Error);
    }
    this.#lookups.delete(name);
    owner.busy.delete(kind);
    this.#running -= 1;
    this.#retrying -= retries;
    if (this.#owners.delete(owner)) this.#owners.add(owner);
    this.#useThreads();
  }

  #kindOf(name: string): NameKind {
    return this.#outcomes.get(name) === 'resolved' ? 'proven' : 'unproven';
  }

  #remember(name: string, outcome: Outcome): void {
    this.#outcomes.delete(name);
    this.#outcomes.set(name, outcome);
    const [oldest] = this.#outcomes.keys();
    if (this.#outcomes.size > MAX_NAMES && oldest !== undefined) this.#outcomes.delete(oldest);
  }
}

function isFailure(outcome: Outcome | undefined): outcome is Exclude<Outcome, 'resolved'> {
  return outcome !== undefined && outcome !== 'resolved';
}
