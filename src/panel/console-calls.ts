import { type Clock, sleep } from '../domain/clock.ts';

/**
 * The panel allows five credential calls per minute for each server, shared with people's consoles: the exporter makes at most two.
 */
const CALLS_PER_WINDOW = 2;
const WINDOW_MS = 60_000;

/** Who makes a call: a server's session, or a canary. */
export type ConsoleCaller = 'session' | 'canary';

interface ConsoleCall {
  /** When it was last known not to have ended, in monotonic milliseconds. */
  at: number;
  readonly by: ConsoleCaller;
}

/** Counts credential calls by server, so that people always have a part of each server's limit. */
export class ConsoleCalls {
  readonly #clock: Clock;
  /** The last calls for each server, the earliest first. */
  readonly #calls = new Map<string, readonly ConsoleCall[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** May a call for this server be made now? */
  hasRoom(server: string): boolean {
    return this.#waitMs(server) <= 0;
  }

  /**
   * The server for a canary's call: the one whose last call was the longest ago, and at most once a minute, so that its session
   * doesn't have to wait when the panel is back.
   */
  canaryOf(servers: readonly string[]): string | undefined {
    const recent = this.#clock.now() - WINDOW_MS;
    let chosen: string | undefined;
    let chosenAt = Number.POSITIVE_INFINITY;
    for (const server of servers) {
      const calls = this.#calls.get(server) ?? [];
      const lastAt = calls.at(-1)?.at ?? Number.NEGATIVE_INFINITY;
      const isAsked = calls.some(({ at, by }) => by === 'canary' && at > recent);
      if (isAsked || !this.hasRoom(server) || (chosen !== undefined && lastAt >= chosenAt)) continue;
      chosen = server;
      chosenAt = lastAt;
    }
    return chosen;
  }

  /** Resolves when a call for this server may be made; rejects with the signal's reason. */
  async untilRoom(server: string, signal: AbortSignal): Promise<void> {
    for (let wait = this.#waitMs(server); wait > 0; wait = this.#waitMs(server))
      await sleep(this.#clock, wait, signal);
  }

  /** Makes the call, and counts it until a minute after its end, because the panel may have received it as late as that. */
  async make<T>(server: string, by: ConsoleCaller, call: () => Promise<T>): Promise<T> {
    const made = { at: this.#clock.now(), by };
    this.#calls.set(server, [...(this.#calls.get(server) ?? []), made].slice(-CALLS_PER_WINDOW));
    try {
      return await call();
    } finally {
      made.at = this.#clock.now();
    }
  }

  /** Forgets all calls: another key may be another account's, and calls with a rejected key don't count at the panel. */
  clear(): void {
    this.#calls.clear();
  }

  #waitMs(server: string): number {
    const calls = this.#calls.get(server) ?? [];
    const [oldest] = calls;
    if (oldest === undefined || calls.length < CALLS_PER_WINDOW) return 0;
    return oldest.at + WINDOW_MS - this.#clock.now();
  }
}
