/** One server's list is read on account of events this often at most: a hostile node can send thousands of them a second. */
const LEAST_GAP_MS = 60_000;

/**
 * Servers whose list of backups is out of date, because the node said that a backup ended. Each waits once, however many events come;
 * one whose list was just read on that account waits until a minute has passed. Instants are monotonic milliseconds.
 */
export class CompletedBackups {
  /** From when on each waiting server may be read. */
  readonly #waiting = new Map<string, number>();
  /** Reads of the last minute, the oldest first. */
  readonly #lastReads = new Map<string, number>();
  #nextAt = Number.POSITIVE_INFINITY;

  /** From when on the next server may be read; infinite while none waits. */
  get nextAt(): number {
    return this.#nextAt;
  }

  /** Takes note of an event; false if the server waits already. */
  add(server: string, now: number): boolean {
    if (this.#waiting.has(server)) return false;
    const readAt = this.#lastReads.get(server) ?? Number.NEGATIVE_INFINITY;
    const dueAt = Math.max(now, readAt + LEAST_GAP_MS);
    this.#waiting.set(server, dueAt);
    this.#nextAt = Math.min(this.#nextAt, dueAt);
    return true;
  }

  /** The server that has been due for longest; its list counts as read from now on. */
  take(now: number): string | undefined {
    let next: string | undefined;
    for (const [server, dueAt] of this.#waiting) if (dueAt === this.#nextAt) next ??= server;
    if (next === undefined) return undefined;
    this.drop(next);
    for (const [server, readAt] of this.#lastReads) {
      if (now - readAt < LEAST_GAP_MS) break;
      this.#lastReads.delete(server);
    }
    this.#lastReads.set(next, now);
    return next;
  }

  /** The server's list is read for another reason. */
  drop(server: string): void {
    if (!this.#waiting.delete(server)) return;
    this.#nextAt = Number.POSITIVE_INFINITY;
    for (const dueAt of this.#waiting.values()) this.#nextAt = Math.min(this.#nextAt, dueAt);
  }
}
