/** The timeout of each attempt to connect, by the clock. */
import { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { CodedError } from '../diagnosis/transport-errors.ts';
import type { Clock } from '../domain/time.ts';

/**
 * Limits each attempt to connect by the clock: undici's own timeout would use the machine's time.
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
      // A tunnel ends by its signal, a direct connection by its socket.
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
