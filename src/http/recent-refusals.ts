import type { Clock } from '../domain/clock.ts';

/** A refusal counts for at least one and at most two of these periods, in milliseconds. */
const PERIOD_MS = 60_000;

/** Clients remembered per period, about 100 bytes each. */
const MAX_CLIENTS = 10_000;

/**
 * How often each client was refused recently, or disconnected to make room: this distinguishes a flood from a newcomer. Bounded
 * in time and memory.
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

  /** Called when the client has authenticated. */
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
