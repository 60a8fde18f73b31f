// Everything that a session sees of the world around its server.

import type { CauseCode, Problem } from '../domain/problems.ts';
import type { ServerTarget } from '../domain/server.ts';
import { NEVER } from '../domain/time.ts';
import type { PollIntervals } from './poll.ts';

/** The sockets of a server's node, or its polls; instants are monotonic milliseconds. */
export interface WayState {
  /** Why it can't be used for now: a problem of the panel, the path, the account or the node. */
  readonly heldBy: Problem | undefined;
  /**
   * When the panel was last blamed for it or cleared, and the node: failures from before are
   * explained, or over.
   */
  readonly panelJudgedAt: number;
  readonly nodeJudgedAt: number;
}

const FREE: WayState = { heldBy: undefined, panelJudgedAt: NEVER, nodeJudgedAt: NEVER };

/** All that a session sees of the world around it; instants are monotonic milliseconds. */
export interface Surroundings extends PollIntervals {
  readonly now: number;
  readonly isRunning: boolean;
  /** What configuration and server list say of the server. */
  readonly target: ServerTarget;
  /** When the server list was last read completely. */
  readonly listedAt: number;
  /** The process may open a file for its socket. */
  readonly hasRoom: boolean;
  readonly sockets: WayState;
  readonly polls: WayState;
  /** The sockets of its node work as far as is known, or this server is the one that tries them. */
  readonly mayConnect: boolean;
  /** The server's own limit delays its next call for credentials. */
  readonly isTokenDelayed: boolean;
  /** This server is the one that tries them, with new credentials if `isFresh`. */
  readonly trial: { readonly isFresh: boolean } | undefined;
  /**
   * When another server last worked that had failed for a cause: any server of the panel, and those
   * of its node.
   */
  readonly recovered: ReadonlyMap<CauseCode, number>;
  readonly recoveredOnNode: ReadonlyMap<CauseCode, number>;
}

/** Nothing holds the server, and nothing has happened that it could react to. */
export const NOTHING_KNOWN = {
  listedAt: NEVER,
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
