// How often the servers of a panel are polled: as configured, or as often as its rate limit allows.
// When the next poll of a server is due is decided in session/poll-plan.ts.

import type { BudgetReading } from '../domain/reading.ts';
import type { Clock } from '../domain/time.ts';
import type { PollIntervals } from '../session/poll.ts';
import type { MemberIndex } from './member-index.ts';
import { CALLS_PER_SOCKET_AND_MINUTE, pollsByNode } from './needs.ts';

/**
 * The share of polls in the calls that the tokens of sockets leave: the rest is for lists, trials
 * and new sockets.
 */
const POLL_SHARE = 0.9;

/** How often the interval of polls is adapted to the rate. */
const PACED_MS = 1_000;

/**
 * Milliseconds between the polls of a server: as configured, or longer if the rate doesn't allow
 * that; pure.
 */
export function pollEveryMs(
  configuredMs: number,
  { perMinute, polled, streaming }: Readonly<Record<'perMinute' | 'polled' | 'streaming', number>>,
): number {
  const left = POLL_SHARE * (perMinute - streaming * CALLS_PER_SOCKET_AND_MINUTE);
  // Even where tokens take nearly all calls, polls get a tenth of the rate.
  return Math.max(configuredMs, (polled * 60_000) / Math.max(left, perMinute / 10));
}

interface PollPaceOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly gateway: {
    readonly budget: () => Pick<BudgetReading, 'limitPerMinute'>;
    readonly isPolledByNode: boolean;
  };
  /** The members whose sessions have begun. */
  readonly members: Pick<MemberIndex, 'polled' | 'nodes' | 'inCondition'>;
}

/** The interval of a panel's polls, which every session asks for at every change. */
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

  /** The intervals as configured, or as many polls as the rate carries now. */
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
