/** Detects when a panel begins to refuse a working fleet, so that its server list is checked. */

import type { CauseCode } from '../../domain/problems.ts';
import { NEVER } from '../../domain/time.ts';

/** How a panel refuses calls for a server that is gone, or to which access was revoked. */
const REFUSED: ReadonlySet<CauseCode | undefined> = new Set([
  'not_found',
  'forbidden',
  'no_console_permission',
]);

/** The server list is read when this many servers, or all, begin to be refused within a minute. */
const SERVERS = 3;
const WITHIN_MS = 60_000;

/** The server list is read at most once a minute. */
const LOOK_EVERY_MS = 60_000;

export class RefusalWatch {
  /** The last servers that began to be refused, and when; at most `SERVERS`. */
  #begun: readonly { readonly server: string; readonly at: number }[] = [];
  #lookedAt = NEVER;

  /** A call for a server ended; returns whether the server list is to be read now. */
  ended(
    server: string,
    before: CauseCode | undefined,
    cause: CauseCode | undefined,
    { now, asked }: Readonly<Record<'now' | 'asked', number>>,
  ): boolean {
    if (!REFUSED.has(cause) || REFUSED.has(before)) return false;
    const others = this.#begun.filter((one) => one.server !== server && one.at > now - WITHIN_MS);
    this.#begun = [...others, { server, at: now }].slice(-SERVERS);
    if (this.#begun.length < Math.min(SERVERS, asked) || now < this.#lookedAt + LOOK_EVERY_MS) return false;
    this.#lookedAt = now;
    return true;
  }
}
