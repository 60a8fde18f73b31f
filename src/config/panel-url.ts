// Validates and normalizes the address of a panel.

import { isLoopback } from '../addresses/ranges.ts';
import { SERVER_ID } from './server-schema.ts';

/**
 * Paths of a panel's API and pages (routes/base.php of Pterodactyl) that people copy from
 * documentation or the address bar.
 */
const INNER_PATH = new RegExp(
  String.raw`/api(?:/client)?$|(?:/auth)?/login$|/(?:account|admin)(?:/.*)?$|/server/${SERVER_ID}(?:/.*)?$`,
);

/**
 * Would requests to this panel cross a network in clear text? False if the text isn't a panel's
 * address.
 */
export function isClearText(text: string): boolean {
  if (panelUrlProblem(text) !== undefined) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'http:' && !isLoopback(hostname);
}

export function parseHttpUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return /^https?:\/\//i.test(text) && url?.hostname !== '' ? url : undefined;
}

/** The expectation that a panel's base address doesn't meet; undefined if it is valid. */
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
