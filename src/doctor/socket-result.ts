import { printable } from '../domain/printable.ts';
import type { ServerState } from '../domain/state.ts';
import { closeFailure, jwtFailure } from '../session/failure.ts';
import { isCuredByNewToken } from '../session/protocol.ts';
import type { SocketClosing } from '../session/socket.ts';
import { upgradeFailure } from '../session/trouble.ts';
import type { Cause } from './causes.ts';
import { type RefusedUpgrade, upgradeCause } from './node-cause.ts';
import { type Finding, failed, passed, type ServerStep, skipped } from './report.ts';

/** The steps that a socket takes, in order. */
export const SOCKET_STEPS = ['upgrade', 'auth', 'stats'] as const;
export type SocketStep = (typeof SOCKET_STEPS)[number];

/** Why a socket came no further. */
export interface SocketTrouble {
  /** Undefined where the doctor was stopped. */
  readonly cause: Cause | undefined;
  readonly detail: string;
}

/** How far a socket came. */
export interface SocketResult {
  /** The step at which the trouble came; undefined where all passed. */
  readonly failedAt?: SocketStep;
  readonly trouble?: SocketTrouble;
  /** The host and port of the socket's address. */
  readonly host: string;
  /** What was sent as `Origin`. */
  readonly origin: string;
  readonly state?: ServerState;
}

/** What the socket's steps showed; `why` says why there was no socket where there was none. */
export function socketFindings(
  result: SocketResult | undefined,
  why: string,
): readonly Finding<ServerStep>[] {
  if (result === undefined) return SOCKET_STEPS.map((step) => skipped(step, why));
  const { failedAt, trouble } = result;
  const reached = failedAt === undefined ? SOCKET_STEPS.length : SOCKET_STEPS.indexOf(failedAt);
  return SOCKET_STEPS.map((step, index) => {
    if (index < reached) return passed(step, passedDetail(step, result));
    if (trouble?.cause === undefined) return skipped(step, trouble?.detail ?? '');
    if (index > reached) return skipped(step, `not tried: the ${failedAt ?? step} failed`);
    return failed(step, trouble.cause, trouble.detail);
  });
}

function passedDetail(step: SocketStep, { host, origin, state }: SocketResult): string {
  if (step === 'upgrade') return `${host} took Origin ${origin}`;
  return step === 'auth' ? 'the node took the token' : (state ?? 'came');
}

/** What a refused upgrade means; `proxied` where the node is reached through a proxy. */
export function refusedTrouble(problem: RefusedUpgrade, origin: string, proxied: boolean): SocketTrouble {
  return { cause: upgradeCause(problem, proxied), detail: upgradeFailure(problem, origin).trouble };
}

/** What a `jwt error` in answer to a new token means. */
export function jwtTrouble(words: string): SocketTrouble {
  const text = printable(words);
  const curable = isCuredByNewToken(text);
  const { trouble } = jwtFailure({ type: 'jwtError', epoch: 0, text, curable });
  return { cause: curable ? 'token_clock' : 'token_refused', detail: trouble };
}

/** What it means that the far end closed the socket. */
export function closedTrouble({ code, text, reason }: SocketClosing): SocketTrouble {
  const said = printable(text);
  const trouble = `the socket was closed (${code})${said === '' ? '' : `: "${said}"`}`;
  const { lasting } = closeFailure({ type: 'closed', epoch: 0, code, reason, trouble });
  if (lasting === undefined) return { cause: 'closed', detail: trouble };
  return { cause: lasting === 'suspended' ? 'suspended' : 'token_refused', detail: trouble };
}
