// Compares a server's power with its expectation; pure.

import { isFact } from '../diagnosis/causes.ts';
import { whyDown } from '../diagnosis/down-verdict.ts';
import { isOff } from '../domain/power-states.ts';
import type { BlockedReason, ServerTarget } from '../domain/server.ts';
import type { CollectionStatus } from '../domain/snapshot.ts';
import { isExpectedAt } from './power.ts';
import type { Power } from './power-model.ts';
import { reasonSince } from './take-snapshot.ts';

/** The known facts about a server, except its power. */
interface Described {
  readonly target: Pick<ServerTarget, 'expect' | 'blocked' | 'isDiscovered'>;
  readonly status: CollectionStatus;
}

/** Has the panel deleted a server that was known only from the server list? */
export function isDeleted({ target, status }: Described): boolean {
  return target.isDiscovered === true && status.blocked === 'not_found';
}

/** Is the server expected to be running? Undefined while that is unknown. */
export function isExpectedToRun(server: Described, power: Power, now: number): boolean | undefined {
  const { expect, blocked } = server.target;
  if (isDeleted(server)) return false;
  if (expect !== 'auto') return expect === 'running';
  return isRebuilt(blocked) || isRebuilt(server.status.blocked) ? false : isExpectedAt(power, now);
}

/** Does the server count as down at this instant, as on the status page? */
export function isDown(server: Described, power: Power, now: number): boolean {
  const { status } = server;
  const { state, since, lastStop: last, isRestartAborted, pending } = power;
  if (!isOff(state) || isFact(status.problem?.cause ?? status.blocked)) return false;
  const reason = whyDown({
    isExpected: isExpectedToRun(server, power, now),
    reason: reasonSince(since, last),
    stoppedForSeconds: last === undefined ? Number.NaN : (now - last.at) / 1_000,
    isRestartAborted,
    isStopAwaited: pending.length > 0,
  });
  return reason !== undefined;
}

/** Is the server being installed or transferred, so that it can't run? */
function isRebuilt(reason: BlockedReason | undefined): boolean {
  return (
    reason === 'installing' ||
    reason === 'install_failed' ||
    reason === 'transferring' ||
    reason === 'restoring'
  );
}
