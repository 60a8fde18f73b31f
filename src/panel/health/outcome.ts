/** The outcomes of servers' calls and sockets: the only input of the panel's health. */
import type { Signs } from '../../diagnosis/signs.ts';
import type { Problem } from '../../domain/problems.ts';
import type { ServerTarget } from '../../domain/server.ts';
import type { Channel } from '../subjects.ts';

/**
 * The outcome of a server's last call or socket on one channel. Instants are monotonic
 * milliseconds.
 */
export interface Outcome {
  readonly startedAt: number;
  readonly at: number;
  /** Undefined on success. */
  readonly problem: Problem | undefined;
  readonly signs: Signs;
  /** A streaming socket works until it ends. */
  readonly streams?: boolean;
}

/** A server that is asked. Its node may become known later. The server list has neither. */
export interface AskedServer {
  readonly node?: string | undefined;
  readonly target?: Pick<ServerTarget, 'daemon' | 'nodeId'>;
}

/** The servers on each channel, by id. */
export type AskedServers = Readonly<Record<Channel, ReadonlyMap<string, AskedServer>>>;

/**
 * When this outcome shows that something worked; infinite while a socket streams. If the panel
 * reports a failure, it may have waited for the node, so it worked when the call started; an outage
 * of the panel may have begun since.
 */
export function workedAt({ startedAt, at, problem, streams }: Outcome): number {
  if (streams === true) return Number.POSITIVE_INFINITY;
  return problem === undefined ? at : startedAt;
}
