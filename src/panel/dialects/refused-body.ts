/**
 * Reads the body of a rejected call from any sender: the panel, a proxy, a bot check or a web
 * server.
 */
import { printable } from '../../text/printable.ts';
import type { ErrorBody } from '../dialect.ts';
import { asFields, asText, type Fields, parseJson } from './wire.ts';

/** The part of a page that is scanned: its title is near the start. */
const MAX_SCANNED = 4_096;

/**
 * `own` reads a JSON object, and returns undefined if it doesn't have one of the panel's own forms.
 * Never throws.
 */
export function readBody(
  text: string,
  contentType: string,
  own: (body: Fields) => ErrorBody | undefined,
): ErrorBody {
  const { detail: message = '', ...body } = parsedBody(text, contentType, own);
  return { ...body, detail: printable(message) || undefined };
}

/** The body with its message as received, not yet printable. */
function parsedBody(
  text: string,
  contentType: string,
  own: (body: Fields) => ErrorBody | undefined,
): ErrorBody {
  const body = asFields(parseJson(text));
  if (body !== undefined) return own(body) ?? { form: 'foreign', detail: foreignMessage(body) };
  const isPage = /html/i.test(contentType) || /^\s*</.test(text);
  return { form: 'foreign', detail: isPage ? pageTitle(text) : firstLine(text) };
}

function foreignMessage(body: Fields): string | undefined {
  const errors: readonly unknown[] = Array.isArray(body['errors']) ? body['errors'] : [];
  return messageIn(body) ?? messageIn(asFields(body['error'])) ?? messageIn(asFields(errors[0]));
}

/** The fields in which panels, gateways and firewalls send their message. */
const MESSAGE_FIELDS = ['message', 'detail', 'title', 'error'] as const;

function messageIn(fields: Fields = {}): string | undefined {
  return MESSAGE_FIELDS.map((key) => asText(fields[key])).find((message) => message !== undefined);
}

/** The page's title, or its first line of text. */
function pageTitle(page: string): string | undefined {
  const head = page.slice(0, MAX_SCANNED);
  // Bounded repeats keep the cost of a hostile page proportional to its length. A text that is cut
  // off may end within a secret.
  const title = /<title[^>]{0,100}>([^<]{0,400})</i.exec(head)?.[1];
  if (title !== undefined && title.trim() !== '') return title;
  const whole = page.length > MAX_SCANNED ? head.slice(0, head.lastIndexOf('<')) : head;
  const text = whole
    .replaceAll(UNSEEN, '')
    .replaceAll(LINE_END, '\n')
    .replaceAll(/<[^<>]*(?:>|$)/g, '');
  return firstLine(text);
}

/** The invisible parts of a page. */
const UNSEEN = /<(script|style)\b[^]*?<\/\1>/gi;

/** Tags that begin a new line. */
const LINE_END = /<\/?(?:br|div|h\d|hr|li|p|pre|td|tr)\b[^<>]*>/gi;

function firstLine(text: string): string | undefined {
  return /^\s*(\S.*)/.exec(text)?.[1];
}
