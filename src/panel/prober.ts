import { weigh } from '../diagnosis/scope.ts';
import type { Cancel, Clock } from '../domain/clock.ts';
import type { CauseCode, Problem } from '../domain/problem.ts';
import type { PanelAnswer } from './api.ts';
import type { Breaker } from './breaker.ts';
import type { Credentials } from './dialect.ts';

/** How often doubts about a panel that works otherwise are worth a call. */
const VERIFY_INTERVAL_MS = 30_000;

/** How often the listing is tried while it is the only path that fails: nothing else may ask for it. */
const RECHECK_INTERVAL_MS = 5 * 60_000;

/** A server's credentials are no probe while so much has not passed since they were last asked for: people share their limit. */
const CREDENTIALS_INTERVAL_MS = 60_000;

/** When a server's credentials were last asked for, and whether the panel proved to work then. */
interface Asked {
  readonly at: number;
  readonly isProof: boolean;
}

/** A probe's outcome, for the server's own call that would ask the same. */
interface Spare {
  readonly server: string;
  readonly at: number;
  readonly answer: Promise<PanelAnswer<Credentials>>;
}

/** The calls that tell how a panel is; the gateway judges how they end, like any other call's end. */
export interface ProbeCalls {
  /** Asks for one entry of the listing, to probe. */
  listing(signal: AbortSignal): Promise<unknown>;
  /** Asks for a server's credentials, to probe. */
  credentials(server: string, signal: AbortSignal): Promise<unknown>;
  /** Asks for one entry of the listing, when its turn comes. */
  recheckListing(): Promise<unknown>;
  /** Lets the probe out that waits. */
  wake(): void;
}

/**
 * Asks a panel how it is: once a minute while the breaker is open, and when calls raised doubts. The question asks no node: one entry of
 * the listing, or the credentials of a server where the listing can't vouch for the panel.
 */
export class Prober {
  readonly #clock: Clock;
  readonly #breaker: Breaker;
  readonly #calls: ProbeCalls;
  /** A listing that is `absent` never vouches for the panel; one that is `unfit` may again. */
  #listing: 'fit' | 'unfit' | 'absent' = 'fit';
  #wasListingAsked = false;
  /** By server, those that were asked longest ago first. */
  readonly #asked = new Map<string, Asked>();
  #spare: Spare | undefined;
  /** The probe that waits or is out; it never rejects. */
  #probing: Promise<void> | undefined;
  /** Withdraws the probe. */
  #withdrawal = new AbortController();
  #verifiedAt = Number.NEGATIVE_INFINITY;
  #cancelProbe: Cancel = () => {};
  #cancelVerification: Cancel | undefined;
  #cancelRecheck: Cancel = () => {};

  constructor(clock: Clock, breaker: Breaker, calls: ProbeCalls) {
    this.#clock = clock;
    this.#breaker = breaker;
    this.#calls = calls;
  }

  /** A call for the listing ended. */
  listingEnded(problem: Problem | undefined): void {
    if (problem === undefined || weigh('listing', problem.cause) === 'proof') this.#listing = 'fit';
    else if (problem.cause === 'not_found') this.#listing = 'absent';
    // A listing that refuses the key, or that no connection leads to, fails for the reason that everything else fails for.
    else if (mayBeOfListing(problem.cause)) this.#listing = 'unfit';
  }

