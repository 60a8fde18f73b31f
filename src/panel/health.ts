import { CAUSES } from '../diagnosis/causes.ts';
import { problemOfBlamed } from '../diagnosis/outcome.ts';
import type { Problem } from '../domain/problem.ts';

/** Does the panel's API respond and accept the API key? */
export interface Health {
  /** `unknown` until a call or a round of canaries has shown it. */
  readonly state: 'unknown' | 'up' | 'down';
  /** Of a panel that is down. */
  readonly problem?: Problem | undefined;
  /** When a call last succeeded, in monotonic milliseconds. */
  readonly provenAt: number;
  /** When the last round of canaries started. */
  readonly roundAt: number;
  /** Rounds that failed since the last success. */
  readonly failedRounds: number;
}

export const UNKNOWN_HEALTH: Health = {
  state: 'unknown',
  provenAt: Number.NEGATIVE_INFINITY,
  roundAt: Number.NEGATIVE_INFINITY,
  failedRounds: 0,
};

export type HealthEvent =
  /** A call showed that the panel works. */
  | { readonly type: 'proven'; readonly at: number }
  | { readonly type: 'roundStarted'; readonly at: number }
  /** Every canary of the round failed, and no call succeeded since it started. */
  | { readonly type: 'roundFailed'; readonly problem: Problem }
  /** Another key or another way to the panel: a panel that is down stays so until a trial, which may start at once. */
  | { readonly type: 'changed' };

/** Rounds that have to fail, unless the key is refused, which only the panel itself can do. */
const ROUNDS_NEEDED = 2;

/** Milliseconds between the starts of two rounds: before the panel is down, and after that many trials. */
const ROUND_GAPS_MS: readonly number[] = [15_000, 15_000, 15_000, 30_000, 60_000];

/** The health after an event; pure. */
export function stepHealth(health: Health, event: HealthEvent): Health {
  switch (event.type) {
    case 'proven':
      return { ...health, state: 'up', problem: undefined, provenAt: event.at, failedRounds: 0 };
    case 'roundStarted':
      return { ...health, roundAt: event.at };
    case 'roundFailed': {
      const failedRounds = health.failedRounds + 1;
      const isDown =
        health.state === 'down' ||
        failedRounds >= ROUNDS_NEEDED ||
        CAUSES[event.problem.cause].scope === 'key';
      if (!isDown) return { ...health, failedRounds };
      return { ...health, state: 'down', problem: problemOfBlamed('panel', event.problem), failedRounds };
    }
    case 'changed':
      return { ...health, roundAt: Number.NEGATIVE_INFINITY };
  }
}

/** When the next round of canaries may start: 15 s after the last, and while the panel is down after 15, 30, and then 60 s. */
export function nextRoundAt({ roundAt, failedRounds }: Health): number {
  return roundAt + (ROUND_GAPS_MS[Math.min(failedRounds, ROUND_GAPS_MS.length - 1)] ?? 0);
}
