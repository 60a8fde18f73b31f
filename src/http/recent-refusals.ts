import type { Clock } from '../domain/clock.ts';

/** How long a refusal counts: one of these at least, two at most. */
const PERIOD_MS = 60_000;

/** Clients that are remembered of each period, some 100 bytes each. */
const MAX_CLIENTS = 10_000;

/**
 * How often each client was refused lately, or cut to make room: what tells a flood from a newcomer. Bounded in time and memory.
 */
export class RecentRefusals {
  readonly #clock: Clock;
  readonly #maxClients: number;
  #current = new Map<string, number>();
  #previous = new Map<string, number>();
  #since: number;

  constructor(clock: Clock, maxClients = MAX_CLIENTS) {
    this.#clock = clock;
    this.#maxClients = maxClients;
    this.#since = clock.now();
  }

  of(client: string): number {
    this.#expire();
    return (this.#current.get(client) ?? 0) + (this.#previous.get(client) ?? 0);
  }

  add(client: string): void {
    this.#expire();
    this.#current.set(client, (this.#current.get(client) ?? 0) + 1);
    if (this.#current.size > this.#maxClients) this.#turn();
  }

  /** The client has proved that it may come in. */
  forget(client: string): void {
    this.#current.delete(client);
    this.#previous.delete(client);
  }

  #expire(): void {
    const periods = Math.floor((this.#clock.now() - this.#since) / PERIOD_MS);
    if (periods > 0) this.#turn();
    if (periods > 1) this.#turn();
  }

  #turn(): void {
    this.#previous = this.#current;
    this.#current = new Map();
    this.#since = this.#clock.now();
  }
}
