/** Parses the body of a panel's response as JSON, within limits. */
import { printable } from '../text/printable.ts';
import type { Reply } from './panel-connections.ts';
import { ShapeError } from './responses.ts';

/**
 * The maximum number of members, objects and arrays in a response. Within the size limit, a
 * response could have half a million members with different keys, or two million nested arrays,
 * which take more than a second to parse. A full page of servers with a hundred variables each has
 * fewer than this maximum.
 */
const MAX_PARTS = 200_000;

/** A longer response isn't parsed again for the panel's message. */
export const MAX_QUOTED_LENGTH = 65_536;

/** The body of a rejected call, if it is JSON. */
export function refusalBody({ text }: Reply): unknown {
  if (text.length > MAX_QUOTED_LENGTH) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The error for a body that isn't JSON, or is compressed. */
export class NotJsonError extends ShapeError {}

// The exporter doesn't request compression, and panels don't use it. A few compressed kilobytes
// could fill the memory.
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

/** A message of PHP before the response, without HTML. It never contains a token. */
export const PHP_MESSAGE =
  /^\s*(?:PHP )?(?:Deprecated|Fatal error|Notice|Parse error|Strict Standards|Warning): /;

/** Counts the characters that begin a member, an object or an array, including those in strings. */
function hasTooManyParts(text: string): boolean {
  return [':', '{', '['].some((sign) => {
    let parts = 0;
    for (let at = text.indexOf(sign); at >= 0 && parts <= MAX_PARTS; at = text.indexOf(sign, at + 1))
      parts += 1;
    return parts > MAX_PARTS;
  });
}
