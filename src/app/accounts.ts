// The rate limits of the panels' accounts: entries with the same address and key share one.

import { createHash } from 'node:crypto';
import type { PanelConfig } from '../config/config.ts';
import type { Clock } from '../domain/time.ts';
import { RateLimit } from '../panel/scheduler/rate-limit.ts';
import { SpokenDialect } from '../panel/spoken-dialect.ts';

/**
 * The calls of a key that isn't used any more count for a minute; longer than that only for keys
 * that are rotated back.
 */
const FORGOTTEN_AFTER_MS = 3_600_000;

export class Accounts {
  readonly #clock: Clock;
  /** By a hash of address and key, because a key that was rotated mustn't stay in memory. */
  readonly #limits = new Map<string, { readonly limit: RateLimit; usedAt: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The limit of the account that the panel's key belongs to. */
  limitOf({
    url,
    apiKey,
    panel,
  }: Pick<PanelConfig, 'url' | 'apiKey'> & Partial<Pick<PanelConfig, 'panel'>>): RateLimit {
    const { rate } = new SpokenDialect({ kind: panel, apiKey: () => apiKey.reveal() }).current;
    const account = createHash('sha256')
      .update(JSON.stringify(rate.scope === 'address' ? [url] : [url, apiKey.reveal()]))
      .digest('hex');
    const limit = this.#limits.get(account)?.limit ?? new RateLimit(this.#clock);
    limit.speaks(rate);
    this.#limits.set(account, { limit, usedAt: this.#clock.now() });
    return limit;
  }

  /** These are in use; others are forgotten an hour after their last use. */
  keep(inUse: ReadonlySet<RateLimit>): void {
    const now = this.#clock.now();
    for (const [account, entry] of this.#limits) {
      if (inUse.has(entry.limit)) entry.usedAt = now;
      else if (now - entry.usedAt >= FORGOTTEN_AFTER_MS) this.#limits.delete(account);
    }
  }

  get size(): number {
    return this.#limits.size;
  }
}
