/** Detects when a panel starts to reject a working fleet, so that its server list is checked. */

import { NEVER } from '../../domain/clock.ts';
import type { CauseCode } from '../../domain/problems.ts';

/** Causes for a deleted server, or one to which access was revoked. */
const REFUSED: ReadonlySet<CauseCode | undefined> = new Set([
  'not_found',
  'forbidden',
  'no_console_permission',
]);

/** The server list is read when this many servers, or all, start to be rejected within a minute. */
const SERVERS = 3;
const WITHIN_MS = 60_000;

/** The minimum time between two reads. */
const LOOK_EVERY_MS = 60_000;

export class RefusalWatch {
  /** The latest servers that started to be rejected, and when; at most `SERVERS`. */
  #begun: readonly { readonly server: string; readonly at: number }[] = [];
  #lookedAt = NEVER;

  /** Handles the end of a server's call. Returns whether to read the server list now. */
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
