const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/;
const ORIGIN = /^https?:\/\/[^/?#@\s]+$/;
const API_PATH = /\/api(?:\/client)?$/;

/** Is the host, as `URL.hostname` writes it, the machine itself? */
function isLoopback(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}

/** Would requests to this panel cross a network in clear text? False where it is no panel's address. */
export function isClearText(text: string): boolean {
  if (panelUrlProblem(text) !== undefined) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'http:' && !isLoopback(hostname);
}

function parseHttpUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return /^https?:\/\//i.test(text) && url?.hostname !== '' ? url : undefined;
}

/** What is wrong with a panel's base address, as the expectation that it fails; undefined if nothing is. */
export function panelUrlProblem(text: string): string | undefined {
  const url = parseHttpUrl(text);
  if (url === undefined) return "expected the panel's base address, such as https://panel.example.com";
  if (url.username !== '' || url.password !== '') return 'expected an address without user name and password';
  if (/[?#]/.test(text)) return 'expected an address without query and fragment';
  if (API_PATH.test(withoutTrailingSlashes(url.pathname))) {
    return "expected the panel's base address, without /api or /api/client";
  }
  return undefined;
}

/** The address in one spelling, without a trailing slash; a path is kept. */
export function normalisePanelUrl(text: string): string {
  const url = new URL(text);
  return url.origin + withoutTrailingSlashes(url.pathname);
}

function withoutTrailingSlashes(path: string): string {
  return path.replace(/\/+$/, '');
}

/** Can the text be sent as `Origin`? Its spelling is kept: panels compare it letter for letter. */
export function isOrigin(text: string): boolean {
  return ORIGIN.test(text) && URL.canParse(text);
}

/** What is wrong with a proxy's address; undefined if nothing is. */
export function proxyUrlProblem(text: string): string | undefined {
  const url = parseHttpUrl(text);
  if (url === undefined || /[?#]/.test(text) || url.pathname !== '/') {
    return "expected an http or https proxy's address, such as http://proxy.example.com:3128";
  }
  return undefined;
}

/** The host in the spelling of `URL.hostname`; undefined where the text is not a host name or an IP address alone. */
export function parseHost(text: string): string | undefined {
  const host = text.includes(':') && !text.startsWith('[') ? `[${text}]` : text;
  if (!/^(?:[\w.-]+|\[[0-9a-fA-F:.]+\])$/.test(host) || !URL.canParse(`http://${host}`)) return undefined;
  return new URL(`http://${host}`).hostname;
}
