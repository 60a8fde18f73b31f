/**
 * The rate limit of one account: a sliding window of 60 s, pauses, and the use by other clients.
 */
import { AT_ONCE, type Clock, NEVER } from '../../domain/clock.ts';
import type { QuietPeriod, RateForm } from '../dialect.ts';
import { PATHS, type Path } from '../subjects.ts';
import { SlidingWindow, WINDOW_MS } from './sliding-window.ts';

/** The limit until the panel reports one: the lowest one seen in the field. */
const UNLEARNED_PER_MINUTE = 60;

/**
 * The part of the limit that the exporter uses. The rest is for people who share the account. The
 * exporter's part is shared by kinds of calls in `start-rules.ts`, `fleet/poll-pace.ts` and
 * `fleet/listing-pace.ts`.
 */
export const PART_OF_LIMIT = 0.8;

/**
 * Responses with a token may report the endpoint's limit for one server, which is 5 per minute on
 * Pelican. Limits of accounts in the field are far higher than this.
 */
const MAX_CONSOLE_LIMIT = 10;

/** The wait if the panel doesn't give one: its limits are per minute. */
export const DEFAULT_WAIT_MS = 60_000;

/** The maximum wait, so that a wrong header never stops the exporter for a day. */
export const MAX_WAIT_MS = 600_000;

/** If less than this part of the limit is left, another client uses the account. */
const SPARE_PART = 0.1;

/** While the account has no spare calls, one probe at a time is made, at least 15 s apart. */
const SPARE_WAIT_MS = 15_000;

/** After a pause, one probe at a time is made, at least 5 s apart. */
const PROBE_MS = 5_000;

/** The exporter's calls per minute for this limit, which is undefined if the panel reports none. */
export function madePerMinute(limitPerMinute: number | undefined): number {
  return (limitPerMinute ?? UNLEARNED_PER_MINUTE) * PART_OF_LIMIT;
}

/** The rate limit in a response's headers, in calls per minute. */
export interface RateFacts {
  readonly limitPerMinute?: number | undefined;
  readonly remaining?: number | undefined;
}

/** The operator's part of a rate limit. */
export interface PinnedRate {
  /** A fixed rate set by the operator, in calls per minute. */
  readonly pinnedPerMinute?: number | undefined;
  /** This shard's share of the limit; 1 by default. */
  readonly share?: number | undefined;
}

/** What a 429 pauses: all calls of the account, one path, or the token calls of one server. */
export type PauseScope = 'account' | Path | `tokens of ${string}`;

/** A pause that the panel demands. It exists until a call shows that it is over. */
export interface Pause {
  readonly scope: PauseScope;
  /** When the panel first demanded it, in monotonic milliseconds. */
  readonly since: number;
  /** In monotonic milliseconds. */
  readonly until: number;
  readonly lengthMs: number;
  /** Whether the panel demanded it again. */
  readonly isRepeated: boolean;
}

const tokenPause = (server: string): PauseScope => `tokens of ${server}`;

function pauseScopes(path: Path, server: string): readonly PauseScope[] {
  return path === 'websocket' ? ['account', path, tokenPause(server)] : ['account', path];
}

/**
 * Called when the number of allowed calls changes. With a server, a pause of its token calls may
 * have begun or ended.
 */
export type LimitChanged = (server?: string) => void;

/** The rate limit of one account. Instants are monotonic milliseconds. */
export class RateLimit {
  readonly #clock: Clock;
  readonly #changed: LimitChanged;
  #rate: PinnedRate;
  readonly #starts = new SlidingWindow();
  /** The starts within the panel's own window, if that is shorter than a minute. */
  #burst: { readonly window: SlidingWindow; readonly part: number } | undefined;
  #defaultPerMinute: number | undefined;
  #quiet: QuietPeriod | undefined;
  /** The first call of the panel's current window. */
  #windowFrom = NEVER;
  readonly #pauses = new Map<PauseScope, Pause>();
  #known: number | undefined;
  /** When a response last reported the known limit. */
  #knownAt = NEVER;
  #spareAt = NEVER;
  /** The account's spare calls; infinite while the panel reports no limit. */
  #spare = Number.POSITIVE_INFINITY;
  /** The end of the minute after spare calls were last reported. */
  #spareUntil = NEVER;

  constructor(clock: Clock, rate: PinnedRate = {}, changed: LimitChanged = () => undefined) {
    this.#clock = clock;
    this.#rate = rate;
    this.#changed = changed;
  }

