import { decodeJwt } from 'jose/jwt/decode';
import type { PowerAction } from '../session/protocol.ts';

/** What a node wants a token to allow for each power action; from Wings' `router/websocket`. */
export const POWER_PERMISSIONS: Readonly<Record<PowerAction, string>> = {
  start: 'control.start',
  stop: 'control.stop',
  restart: 'control.restart',
  kill: 'control.stop',
};

/** What it wants for a command. */
export const COMMAND_PERMISSION = 'control.console';

/** What it takes to open the socket at all. */
export const CONNECT_PERMISSION = 'websocket.connect';

/**
 * The permissions that a console token carries; undefined where it doesn't tell. Nodes ignore what a token doesn't allow
 * without a word, so the token is asked first.
 */
export function permissionsOf(token: string): ReadonlySet<string> | undefined {
  try {
    const { permissions } = decodeJwt(token);
    if (!Array.isArray(permissions)) return undefined;
    return new Set(permissions.filter((permission) => typeof permission === 'string'));
  } catch {
    return undefined;
  }
}

/** Do the permissions lack this one? Not where they are unknown. */
export function lacks(permissions: ReadonlySet<string> | undefined, needed: string): boolean {
  return permissions !== undefined && !permissions.has(needed) && !permissions.has('*');
}

/** What to say of a permission that is missing. */
export function missingPermission(needed: string): string {
  return `the key's account lacks the permission ${needed} for this server`;
}
