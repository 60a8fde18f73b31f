/** The shortest gap between event-triggered reads of one server's list: a hostile node can send thousands of events a second. */
const MIN_GAP_MS = 60_000;

/**
 * Servers whose list of backups is out of date because the node reported a completed backup. Each server waits only once, however
 * many events arrive; a server whose list was just read for that reason waits until a minute has passed. Instants are monotonic
 * milliseconds.
 */
export class CompletedBackups {
  /** When each waiting server may be read at the earliest. */
  readonly #waiting = new Map<string, number>();
  /** Reads of the last minute, oldest first. */
  readonly #lastReads = new Map<string, number>();
  #nextAt = Number.POSITIVE_INFINITY;

  /** When the next server may be read; infinite if none is waiting. */
  get nextAt(): number {
    return this.#nextAt;
  }

  /** Records an event; false if the server is already waiting. */
  add(server: string, now: number): boolean {
    if (this.#waiting.has(server)) return false;
    const readAt = this.#lastReads.get(server) ?? Number.NEGATIVE_INFINITY;
    const dueAt = Math.max(now, readAt + MIN_GAP_MS);
    this.#waiting.set(server, dueAt);
    this.#nextAt = Math.min(this.#nextAt, dueAt);
    return true;
  }

  /** The server that has been due longest; its list then counts as read. */
  take(now: number): string | undefined {
    let next: string | undefined;
    for (const [server, dueAt] of this.#waiting) if (dueAt === this.#nextAt) next ??= server;
    if (next === undefined) return undefined;
    this.drop(next);
    for (const [server, readAt] of this.#lastReads) {
      if (now - readAt < MIN_GAP_MS) break;
      this.#lastReads.delete(server);
    }
    this.#lastReads.set(next, now);
    return next;
  }

  /** Forgets a waiting server, because its list is read for another reason. */
  drop(server: string): void {
    if (!this.#waiting.delete(server)) return;
    this.#nextAt = Number.POSITIVE_INFINITY;
    for (const dueAt of this.#waiting.values()) this.#nextAt = Math.min(this.#nextAt, dueAt);
  }
}
