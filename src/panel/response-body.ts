/** The body of a panel's response as JSON, within bounds. */
import { printable } from '../text/printable.ts';
import type { Reply } from './panel-connections.ts';
import { ShapeError } from './responses.ts';

/**
 * The most members, objects or arrays in a response. The longest response could have half a million
 * members with keys of their own, or two million nested arrays, which take more than a second to
 * parse. A full page of servers with a hundred variables each has fewer.
 */
const MAX_PARTS = 200_000;

/** A longer response isn't parsed again to find the panel's message. */
export const MAX_QUOTED_LENGTH = 65_536;

/** The body of a refused call, if it is JSON. */
export function refusalBody({ text }: Reply): unknown {
  if (text.length > MAX_QUOTED_LENGTH) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The body isn't JSON, or is compressed. */
export class NotJsonError extends ShapeError {}

// The exporter doesn't request compression, and no panel uses it. Decompressing would let a few
// kilobytes fill the memory.
export function parseBody({ contentEncoding, text }: Reply): unknown {
  if (contentEncoding !== '' && contentEncoding !== 'identity') {
    throw new NotJsonError(
      `the body is compressed (${printable(contentEncoding)}), although compression was not requested`,
    );
  }
  if (hasTooManyParts(text)) {
    throw new ShapeError(`expected a response of at most ${MAX_PARTS} JSON values`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new NotJsonError(isMarkup(text) ? 'the body is a web page, not JSON' : 'the body is not JSON');
  }
}

export const isMarkup = (text: string) => /^\s*</.test(text);

/** A message of PHP in front of a response, without HTML; it never contains a token. */
export const PHP_MESSAGE =
  /^\s*(?:PHP )?(?:Deprecated|Fatal error|Notice|Parse error|Strict Standards|Warning): /;

/** Counts the characters that begin a member, an object or an array, even inside strings. */
function hasTooManyParts(text: string): boolean {
  return [':', '{', '['].some((sign) => {
    let parts = 0;
    for (let at = text.indexOf(sign); at >= 0 && parts <= MAX_PARTS; at = text.indexOf(sign, at + 1))
      parts += 1;
    return parts > MAX_PARTS;
  });
}
