export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

/** `auto` means pretty in a terminal and JSON elsewhere. */
export const LOG_FORMATS = ['json', 'pretty', 'auto'] as const;

/** Other exporters whose metric names can be served in addition to the exporter's own. */
export const COMPATIBILITIES = ['pterodactyl_exporter', 'pelican_exporter'] as const;

/** A full UUID or the 8-character short identifier, which is the beginning of a UUID. */
export const SERVER_ID = '[0-9a-fA-F]{8}(?:(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})?';

/** Labels that the exporter sets itself, and those set by Prometheus and the shipped rules. */
export const TAKEN_LABELS: readonly string[] = [
  'panel',
  'panel_url',
  'server',
  'server_id',
  'state',
  'reason',
  'node',
  'egg',
  'uuid',
  'proxy',
  'schedule',
  'schedule_id',
  'job',
  'instance',
  'pod',
  'le',
  'alertname',
  'alertstate',
  'severity',
];

/** This machine, as `URL.hostname` writes it. */
const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/;
/** Paths of a panel's API and its own pages (routes/base.php of Pterodactyl), as copied from documentation or the address bar. */
const INNER_PATH = new RegExp(
  String.raw`/api(?:/client)?$|(?:/auth)?/login$|/(?:account|admin)(?:/.*)?$|/server/${SERVER_ID}(?:/.*)?$`,
);

/** Would requests to this panel cross a network in clear text? False if the text isn't a panel's address. */
export function isClearText(text: string): boolean {
  if (panelUrlProblem(text) !== undefined) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'http:' && !LOOPBACK.test(hostname);
}

function parseHttpUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return /^https?:\/\//i.test(text) && url?.hostname !== '' ? url : undefined;
}

/** What is wrong with a panel's base address, as the expectation that it doesn't meet; undefined if nothing is. */
export function panelUrlProblem(text: string): string | undefined {
  const url = parseHttpUrl(text);
  if (url === undefined) return 'expected the base URL of the panel, such as https://panel.example.com';
  if (url.username !== '' || url.password !== '') return 'expected a URL without a username and password';
  if (/[?#]/.test(text)) return 'expected a URL without a query or fragment';
  const [inner] = INNER_PATH.exec(normalizePanelUrl(text).slice(url.origin.length)) ?? [];
  return inner && `expected the base URL of the panel, without ${inner}`;
}

/** The address in canonical form, without a trailing slash; a path is kept. */
export function normalizePanelUrl(text: string): string {
  const { origin, pathname } = new URL(text);
  return origin + pathname.replace(/\/+$/, '');
}

/** The text if it can be sent as `Origin`. It is not normalized, because panels compare it character by character. */
export function parseOrigin(text: string): string | undefined {
  return /^https?:\/\/[^/?#@\s]+$/.test(text) && URL.canParse(text) ? text : undefined;
}

/** The text if it is a proxy's address. */
export function parseProxyUrl(text: string): string | undefined {
  return parseHttpUrl(text)?.pathname === '/' && !/[?#]/.test(text) ? text : undefined;
}

/** The host as `URL.hostname` writes it; undefined if the text is anything but a host name or an IP address. */
export function parseHost(text: string): string | undefined {
  const host = text.includes(':') && !text.startsWith('[') ? `[${text}]` : text;
  if (!/^(?:[\w.-]+|\[[0-9a-fA-F:.]+\])$/.test(host) || !URL.canParse(`http://${host}`)) return undefined;
  return new URL(`http://${host}`).hostname;
}
