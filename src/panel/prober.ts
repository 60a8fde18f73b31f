import { weigh } from '../diagnosis/scope.ts';
import type { Cancel, Clock } from '../domain/clock.ts';
import type { CauseCode, Problem } from '../domain/problem.ts';
import type { PanelAnswer } from './api.ts';
import type { Breaker } from './breaker.ts';
import type { Credentials } from './dialect.ts';

/** The shortest gap between calls that settle doubts about a panel that otherwise works. */
const VERIFY_INTERVAL_MS = 30_000;

/** How often the listing is tried while it is the only failing path, because nothing else may request it. */
const RECHECK_INTERVAL_MS = 5 * 60_000;

/** A server's credentials are not used for a probe within this time of their last request, because people share their limit. */
const CREDENTIALS_INTERVAL_MS = 60_000;

/** When a server's credentials were last requested, and whether that proved the panel to be working. */
interface Asked {
  readonly at: number;
  readonly isProof: boolean;
}

/** A probe's outcome, kept for the server's own identical call. */
interface Spare {
  readonly server: string;
  readonly at: number;
  readonly answer: Promise<PanelAnswer<Credentials>>;
}

/** The calls that show a panel's health; the gateway judges their outcome like that of any other call. */
export interface ProbeCalls {
  /** Requests one entry of the listing as a probe. */
  listing(signal: AbortSignal): Promise<unknown>;
  /** Requests a server's credentials as a probe. */
  credentials(server: string, signal: AbortSignal): Promise<unknown>;
  /** Requests one entry of the listing as an ordinary call. */
  recheckListing(): Promise<unknown>;
  /** Starts the waiting probe. */
  wake(): void;
}

/**
 * Checks a panel's health: once a minute while the breaker is open, and when calls raise doubts. The probe involves no node: it
 * requests one entry of the listing, or a server's credentials if the listing can't prove the panel to be working.
 */
export class Prober {
  readonly #clock: Clock;
  readonly #breaker: Breaker;
  readonly #calls: ProbeCalls;
  /** An `absent` listing never proves the panel to be working; an `unfit` one may again. */
  #listing: 'fit' | 'unfit' | 'absent' = 'fit';
  #wasListingAsked = false;
  /** By server, least recently requested first. */
  readonly #asked = new Map<string, Asked>();
  #spare: Spare | undefined;
  /** The probe that is waiting or in progress; it never rejects. */
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
    // If the listing refuses the key or can't be connected to, the reason is the same for every other path.
    else if (mayBeOfListing(problem.cause)) this.#listing = 'unfit';
  }

  /** A call for an optional listing failed: a panel may refuse the listing to a key to which it grants credentials. */
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

  /** Makes a call for a server's credentials whose outcome is also used for the server's own next call. */
  share(server: string, answer: Promise<PanelAnswer<Credentials>>): Promise<PanelAnswer<Credentials>> {
    this.#spare = { server, at: this.#clock.now(), answer };
    return answer;
  }

  /** A recent probe's answer for this server; returned only once. */
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
   * A firewall or a slow database may affect the listing alone: can credentials show whether this probe's failure is the panel's?
   * `ask` to request some, or `wait` because most succeeded recently; undefined if nothing else can show it.
   */
  secondOpinion({ cause }: Problem): 'ask' | 'wait' | undefined {
    const isListings = mayBeOfListing(cause) || (cause === 'key_refused' && this.#listing === 'unfit');
    if (this.#breaker.problem !== undefined || !isListings) return undefined;
    if (this.#candidate() !== undefined) return 'ask';
    const recent = [...this.#asked.values()].filter(({ at }) => !this.#isLongAgo(at));
    const passed = recent.filter(({ isProof }) => isProof).length;
    return passed > 0 && passed * 2 >= recent.length ? 'wait' : undefined;
  }

  /** Probes when the breaker says that it is time. */
  follow(): void {
    const { probeInMs } = this.#breaker;
    if (probeInMs === undefined) return;
    this.#cancelProbe();
    this.#cancelProbe = this.#clock.schedule(probeInMs, () => {
      this.#breaker.admitProbe();
      void this.#probe();
    });
  }

  /** Settles doubts, at a limited rate unless `isUrgent`. */
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

  /** Probes now; resolves when the panel's answer is judged. */
  ask(): Promise<void> {
    this.#verifiedAt = this.#clock.now();
    return this.#probe();
  }

  /** The breaker closed: no probe is due, but a listing that failed is tried again. */
  closed(): void {
    this.#cancelProbe();
    if (this.#listing === 'unfit') this.#recheck();
  }

  /** Requests the listing from time to time, as long as `isFailing`. */
  watchListing(isFailing: () => boolean): void {
    this.#cancelRecheck();
    this.#cancelRecheck = this.#clock.schedule(RECHECK_INTERVAL_MS, () => {
      if (!isFailing()) return;
      this.watchListing(isFailing);
      this.#recheck();
    });
  }

  /** Forgets everything recorded so far. */
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
    // A waiting probe is as good as a new one.
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
    // If both may be in trouble, they alternate: either may recover first.
    const isListingsTurn = this.#listing === 'unfit' && !this.#wasListingAsked;
    const server = this.#listing === 'fit' || isListingsTurn ? undefined : this.#candidate();
    this.#wasListingAsked = server === undefined;
    return server === undefined ? this.#calls.listing(signal) : this.#calls.credentials(server, signal);
  }

  /** A token's lifetime counts from its receipt, which was a moment ago for this one. */
  async #aged({ at, answer }: Spare): Promise<PanelAnswer<Credentials>> {
    const ageMs = this.#clock.now() - at;
    const { value, ...rest } = await answer;
    return { ...rest, value: { ...value, lifetimeMs: Math.max(0, value.lifetimeMs - ageMs) } };
  }

  #isLongAgo(at: number): boolean {
    return this.#clock.now() - at >= CREDENTIALS_INTERVAL_MS;
  }

  /** The server whose credentials to request: a server can fail for a reason of its own, so one that worked is best. */
  #candidate(): string | undefined {
    const free = [...this.#asked].filter(([, { at }]) => this.#isLongAgo(at));
    return (free.find(([, { isProof }]) => isProof) ?? free[0])?.[0];
  }
}

/** Can the problem concern the listing alone, such as a firewall in front of it or a slow query? */
const mayBeOfListing = (cause: CauseCode) => cause === 'timeout' || weigh('listing', cause) === 'doubt';
