// The evidence in the end of an attempt to stream a server.

import { NO_SIGNS, socketSigns } from '../diagnosis/signs.ts';
import type { Problem } from '../domain/problems.ts';
import type { Outcome } from './health/outcome.ts';

/** The outcome of an attempt to stream a server. */
export interface SocketAttempt {
  readonly startedAt: number;
  /** The socket's address, if the attempt got one. */
  readonly url?: string | undefined;
  /** Undefined once stats arrive; `withdrawn` if the attempt showed nothing. */
  readonly end: Problem | 'withdrawn' | undefined;
}

/**
 * The outcome for the node's sockets; undefined if it proves nothing. A failure at an address that
 * `isOutdated` doesn't count, and the end of a socket that streamed until then always does.
 */
export function attemptOutcome(
  { startedAt, end }: SocketAttempt,
  isOutdated: boolean,
  hasStreamed: boolean,
): Omit<Outcome, 'at'> | undefined {
  const problem = typeof end === 'object' && !isOutdated ? end : undefined;
  const signs = end === undefined || problem !== undefined ? socketSigns(problem?.cause) : NO_SIGNS;
  if (signs.node === undefined && !hasStreamed) return undefined;
  return { startedAt, problem, signs, streams: end === undefined };
}