  /** Sets another rate. The calls of the last minute still count. */
  pin(rate: PinnedRate): void {
    this.#rate = rate;
    this.#changed();
  }

  /** Sets the panel's way of counting calls. */
  speaks({ windowMs, defaultPerMinute, quiet }: RateForm): void {
    const isSame =
      this.#defaultPerMinute === defaultPerMinute &&
      this.#quiet === quiet &&
      (this.#burst?.part ?? 1) === windowMs / WINDOW_MS;
    if (isSame) return;
    this.#defaultPerMinute = defaultPerMinute;
    this.#quiet = quiet;
    const part = windowMs / WINDOW_MS;
    this.#burst = part < 1 ? { window: new SlidingWindow(windowMs), part } : undefined;
    this.#changed();
  }

  /** The maximum number of calls within 60 s. */
  get limitPerMinute(): number {
    const { pinnedPerMinute, share = 1 } = this.#rate;
    return (pinnedPerMinute ?? madePerMinute(this.knownLimitPerMinute)) * share;
  }

  /** Did the operator set the rate? Then the panel's limit isn't used. */
  get isPinned(): boolean {
    return this.#rate.pinnedPerMinute !== undefined;
  }

  /**
   * The panel's own limit, reported or that of an unmodified installation; undefined if unknown.
   */
  get knownLimitPerMinute(): number | undefined {
    return this.#known ?? this.#defaultPerMinute;
  }

  /** The number of calls started within the last minute. */
  get usedLastMinute(): number {
    return this.#starts.count(this.#clock.now());
  }

  /** When any call may start: there is room in the window, a spare call, and no pause. */
  get opensAt(): number {
    return Math.max(this.windowAt, this.spareAt, this.#pauses.get('account')?.until ?? AT_ONCE);
  }

  /**
   * When the window has room for another call, outside the quiet time at the end of the panel's
   * window.
   */
  get windowAt(): number {
    const now = this.#clock.now();
    const inMinute = this.#starts.roomAt(this.limitPerMinute, now);
    const at =
      this.#burst === undefined
        ? inMinute
        : Math.max(inMinute, this.#burst.window.roomAt(this.limitPerMinute * this.#burst.part, now));
    if (this.#quiet === undefined) return at;
    const { fromMs, untilMs } = this.#quiet;
    const sinceFirst = Math.max(at, now) - this.#windowFrom;
    return sinceFirst >= fromMs && sinceFirst < untilMs ? this.#windowFrom + untilMs : at;
  }

  /** When the next probe may check whether an account that others use up has spare calls. */
  get spareAt(): number {
    return this.#spare > 0 ? AT_ONCE : Math.min(this.#spareAt, this.#spareUntil);
  }

  /** The end of the pauses that affect a call. */
  pausedUntil(path: Path, server: string): number {
    if (this.#pauses.size === 0) return AT_ONCE;
    return Math.max(...pauseScopes(path, server).map((scope) => this.#pauses.get(scope)?.until ?? AT_ONCE));
  }

  /** The end of a pause that affects only this server's token calls. */
  tokensPausedUntil(server: string): number {
    return this.#pauses.get(tokenPause(server))?.until ?? AT_ONCE;
  }

  /** Did a 429 affect the call, without a later response that shows its end? */
  isPaused(path: Path, server: string): boolean {
    return this.#pauses.size > 0 && pauseScopes(path, server).some((scope) => this.#pauses.has(scope));
  }

  /** Does such a 429 affect only the token calls of this server? */
  isPausedAlone(path: Path, server: string): boolean {
    return path === 'websocket' && this.#pauses.has(tokenPause(server));
  }

  /** The pause of all calls or of a path; undefined if it is over. */
  currentPause(scope: 'account' | Path): Pause | undefined {
    const pause = this.#pauses.get(scope);
    return pause !== undefined && pause.until > this.#clock.now() ? pause : undefined;
  }

  /** Counts the start of a call. */
  take(path: Path, server: string): void {
    const now = this.#clock.now();
    this.#starts.add(now);
    this.#burst?.window.add(now);
    if (this.#quiet !== undefined && now >= this.#windowFrom + this.#quiet.untilMs) this.#windowFrom = now;
    if (now >= this.#spareUntil) this.#spare = Number.POSITIVE_INFINITY;
    // After a wait, a single call checks whether there are spare calls again.
    this.#spare = Math.max(0, this.#spare - 1);
    if (this.#spare === 0) this.#spareAt = now + SPARE_WAIT_MS;
    for (const scope of pauseScopes(path, server)) {
      const pause = this.#pauses.get(scope);
      if (pause !== undefined) this.#pauses.set(scope, { ...pause, until: now + PROBE_MS });
    }
  }

  /** Ends the pauses that affect a call which ended without a 429. Returns them. */
  answered(path: Path, server: string): readonly PauseScope[] {
    const ended = pauseScopes(path, server).filter((scope) => this.#pauses.delete(scope));
    if (ended.length > 0) this.#changed(server);
    return ended;
  }

  /** Learns from a response of the panel. Returns whether the panel's limit changed. */
  learn(path: Path, { limitPerMinute: limit, remaining }: RateFacts): boolean {
    if (limit === undefined || isOfConsole(path, limit)) return false;
    const now = this.#clock.now();
    const before = this.#known;
    if (remaining !== undefined) {
      // Calls of the account from before this process count, too, so that a restart can't exceed
      // the limit.
      const earlier = before === undefined ? limit - remaining - this.usedLastMinute : 0;
      for (let call = 0; call < earlier; call += 1) this.#starts.add(now);
      const spare = Math.max(0, remaining - Math.ceil(limit * SPARE_PART));
      if (spare === 0 && this.#spare > 0) this.#spareAt = now + SPARE_WAIT_MS;
      this.#spareUntil = now + WINDOW_MS;
      this.#spare = spare;
    }
    // Of several limits that are reported alternately, the lowest is safe.
    if (before !== undefined && limit > before && now - this.#knownAt < WINDOW_MS) return false;
    this.#known = limit;
    this.#knownAt = now;
    if (limit !== before) this.#changed();
    return limit !== before;
  }

  /**
   * Handles a 429, and returns the pause. It is a pause of the account if the response reports the
   * account's limit, or if another path is paused, too. Undefined if it was already paused, because
   * calls in flight are throttled together.
   */
  throttled(
    path: Path,
    server: string,
    { limitPerMinute: limit }: RateFacts,
    demandedMs = DEFAULT_WAIT_MS,
  ): Pause | undefined {
    const now = this.#clock.now();
    this.#forgetOldPauses(now);
    const scope = this.#pauseScope(path, server, limit, now);
    // A panel checks the account's limit first, so a rejection for a server's limit shows that the
    // account has room.
    if (scope === tokenPause(server)) this.#pauses.delete('account');
    const before = this.#pauses.get(scope);
    const isRepeated = before !== undefined;
    const isPaused = isRepeated && before.until > now + PROBE_MS;
    // Doubled when demanded again, because some panels demand pauses that are too short.
    const lengthMs = isPaused
      ? Math.max(demandedMs, before.lengthMs)
      : Math.max(demandedMs, Math.min(2 * (before?.lengthMs ?? 0), DEFAULT_WAIT_MS));
    const until = Math.max(before?.until ?? 0, now + lengthMs);
    // The panel's window ends with the demanded pause.
    if (this.#quiet !== undefined) this.#windowFrom = now + demandedMs - this.#quiet.untilMs;
    const pause = { scope, since: before?.since ?? now, until, lengthMs, isRepeated };
    this.#pauses.delete(scope);
    this.#pauses.set(scope, pause);
    this.#changed(scope === tokenPause(server) ? server : undefined);
    return isPaused ? undefined : pause;
  }

  #pauseScope(path: Path, server: string, limit: number | undefined, now: number): PauseScope {
    if (limit !== undefined) return isOfConsole(path, limit) ? tokenPause(server) : 'account';
    const others = (['account', ...PATHS] as const).filter((other) => other !== path);
    return others.some((other) => (this.#pauses.get(other)?.until ?? AT_ONCE) > now) ? 'account' : path;
  }

  /** Keeps the map small when ids of servers change. It is ordered by the latest demand. */
  #forgetOldPauses(now: number): void {
    for (const [scope, { until }] of this.#pauses) {
      if (until >= now - MAX_WAIT_MS) return;
      this.#pauses.delete(scope);
    }
  }
}

/** Is this the limit for one server's console, and not the account's? */
export function isOfConsole(path: Path, limit = Number.POSITIVE_INFINITY): boolean {
  return path === 'websocket' && limit <= MAX_CONSOLE_LIMIT;
}
