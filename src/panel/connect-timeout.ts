/** The timeout of each connection attempt, measured with the clock. */
import { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { CodedError } from '../diagnosis/transport-errors.ts';
import type { Clock } from '../domain/clock.ts';

/**
 * Limits the time of each connection attempt. undici's own timeout wouldn't use the program's
 * clock.
 */
export function inTime(
  connect: buildConnector.connector,
  clock: Clock,
  timeoutMs: number,
): buildConnector.connector {
  return (target, callback) => {
    const scope = new AbortController();
    const cancel = clock.schedule(timeoutMs, () => {
      const late = new CodedError('ETIMEDOUT', `not connected within ${timeoutMs / 1_000} s`);
      // The signal ends a tunnel, and the socket a direct connection.
      scope.abort(late);
      if (attempt instanceof Socket) attempt.destroy();
      callback(late, null);
    });
    const limited = { ...target, signal: scope.signal };
    const attempt: unknown = connect(limited, (...result) => {
      if (scope.signal.aborted) return;
      cancel();
      callback(...result);
    });
  };
}
