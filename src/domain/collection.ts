import type { BlockedReason } from './server.ts';

/** Where one server's collection stands, in one word; the `condition` label of the self-metrics. */
export const CONDITIONS = [
  'waiting',
  'connecting',
  'streaming',
  'polling',
  'failing',
  'blocked',
  'stopped',
] as const;

/**
 * How a server is being observed:
 * `waiting` for its first turn, `connecting`, `streaming` by socket, `polling` by REST, `failing` (retrying
 * with nothing fresh), `blocked` for a reason that only a person can lift, `stopped`.
 */
export type Condition = (typeof CONDITIONS)[number];

/** What a session tells of itself: its condition, and the last trouble in words (never a secret). */
export interface CollectionStatus {
  readonly condition: Condition;
  readonly blocked?: BlockedReason;
  readonly trouble?: string;
}
