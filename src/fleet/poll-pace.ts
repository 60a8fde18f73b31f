// How often the servers of a panel are polled: as configured, or as often as its rate limit allows.
// `session/poll-plan.ts` decides when the next poll of a server is due.

import type { Clock } from '../domain/clock.ts';
import type { BudgetReading } from '../domain/reading.ts';
import type { PollIntervals } from '../session/poll-state.ts';
import type { MemberIndex } from './member-index.ts';
import { CALLS_PER_SOCKET_AND_MINUTE, pollsByNode } from './needs.ts';

/**
 * The share of polls in the calls that token renewals leave. The rest is for lists, probes and new
 * sockets.
 */
const POLL_SHARE = 0.9;

/** How often the poll interval is adapted to the rate. */
const PACED_MS = 1_000;

/**
 * Milliseconds between the polls of a server: as configured, or longer if the rate limit requires
 * it; pure.
 */
export function pollEveryMs(
  configuredMs: number,
  { perMinute, polled, streaming }: Readonly<Record<'perMinute' | 'polled' | 'streaming', number>>,
): number {
  const left = POLL_SHARE * (perMinute - streaming * CALLS_PER_SOCKET_AND_MINUTE);
  // Polls always get a tenth of the rate, even if tokens need nearly all calls.
  return Math.max(configuredMs, (polled * 60_000) / Math.max(left, perMinute / 10));
}

interface PollPaceOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly gateway: {
    readonly budget: () => Pick<BudgetReading, 'limitPerMinute'>;
    readonly isPolledByNode: boolean;
  };
  /** The members with running sessions. */
  readonly members: Pick<MemberIndex, 'polled' | 'nodes' | 'inCondition'>;
}

/** The interval of a panel's polls, which every session reads at every change. */
export class PollPace {
  readonly #options: PollPaceOptions;
  #configured: PollIntervals;
  #latest: { readonly at: number; readonly intervals: PollIntervals } | undefined;

  constructor(configured: PollIntervals, options: PollPaceOptions) {
    this.#configured = configured;
    this.#options = options;
  }

  configure(configured: PollIntervals): void {
    this.#configured = configured;
    this.#latest = undefined;
  }

  /** The intervals as configured, or longer ones that the rate limit allows. */
  intervals(): PollIntervals {
    const { clock, gateway, members } = this.#options;
    const now = clock.now();
    if (this.#latest !== undefined && now - this.#latest.at < PACED_MS) return this.#latest.intervals;
    const { stalenessMs, pollIntervalMs: configuredMs } = this.#configured;
    const { polled, nodes } = members;
    const pollIntervalMs = pollEveryMs(configuredMs, {
      perMinute: gateway.budget().limitPerMinute,
      polled: gateway.isPolledByNode ? pollsByNode(polled, nodes, configuredMs) : polled,
      streaming: members.inCondition('streaming').size,
    });
    const intervals = { pollIntervalMs, stalenessMs };
    this.#latest = { at: now, intervals };
    return intervals;
  }
}
