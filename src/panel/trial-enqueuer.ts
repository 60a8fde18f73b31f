/**
 * Makes the calls of trials that no session requested, each for the first server that may be asked.
 */

import { AT_ONCE } from '../domain/clock.ts';
import type { Health } from './health/health.ts';
import type { Enqueue } from './health/trial-call.ts';
import type { RequestArguments } from './requests.ts';
import type { Call } from './scheduler/call.ts';
import type { Path } from './subjects.ts';

export interface TrialEnqueuerOptions {
  readonly health: () => Pick<Health, 'asked' | 'last'>;
  /** Does this server's own limit allow another credential call now? */
  readonly hasTokenRoom: (server: string) => boolean;
  /** Makes the call once nothing holds it. */
  readonly start: (
    path: Path,
    what: RequestArguments,
    call: Pick<Call, 'deadline' | 'tries' | 'isRetry'>,
    signal: AbortSignal,
  ) => Promise<unknown>;
}

/** Makes these calls before all calls with a deadline. */
export function trialEnqueuer({ health, hasTokenRoom, start }: TrialEnqueuerOptions): Enqueue {
  const choose = (path: Path, servers: Iterable<string>, needsRoom: boolean): string | undefined => {
    let first: string | undefined;
    for (const server of servers) {
      if (path !== 'websocket' || hasTokenRoom(server)) return server;
      first ??= server;
    }
    return needsRoom ? undefined : first;
  };
  return ({ path, servers, tries, needsRoom }, signal) => {
    const server = choose(path, servers, needsRoom);
    if (server === undefined) return undefined;
    const isRetry = () => health().last(path, server)?.problem !== undefined;
    const what = { id: server, daemon: health().asked(path, server)?.target?.daemon };
    const call = { deadline: AT_ONCE, tries: () => tries, isRetry };
    const end = start(path, what, call, signal).then(
      () => undefined,
      (error: unknown) => error,
    );
    return { server, end };
  };
}
