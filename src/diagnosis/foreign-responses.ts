/** Classifies HTTP responses from something in front of a panel or a node, or in its place. */
import type { CauseCode } from '../domain/problems.ts';
import { DIALECT_FACTS } from '../panel/dialects/facts.ts';

/** A response that doesn't have the form of the panel's or the daemon's own. */
export interface ForeignResponse {
  readonly status: number;
  /** The page's title, or the message. */
  readonly message?: string | undefined;
  /**
   * Whether it has the header `cf-mitigated: challenge`, which Cloudflare sends with every
   * challenge page.
   */
  readonly isChallenge?: boolean | undefined;
}

/** The cause of each kind of response, for a panel and for a node. */
const CAUSES_OF = {
  https_needed: ['https_needed', 'node_https_needed'],
  client_certificate: ['tls_client_certificate', 'node_tls_client_certificate'],
  cloudflare: ['cloudflare', 'node_cloudflare'],
  challenge: ['challenge_page', 'node_challenge_page'],
  proxy: ['proxy', 'node_proxy'],
  access_rule: ['access_rule', 'node_access_rule'],
} as const satisfies Readonly<Record<string, readonly [panel: CauseCode, node: CauseCode]>>;

type ForeignKind = keyof typeof CAUSES_OF;

/** The texts of nginx, Go's net/http (Wings, Caddy, Traefik) and Apache. */
const PLAIN_TO_TLS =
  /HTTP request (?:was sent to HTTPS port|to an HTTPS server)|plain HTTP to an SSL-enabled server/i;

const CLIENT_CERTIFICATE = /SSL certificate (?:was sent|error)/i;

/** Phrases in the titles and messages of bot checks and firewalls. */
const CHALLENGE =
  /just a moment|attention required|checking your browser|captcha|challenge|are you (?:a )?human|\bbots?\b|ddos|access denied|been blocked|firewall/i;

/** Is it the response of a bot check or firewall, regardless of its status? */
export function isChallenge({
  message = '',
  isChallenge: isMarked = false,
}: Omit<ForeignResponse, 'status'>) {
  return isMarked || CHALLENGE.test(message);
}

/** The statuses that only Cloudflare sends, with what each reports about the server behind it. */
const CLOUDFLARE: Readonly<Partial<Record<number, string>>> = {
  520: 'sent an empty or invalid response',
  521: 'refuses connections',
  522: 'accepts no connections in time',
  523: "can't be reached: no route, or a wrong DNS record",
  524: 'responds too late',
  525: 'failed the TLS handshake',
  526: 'has an invalid certificate',
  527: 'is disconnected',
  530: "can't be found: its DNS record or its tunnel is missing or down",
};

/** The state of the server behind Cloudflare, from one of Cloudflare's own statuses. */
export function cloudflareMeaning(status: number): string | undefined {
  const message = CLOUDFLARE[status];
  return message && `the server behind Cloudflare ${message}`;
}

function recognize(response: ForeignResponse): ForeignKind | undefined {
  const { status, message = '' } = response;
  if (PLAIN_TO_TLS.test(message)) return 'https_needed';
  if (CLIENT_CERTIFICATE.test(message)) return 'client_certificate';
  // Cloudflare marks all of its challenges. An unmarked page may contain the same text, such as
  // that of its own rate limit.
  if (status === 429) return response.isChallenge === true ? 'challenge' : undefined;
  // Cloudflare's error pages contain its name, too.
  if (CLOUDFLARE[status] !== undefined) return 'cloudflare';
  if (isChallenge(response)) return 'challenge';
  if (status === 407) return 'proxy';
  return status === 403 ? 'access_rule' : undefined;
}

/** Does the message come from a daemon that was called without the daemon's token? */
const isOfDaemon = (message: string) =>
  DIALECT_FACTS.some(({ daemonRefusal }) => daemonRefusal?.test(message) === true);

/** Titles of services that people run beside a panel. */
const OTHER_SERVICE =
  /\b(?:alertmanager|cpanel|grafana|home assistant|nginx proxy manager|phpmyadmin|plesk|portainer|prometheus|proxmox|pufferpanel|uptime kuma|webmin|whmcs|wordpress)\b|\bwelcome to nginx\b|\bapache2? .{0,40}default page\b/i;

/** The causes of other statuses from something in front of the panel. */
const OF_PANEL: Readonly<Partial<Record<number, CauseCode>>> = {
  401: 'login_page',
  429: 'rate_limited',
  502: 'panel_down',
  503: 'panel_down',
  504: 'timeout',
};

/**
 * Why something in front of the panel, or in its place, rejected a call. Such a response is no
 * evidence about a server.
 */
export function foreignPanelCause(response: ForeignResponse): CauseCode {
  const { status, message = '' } = response;
  if (status < 500 && isOfDaemon(message)) return 'url_of_node';
  if (status < 500 && OTHER_SERVICE.test(message)) return 'not_a_panel';
  const kind = recognize(response);
  if (kind !== undefined) return CAUSES_OF[kind][0];
  return OF_PANEL[status] ?? (status < 500 ? 'not_a_panel' : 'panel_error');
}

/**
 * Why something in front of the node rejected an upgrade; undefined if only the status is known.
 */
export function foreignNodeCause(response: ForeignResponse): CauseCode | undefined {
  const kind = recognize(response);
  return kind && CAUSES_OF[kind][1];
}

/** The maximum number of scanned characters of a page, which is more than its head. */
const MAX_SCANNED = 65_536;

/** Matches forms and fields for passwords. */
const LOGIN = /<form\b|<input\b[^<>]{0,300}type\s*=\s*["']?password/i;
const LOGIN_TITLE = /\b(?:log|sign)[ -]?in\b|\blogin\b/i;

/**
 * Why a successful response is a page instead of JSON: a bot check, another service, a login, or
 * anything else, such as PHP's messages in front of the JSON.
 */
export function pageCause(page: string, response: Omit<ForeignResponse, 'status'>): CauseCode {
  const { message = '' } = response;
  if (isChallenge(response)) return 'challenge_page';
  if (OTHER_SERVICE.test(message)) return 'not_a_panel';
  if (LOGIN_TITLE.test(message)) return 'login_page';
  const head = page.slice(0, MAX_SCANNED);
  // The panel's own page asks for a login as well.
  const signs = [LOGIN, ...DIALECT_FACTS.map(({ ownPage }) => ownPage)];
  return signs.some((sign) => sign?.test(head)) ? 'login_page' : 'bad_answer';
}
