/** How servers' calls and sockets ended: the only input of the panel's health. */
import type { Signs } from '../../diagnosis/signs.ts';
import type { Problem } from '../../domain/problems.ts';
import type { ServerTarget } from '../../domain/server.ts';
import type { Channel } from '../subjects.ts';

/** How a server's last call or socket on one channel ended; instants are monotonic milliseconds. */
export interface Outcome {
  readonly startedAt: number;
  readonly at: number;
  /** Undefined on success. */
  readonly problem: Problem | undefined;
  readonly signs: Signs;
  /** A socket that streams works for as long as it does. */
  readonly streams?: boolean;
}

/** A server that is asked; its node may become known later. Both are absent for the server list. */
export interface AskedServer {
  readonly node?: string | undefined;
  readonly target?: Pick<ServerTarget, 'daemon' | 'nodeId'>;
}

/** The servers that are asked on each channel, by id. */
export type AskedServers = Readonly<Record<Channel, ReadonlyMap<string, AskedServer>>>;

/**
 * When something worked because of this outcome; infinite while a socket streams. The panel's
 * response about a failure may have waited for the node, so it proves that the panel worked when
 * the call started; an outage of the panel may have begun since.
 */
export function workedAt({ startedAt, at, problem, streams }: Outcome): number {
  if (streams === true) return Number.POSITIVE_INFINITY;
  return problem === undefined ? at : startedAt;
}
