/** An account of a panel. All panels with the same address and key share its calls. */
import type { Cancel, Clock } from '../domain/clock.ts';
import { ForeignCalls } from './foreign-calls.ts';
import { type LimitChanged, type PinnedRate, RateLimit } from './scheduler/rate-limit.ts';

export class Account {
  readonly limit: RateLimit;
  readonly #watchers = new Set<LimitChanged>();
  #foreign: ForeignCalls | undefined;

  constructor(clock: Clock, rate: PinnedRate = {}) {
    this.limit = new RateLimit(clock, rate, (server) => {
      // A copy, because a watcher that this change adds must not be called for it.
      const watchers = [...this.#watchers];
      for (const changed of watchers) changed(server);
    });
  }

  /** Tracks the calls of other clients. `share` is this shard's part of the limit. */
  foreign(share = 1): ForeignCalls {
    this.#foreign ??= new ForeignCalls(() => this.limit.limitPerMinute * (1 / share - 1));
    return this.#foreign;
  }

  /** Calls `changed` after each change of the limit, until canceled. */
  watch(changed: LimitChanged): Cancel {
    this.#watchers.add(changed);
    return () => void this.#watchers.delete(changed);
  }
}
