// The panels' accounts: entries with the same address and key share one.

import { createHash } from 'node:crypto';
import type { PanelConfig } from '../config/config.ts';
import type { Clock } from '../domain/clock.ts';
import { Account } from '../panel/account.ts';
import { SpokenDialect } from '../panel/spoken-dialect.ts';

/**
 * A minute would be enough for the calls of an unused key. An hour also covers keys that are
 * rotated back.
 */
const FORGOTTEN_AFTER_MS = 3_600_000;

export class Accounts {
  readonly #clock: Clock;
  /** Keyed by a hash of address and key, because a rotated key mustn't stay in memory. */
  readonly #accounts = new Map<string, { readonly account: Account; usedAt: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The account that the panel's key belongs to. */
  findOrAdd({
    url,
    apiKey,
    panel,
  }: Pick<PanelConfig, 'url' | 'apiKey'> & Partial<Pick<PanelConfig, 'panel'>>): Account {
    const { rate } = new SpokenDialect({ kind: panel, apiKey: () => apiKey.reveal() }).current;
    const hash = createHash('sha256')
      .update(JSON.stringify(rate.scope === 'address' ? [url] : [url, apiKey.reveal()]))
      .digest('hex');
    const account = this.#accounts.get(hash)?.account ?? new Account(this.#clock);
    account.limit.speaks(rate);
    this.#accounts.set(hash, { account, usedAt: this.#clock.now() });
    return account;
  }

  /** Keeps these accounts; others are forgotten an hour after their last use. */
  keep(inUse: ReadonlySet<Account>): void {
    const now = this.#clock.now();
    for (const [hash, entry] of this.#accounts) {
      if (inUse.has(entry.account)) entry.usedAt = now;
      else if (now - entry.usedAt >= FORGOTTEN_AFTER_MS) this.#accounts.delete(hash);
    }
  }

  get size(): number {
    return this.#accounts.size;
  }
}
