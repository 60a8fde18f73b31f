import type { Clock } from '../domain/clock.ts';

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

  /** The next call for this server may be made at this monotonic instant; not after now if it may be made at once. */
  readyAt(server: string): number {
    const calls = this.#calls.get(server) ?? [];
    const [oldest] = calls;
    return oldest === undefined || calls.length < CALLS_PER_WINDOW
      ? Number.NEGATIVE_INFINITY
      : oldest.at + WINDOW_MS;
  }

  /**
   * The server for a canary's call: the one whose last call was the longest ago, and at most once a minute, so that its session
   * doesn't have to wait when the panel is back.
   */
  canaryOf(servers: readonly string[]): string | undefined {
    const now = this.#clock.now();
    const recent = now - WINDOW_MS;
    let chosen: string | undefined;
    let chosenAt = Number.POSITIVE_INFINITY;
    for (const server of servers) {
      const calls = this.#calls.get(server) ?? [];
      const lastAt = calls.at(-1)?.at ?? Number.NEGATIVE_INFINITY;
      const isAsked = calls.some(({ at, by }) => by === 'canary' && at > recent);
      const isHeld = isAsked || this.readyAt(server) > now;
      if (isHeld || (chosen !== undefined && lastAt >= chosenAt)) continue;
      chosen = server;
      chosenAt = lastAt;
    }
    return chosen;
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
}
