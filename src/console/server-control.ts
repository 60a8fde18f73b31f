import { isOff, type ServerState } from '../domain/server.ts';
import type { PowerAction, SocketCodec } from '../panel/dialect.ts';
import { claimsOf } from '../session/token.ts';

/** The permission that a node requires for each power action; from Wings' `router/websocket`. */
export const POWER_PERMISSIONS: Readonly<Record<PowerAction, string>> = {
  start: 'control.start',
  stop: 'control.stop',
  restart: 'control.restart',
  kill: 'control.stop',
};

/** The permission that a node requires for a command. */
export const COMMAND_PERMISSION = 'control.console';

/**
 * The permissions in a console token; undefined if it doesn't list them. Nodes silently ignore messages that the token
 * doesn't permit, so the token is checked first.
 */
export function permissionsOf(token: string): ReadonlySet<string> | undefined {
  const { permissions } = claimsOf(token);
  return permissions && new Set(permissions);
}

/** Whether the permissions lack this one; false if they are unknown. */
export function lacks(permissions: ReadonlySet<string> | undefined, needed: string): boolean {
  return permissions !== undefined && !permissions.has(needed) && !permissions.has('*');
}

/** The message for a missing permission. */
export function missingPermission(needed: string): string {
  return `the key's account lacks the permission ${needed} for this server`;
}

/** The problem with a command's length; undefined if there is none. */
export function lengthProblem(command: string, { encode, maxFrameBytes }: SocketCodec): string | undefined {
  try {
    encode({ event: 'send command', command });
    return undefined;
  } catch {
    return `too long: the node accepts messages of at most ${maxFrameBytes} bytes`;
  }
}

/** The server's state and the token's permissions on it, as far as known. */
export interface ServerStanding {
  readonly state: ServerState | undefined;
  /** Undefined if the token doesn't list them. */
  readonly permissions: ReadonlySet<string> | undefined;
}

/** Why a node would silently drop this command; undefined if no reason is known. */
export function commandProblem(
  command: string,
  { state, permissions }: ServerStanding,
  codec: SocketCodec,
): string | undefined {
  if (lacks(permissions, COMMAND_PERMISSION)) return missingPermission(COMMAND_PERMISSION);
  if (state !== undefined && isOff(state)) return `the server is ${state}`;
  return lengthProblem(command, codec);
}

/** A power action, and the states of the server seen since it was requested. */
export interface PowerWatch {
  readonly action: PowerAction;
  readonly state: ServerState;
  /** Whether the server has left the running state since then; a restart isn't complete before that. */
  readonly left: boolean;
}

/** Whether a power action is already done, is in progress, or must be requested, given the server's state. */
export function powerNeed(action: PowerAction, state: ServerState): 'done' | 'wait' | 'ask' {
  switch (action) {
    case 'start':
      if (state === 'running') return 'done';
      return state === 'starting' ? 'wait' : 'ask';
    case 'stop':
      if (isOff(state)) return 'done';
      return state === 'stopping' ? 'wait' : 'ask';
    case 'kill':
      return isOff(state) ? 'done' : 'ask';
    case 'restart':
      return 'ask';
  }
}

export function watchPower(action: PowerAction, state: ServerState): PowerWatch {
  return { action, state, left: state !== 'running' };
}

/** The watch updated with a reported state. */
export function sawState(watch: PowerWatch, state: ServerState): PowerWatch {
  return { ...watch, state, left: watch.left || (state !== 'running' && state !== 'unknown') };
}

/** Whether the server has reached the state that the action leads to. */
export function isReached({ action, state, left }: PowerWatch): boolean {
  return action === 'stop' || action === 'kill' ? isOff(state) : state === 'running' && left;
}
