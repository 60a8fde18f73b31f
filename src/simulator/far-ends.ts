/**
 * What distinguishes the panels and daemons that can be simulated, beyond their paths and shapes.
 */
import type { LimitForm } from './rate-window.ts';
import type { PanelKind } from './schema.ts';

/** How a kind of panel and its daemons treat their clients. */
export interface FarEnd {
  /** How the API's limit is counted. */
  readonly limit: LimitForm;
  /** Which responses have the headers of the limit. */
  readonly limitHeaders: 'always' | 'refusals';
  /** A daemon accepts sockets only with the panel's own `Origin`. */
  readonly checksOrigin: boolean;
  /** It drops frames that come too fast. */
  readonly throttles: boolean;
  /**
   * It says when a token has expired, and forgets it; it drops sockets instead of explaining an
   * invalid token.
   */
  readonly forgetsTokens: boolean;
  /** It closes sockets of suspended servers, and opens none. */
  readonly closesSuspended: boolean;
  /** Sockets of one address that may be open without a token. */
  readonly maxUnauthenticated: number;
  /** Its frames always have `args`, and a token's permissions are those of `auth success`. */
  readonly sendsPermissions: boolean;
}

const WINGS: FarEnd = {
  limit: { windowMs: 60_000 },
  limitHeaders: 'always',
  checksOrigin: true,
  throttles: true,
  forgetsTokens: false,
  closesSuspended: true,
  maxUnauthenticated: Number.POSITIVE_INFINITY,
  sendsPermissions: false,
};

export const FAR_ENDS: Readonly<Record<PanelKind, FarEnd>> = {
  pterodactyl: WINGS,
  pelican: WINGS,
  hydrodactyl: WINGS,
  // shared/src/cache.rs of calagopus/panel; application/src/server/websocket of calagopus/wings.
  calagopus: {
    limit: { windowMs: 30_000, carryMs: 2_000 },
    limitHeaders: 'refusals',
    checksOrigin: false,
    throttles: false,
    forgetsTokens: true,
    closesSuspended: false,
    maxUnauthenticated: 32,
    sendsPermissions: true,
  },
};
