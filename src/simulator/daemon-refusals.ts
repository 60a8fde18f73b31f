// How a daemon rejects a token on a console socket, in its own form.

import { randomUUID } from 'node:crypto';
import type { PanelBehavior } from './panel-behavior.ts';
import { DENYLISTED_TEXT, EXPIRED_TEXT, type TokenVerdict } from './tokens.ts';

type RefusedToken = Extract<TokenVerdict, { readonly ok: false }>;

/** The event that it sends with a text, or the end of the connection. */
export type DaemonRefusal = 'drop' | readonly [event: RefusedToken['event'], text: string];

/** The texts of Calagopus' daemon that replace those of Wings. */
const CALAGOPUS_TEXTS: ReadonlyMap<string, string> = new Map([
  [EXPIRED_TEXT, 'token is expired'],
  [DENYLISTED_TEXT, 'token has invalid issued at time'],
]);

/**
 * The response to an invalid token (application/src/server/websocket/jwt.rs and remote/jwt.rs of
 * calagopus/wings).
 */
export function daemonRefusal(
  { event, text }: Omit<RefusedToken, 'ok'>,
  behavior: PanelBehavior,
): DaemonRefusal {
  if (!behavior.forgetsTokens) return [event, errorText(text, behavior)];
  const meaning = event === 'jwt error' ? CALAGOPUS_TEXTS.get(text) : undefined;
  return meaning === undefined ? 'drop' : [event, `invalid token: ${meaning}`];
}

/** The text of an error. Wings adds an identifier to each. */
export function errorText(text: string, { forgetsTokens }: Pick<PanelBehavior, 'forgetsTokens'>): string {
  if (forgetsTokens || text.startsWith('Error Event')) return text;
  return `Error Event [${randomUUID()}]: ${text}`;
}
