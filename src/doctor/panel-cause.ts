import { PanelError } from '../panel/errors.ts';
import type { Cause } from './causes.ts';
import { errorTexts, speaksOfProxy, tlsTrouble } from './error-codes.ts';

/** How a panel is reached, as far as it tells causes apart. */
export interface Contact {
  readonly url: string;
  /** Its calls go through a proxy. */
  readonly proxied: boolean;
  /** It answered before, as it should. */
  readonly met?: boolean;
}

/** Words on the pages of bot checks. */
const CHALLENGE =
  /just a moment|attention required|checking your browser|captcha|challenge|are you (?:a )?human|ddos|access denied|cloudflare/i;

/** Why a call to the panel failed. */
export function panelCause(error: unknown, contact: Contact): Cause {
  if (!(error instanceof PanelError)) return 'unexpected';
  const { blocked } = error;
  if (error.status !== undefined && !error.fromPanel) return strangerCause(error, contact);
  if (blocked !== undefined) return blocked;
  switch (error.kind) {
    case 'network':
    case 'dns':
    case 'tls':
    case 'timeout':
      return transportCause(error, contact);
    case 'rate_limited':
    case 'node_unreachable':
      return error.kind;
    case 'panel_unavailable':
      return 'panel_down';
    case 'redirect':
      return 'redirect';
    case 'server_error':
      return 'panel_error';
    default:
      return 'bad_answer';
  }
}

/** The cause where the answer is not in the words of a panel. */
function strangerCause({ kind, status, detail = '', message }: PanelError, { url }: Contact): Cause {
  if (kind === 'redirect') return httpsNeeded(url, message) ? 'https_needed' : 'redirect';
  if (/plain HTTP request was sent to HTTPS port/i.test(detail)) return 'https_needed';
  if (/SSL certificate (?:was sent|error)/i.test(detail)) return 'tls_client_certificate';
  if (CHALLENGE.test(detail)) return 'challenge_page';
  switch (kind) {
    case 'unauthorized':
      return 'login_page';
    case 'forbidden':
      return 'challenge_page';
    case 'rate_limited':
      return 'rate_limited';
    case 'panel_unavailable':
      return 'panel_down';
    case 'server_error':
      return 'panel_error';
    case 'bad_answer':
      return badAnswerCause(status, message);
    default:
      return status === 407 ? 'proxy' : 'not_a_panel';
  }
}

// A page with status 200 in place of JSON is what a login puts before a panel, and any other web site.
function badAnswerCause(status: number | undefined, message: string): Cause {
  if (status !== undefined && / is a page and not JSON/.test(message)) return 'login_page';
  return 'bad_answer';
}

function httpsNeeded(url: string, message: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && message.includes(`https://${hostname}`);
}

function transportCause(error: PanelError, contact: Contact): Cause {
  const { proxied } = contact;
  const texts = errorTexts(error);
  if (proxied && (error.kind === 'dns' || speaksOfProxy(texts))) return 'proxy';
  const tls = tlsTrouble(texts);
  if (tls !== undefined) return tls;
  if (error.kind === 'network') return proxied && isRefused(texts) ? 'proxy' : cutCause(contact, texts);
  return error.kind === 'dns' || error.kind === 'timeout' ? error.kind : 'tls';
}

// Through a proxy it is the proxy that is connected to.
const isRefused = (texts: readonly string[]) => texts.includes('ECONNREFUSED');

// A port of TLS hangs up on whoever speaks plain HTTP, and most say nothing.
function cutCause({ url, met = false }: Contact, texts: readonly string[]): Cause {
  const wasCut = texts.some((text) => /ECONNRESET|UND_ERR_SOCKET|HPE_/.test(text));
  if (!wasCut) return 'connection';
  return new URL(url).protocol === 'http:' && !met ? 'https_needed' : 'connection_cut';
}
