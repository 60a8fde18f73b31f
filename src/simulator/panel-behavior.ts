/** How each kind of simulated panel, and its daemons, treat their clients. */
import type { LimitForm } from './rate-window.ts';
import type { PanelKind } from './simulator-schema.ts';

/** How a panel and its daemons treat their clients. */
export interface PanelBehavior {
  /** How the panel counts calls against its rate limit. */
  readonly limit: LimitForm;
  /** Which responses have rate limit headers. */
  readonly limitHeaders: 'always' | 'refusals';
  /** Whether the daemon accepts sockets only with the panel's own `Origin`. */
  readonly checksOrigin: boolean;
  /** Whether the daemon drops frames that arrive too fast. */
  readonly throttles: boolean;
  /**
   * Whether the daemon reports that a token has expired and then forgets it, and drops sockets
   * without explaining an invalid token.
   */
  readonly forgetsTokens: boolean;
  /** Whether the daemon closes sockets of suspended servers, and accepts none. */
  readonly closesSuspended: boolean;
  /** The maximum number of open sockets without a token per address. */
  readonly maxUnauthenticated: number;
  /** Whether all frames have `args`, and `auth success` contains the token's permissions. */
  readonly sendsPermissions: boolean;
}

const WINGS: PanelBehavior = {
  limit: { windowMs: 60_000 },
  limitHeaders: 'always',
  checksOrigin: true,
  throttles: true,
  forgetsTokens: false,
  closesSuspended: true,
  maxUnauthenticated: Number.POSITIVE_INFINITY,
  sendsPermissions: false,
};

export const PANEL_BEHAVIORS: Readonly<Record<PanelKind, PanelBehavior>> = {
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
