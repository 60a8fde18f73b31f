import { type CallKind, isSlow } from './call-kind.ts';

/** The calls that wait: how many of each sort, and for which servers. */
export class WaitingCalls {
  readonly #keys = new Set<string>();
  #slow = 0;
  #urgent = 0;

  get slow(): number {
    return this.#slow;
  }

  get urgent(): number {
    return this.#urgent;
  }

  /** Does a call of that kind wait for that server? */
  has(kind: CallKind, server: string): boolean {
    return this.#keys.has(keyOf(kind, server));
  }

  /** Counts a call until its signal aborts or the returned function is called. */
  add(kind: CallKind, server: string | undefined, signal: AbortSignal): () => void {
    if (signal.aborted) return () => {};
    this.#count(kind, 1);
    if (server !== undefined) this.#keys.add(keyOf(kind, server));
    const leave = () => {
      signal.removeEventListener('abort', leave);
      this.#count(kind, -1);
      if (server !== undefined) this.#keys.delete(keyOf(kind, server));
    };
    signal.addEventListener('abort', leave, { once: true });
    return leave;
  }

  #count(kind: CallKind, change: 1 | -1): void {
    if (isSlow(kind)) this.#slow += change;
    else this.#urgent += change;
  }
}

const keyOf = (kind: CallKind, server: string) => `${kind} ${server}`;