  /** A call for a listing that the servers can do without failed: a panel may refuse it to a key whose servers it gives credentials for. */
  listingMissed(problem: Problem): void {
    const isKeyAccepted = [...this.#asked.values()].some(({ isProof }) => isProof);
    if (problem.cause === 'key_refused' && isKeyAccepted) this.#listing = 'unfit';
    else this.listingEnded(problem);
  }

  /** A call for a server's credentials ended. */
  credentialsEnded(server: string, isProof: boolean): void {
    this.#asked.delete(server);
    this.#asked.set(server, { at: this.#clock.now(), isProof });
  }

  /** Makes a call for a server's credentials whose outcome serves the server's own next call as well. */
  share(server: string, answer: Promise<PanelAnswer<Credentials>>): Promise<PanelAnswer<Credentials>> {
    this.#spare = { server, at: this.#clock.now(), answer };
    return answer;
  }

  /** What a probe was just answered for this server; gives it once. */
  takeSpare(server: string): Promise<PanelAnswer<Credentials>> | undefined {
    const spare = this.#spare;
    if (spare === undefined || spare.server !== server) return undefined;
    this.#spare = undefined;
    return this.#isLongAgo(spare.at) ? undefined : this.#aged(spare);
  }

  /** Forgets servers that are no longer observed. */
  setServers(servers: readonly string[]): void {
    const wanted = new Set(servers);
    for (const server of this.#asked.keys()) if (!wanted.has(server)) this.#asked.delete(server);
  }

  /**
   * A firewall or a slow database may be in the way of the listing alone: can credentials tell whether this failure of a probe is the
   * panel's? `ask` for some, or `wait` because most passed a moment ago; undefined if nothing else can tell.
   */
  secondOpinion({ cause }: Problem): 'ask' | 'wait' | undefined {
    const isListings = mayBeOfListing(cause) || (cause === 'key_refused' && this.#listing === 'unfit');
    if (this.#breaker.problem !== undefined || !isListings) return undefined;
    if (this.#candidate() !== undefined) return 'ask';
    const recent = [...this.#asked.values()].filter(({ at }) => !this.#isLongAgo(at));
    const passed = recent.filter(({ isProof }) => isProof).length;
    return passed > 0 && passed * 2 >= recent.length ? 'wait' : undefined;
  }

  /** Probes when the breaker's time has come. */
  follow(): void {
    const { probeInMs } = this.#breaker;
    if (probeInMs === undefined) return;
    this.#cancelProbe();
    this.#cancelProbe = this.#clock.schedule(probeInMs, () => {
      this.#breaker.admitProbe();
      void this.#probe();
    });
  }

  /** Settles doubts, but not all the time unless `isUrgent`. */
  verify(isUrgent: boolean): void {
    if (this.#cancelVerification !== undefined) {
      if (!isUrgent) return;
      this.#cancelVerification();
    }
    const waitMs = isUrgent ? 0 : this.#verifiedAt + VERIFY_INTERVAL_MS - this.#clock.now();
    this.#cancelVerification = this.#clock.schedule(Math.max(0, waitMs), () => {
      this.#cancelVerification = undefined;
      if (!this.#breaker.isDoubtful) return;
      void this.ask();
    });
  }

  /** Asks now; resolves when the panel's answer is judged. */
  ask(): Promise<void> {
    this.#verifiedAt = this.#clock.now();
    return this.#probe();
  }

  /** The breaker closed: no probe is due, but a listing that failed is asked what it is like now. */
  closed(): void {
    this.#cancelProbe();
    if (this.#listing === 'unfit') this.#recheck();
  }

  /** Asks for the listing now and then, for as long as `isFailing`. */
  watchListing(isFailing: () => boolean): void {
    this.#cancelRecheck();
    this.#cancelRecheck = this.#clock.schedule(RECHECK_INTERVAL_MS, () => {
      if (!isFailing()) return;
      this.watchListing(isFailing);
      this.#recheck();
    });
  }

  /** Nothing that was met before counts any longer. */
  reset(reason: Error): void {
    this.stop();
    this.#withdrawal.abort(reason);
    this.#withdrawal = new AbortController();
    this.#probing = undefined;
    this.#listing = 'fit';
    this.#spare = undefined;
    this.#verifiedAt = Number.NEGATIVE_INFINITY;
  }

  stop(): void {
    this.#cancelProbe();
    this.#cancelVerification?.();
    this.#cancelVerification = undefined;
    this.#cancelRecheck();
  }

  #recheck(): void {
    this.#calls.recheckListing().catch(() => {});
  }

  #probe(): Promise<void> {
    // A probe that waits is as good as another one.
    if (this.#probing !== undefined) {
      this.#calls.wake();
      return this.#probing;
    }
    const over = () => {
      if (this.#probing === probing) this.#probing = undefined;
    };
    const probing: Promise<void> = this.#ask(this.#withdrawal.signal).then(over, over);
    this.#probing = probing;
    return probing;
  }

  #ask(signal: AbortSignal): Promise<unknown> {
    // Where both may be in trouble, they are asked by turns: either may work again first.
    const isListingsTurn = this.#listing === 'unfit' && !this.#wasListingAsked;
    const server = this.#listing === 'fit' || isListingsTurn ? undefined : this.#candidate();
    this.#wasListingAsked = server === undefined;
    return server === undefined ? this.#calls.listing(signal) : this.#calls.credentials(server, signal);
  }

  /** A token's life is counted from its receipt, which for this one was a moment ago. */
  async #aged({ at, answer }: Spare): Promise<PanelAnswer<Credentials>> {
    const ageMs = this.#clock.now() - at;
    const { value, ...rest } = await answer;
    return { ...rest, value: { ...value, lifetimeMs: Math.max(0, value.lifetimeMs - ageMs) } };
  }

  #isLongAgo(at: number): boolean {
    return this.#clock.now() - at >= CREDENTIALS_INTERVAL_MS;
  }

  /** The server whose credentials to ask for: one of its own may fail for a reason of its own, so the best is one that worked. */
  #candidate(): string | undefined {
    const free = [...this.#asked].filter(([, { at }]) => this.#isLongAgo(at));
    return (free.find(([, { isProof }]) => isProof) ?? free[0])?.[0];
  }
}

/** May the listing alone be in trouble: a firewall before it, or a query that takes too long? */
const mayBeOfListing = (cause: CauseCode) => cause === 'timeout' || weigh('listing', cause) === 'doubt';
