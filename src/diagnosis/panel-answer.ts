import type { CauseCode } from '../domain/problem.ts';
import { BLOCKED_REASONS, type BlockedReason } from '../domain/server.ts';
import type { ApiEndpoint } from '../domain/telemetry.ts';
import { CAUSES } from './causes.ts';

/** Why a call was redirected; `url` is the panel's address in the configuration. */
export function redirectCause(url: string, location = ''): CauseCode {
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'http:' || !URL.canParse(location)) return 'redirect';
  const target = new URL(location);
  return target.protocol === 'https:' && target.hostname === hostname ? 'https_needed' : 'redirect';
}

/**
 * The cause of a timeout. A call for resources waits for the server's node, so a timeout shows more about the node than
 * about the panel.
 */
export function timeoutCause(cause: CauseCode, endpoint: ApiEndpoint): CauseCode {
  return cause === 'timeout' && endpoint === 'resources' ? 'node_silent' : cause;
}

/** What a response with a success status contains instead of what was asked for. */
export interface UnreadableBody {
  readonly isPage: boolean;
  /** The title of the page, or the message of an object. */
  readonly detail?: string;
  /** It is the response of a panel that isn't supported. */
  readonly isUnsupported?: boolean;
}

/** Why a response with a success status can't be used. */
export function unreadableCause({ isPage, detail = '', isUnsupported = false }: UnreadableBody): CauseCode {
  if (isUnsupported) return 'unsupported_panel';
  if (CHALLENGE.test(detail)) return 'challenge_page';
  return isPage ? 'login_page' : 'bad_answer';
}

/** Words that occur in the titles and messages of bot checks and firewalls. */
const CHALLENGE =
  /just a moment|attention required|checking your browser|captcha|challenge|are you (?:a )?human|\bbots?\b|ddos|access denied|been blocked|firewall|cloudflare/i;

/** Why something in front of the panel refused a call; it shows nothing about a server. */
export function foreignCause(status: number, detail = ''): CauseCode {
  // nginx; Go's net/http, as in Caddy and Traefik.
  if (/HTTP request (?:was sent to HTTPS port|to an HTTPS server)/i.test(detail)) return 'https_needed';
  if (/SSL certificate (?:was sent|error)/i.test(detail)) return 'tls_client_certificate';
  if (CHALLENGE.test(detail)) return 'challenge_page';
  switch (status) {
    case 401:
      return 'login_page';
    case 403:
      return 'challenge_page';
    case 407:
      return 'proxy';
    case 429:
      return 'rate_limited';
    case 504:
    case 524:
      return 'timeout';
    default:
      if (status < 500) return 'not_a_panel';
      return status === 502 || status === 503 || (status >= 520 && status <= 530)
        ? 'panel_down'
        : 'panel_error';
  }
}

/**
 * The state or refusal that prevents a server from being monitored until someone changes it; undefined for every other cause. A
 * problem of the panel or its API key blocks no server: it is reported once, for the panel.
 */
export function blockedReason(cause: CauseCode): BlockedReason | undefined {
  const { scope, lasting } = CAUSES[cause];
  if (!lasting || scope === 'key' || scope === 'panel') return undefined;
  return BLOCKED_REASONS.find((reason) => reason === cause) ?? 'forbidden';
}
