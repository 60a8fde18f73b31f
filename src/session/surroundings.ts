// The surroundings of a session: everything outside of it on which its decisions depend.

import { NEVER } from '../domain/clock.ts';
import type { CauseCode, Problem } from '../domain/problems.ts';
import type { ServerTarget } from '../domain/server.ts';
import type { PollIntervals } from './poll-state.ts';

/**
 * The state of the sockets of a server's node, or of its polls. Instants are monotonic
 * milliseconds.
 */
export interface ChannelState {
  /** The problem that currently holds it: the panel's, the path's, the account's or the node's. */
  readonly heldBy: Problem | undefined;
  /**
   * When the panel and the node were last blamed or cleared. Earlier failures are explained or
   * over.
   */
  readonly panelJudgedAt: number;
  readonly nodeJudgedAt: number;
}

const FREE: ChannelState = { heldBy: undefined, panelJudgedAt: NEVER, nodeJudgedAt: NEVER };

/** The surroundings of a session. Instants are monotonic milliseconds. */
export interface Surroundings extends PollIntervals {
  readonly now: number;
  readonly isRunning: boolean;
  /** The server's description, from the configuration and the server list. */
  readonly target: ServerTarget;
  /** When the server list was last read completely. */
  readonly listedAt: number;
  /** When the API key or the connection to the panel last changed. */
  readonly accessedAnewAt: number;
  /** Whether the process may open a file for its socket. */
  readonly hasRoom: boolean;
  readonly sockets: ChannelState;
  readonly polls: ChannelState;
  /** Whether the node's sockets are expected to work, or this server is chosen to test them. */
  readonly mayConnect: boolean;
  /** Whether the server's own limit delays its next call for credentials. */
  readonly isTokenDelayed: boolean;
  /**
   * Set while this server is chosen to test its node's sockets, with new credentials if `isFresh`.
   */
  readonly trial: { readonly isFresh: boolean } | undefined;
  /**
   * For each cause, when another server that had failed for it last worked again, on the panel and
   * on this server's node.
   */
  readonly recovered: ReadonlyMap<CauseCode, number>;
  readonly recoveredOnNode: ReadonlyMap<CauseCode, number>;
}

/** Surroundings in which nothing holds the server and nothing has happened. */
export const NOTHING_KNOWN = {
  listedAt: NEVER,
  accessedAnewAt: NEVER,
  hasRoom: true,
  sockets: FREE,
  polls: FREE,
  mayConnect: true,
  isTokenDelayed: false,
  trial: undefined,
  recovered: new Map<CauseCode, number>(),
  recoveredOnNode: new Map<CauseCode, number>(),
  pollIntervalMs: 30_000,
  stalenessMs: 60_000,
} satisfies Partial<Surroundings>;
