// Messages about YAML syntax that don't quote the file, which may contain a key.

import type { YAMLError } from 'yaml';

const TAGGED =
  'expected YAML without tags (words that start with !); put the value in quotes if it is a string';

export const NESTED_TOO_DEEPLY = 'invalid YAML: nested too deeply';

const LAYOUT = 'check the indentation, quotes and brackets of this line and the lines above';

const PROPERTIES = 'put a text that begins with & or ! in quotes';

/**
 * A message for every code, because the library's own messages use terms of YAML's grammar and
 * quote the file.
 */
const MESSAGES: Readonly<Record<YAMLError['code'], string>> = {
  ALIAS_PROPS: `invalid YAML: an anchor or tag before an alias; ${PROPERTIES}`,
  BAD_ALIAS: 'invalid YAML: an alias or anchor without a name; quote patterns that begin with `*`',
  BAD_COLLECTION_TYPE: TAGGED,
  BAD_DIRECTIVE: 'expected YAML without directives (lines that start with %)',
  BAD_DQ_ESCAPE:
    'invalid YAML: unknown escape sequence in double quotes; use single quotes, or \\\\ for a backslash',
  BAD_INDENT: `invalid YAML: wrong indentation, or a bracket that isn't closed; ${LAYOUT}`,
  BAD_PROP_ORDER: `invalid YAML: an anchor or tag at the wrong place; ${PROPERTIES}`,
  BAD_SCALAR_START: `invalid YAML: text without quotes can't start like this; put it in quotes`,
  BLOCK_AS_IMPLICIT_KEY:
    'invalid YAML: a key inside another key\'s value; check the indentation, and put a value that contains ": " in quotes',
  BLOCK_IN_FLOW: `invalid YAML: a list with - or a block of text within brackets; ${LAYOUT}`,
  DUPLICATE_KEY: 'is a duplicate key; keep only one',
  IMPOSSIBLE: `invalid YAML: this can't be read; ${LAYOUT}`,
  KEY_OVER_1024_CHARS: `invalid YAML: a key of more than 1,024 characters; ${LAYOUT}`,
  MISSING_CHAR: `invalid YAML: a quote, bracket, comma, colon or space is missing; ${LAYOUT}`,
  MULTILINE_IMPLICIT_KEY:
    'invalid YAML: a key needs a colon and a space after it; check this line, and the indentation of the next',
  MULTIPLE_ANCHORS: `invalid YAML: two anchors for one value; ${PROPERTIES}`,
  MULTIPLE_DOCS: 'expected one YAML document, but a second one starts here',
  MULTIPLE_TAGS: TAGGED,
  NON_STRING_KEY: 'expected a plain key, not an alias, a list or a map',
  RESOURCE_EXHAUSTION: NESTED_TOO_DEEPLY,
  TAB_AS_INDENT: 'invalid YAML: a tab as indentation; use spaces',
  TAG_RESOLVE_FAILED: TAGGED,
  UNEXPECTED_TOKEN: `invalid YAML: text that doesn't belong here; ${LAYOUT}`,
};

/** The messages for different missing characters. */
const MISSING: readonly (readonly [RegExp, string])[] = [
  [/quote/, `invalid YAML: a closing quote is missing; ${LAYOUT}`],
  [/ - indicator/, `invalid YAML: an item without - in a list; ${LAYOUT}`],
];

/** Errors that an unquoted text causes if it begins with a special character of YAML. */
const OF_UNQUOTED_TEXT: ReadonlySet<YAMLError['code']> = new Set([
  'BAD_ALIAS',
  'BAD_SCALAR_START',
  'UNEXPECTED_TOKEN',
]);

/** Matches the beginning of a value with a special character of YAML. */
const OPENERS = /(?<=(?:^|[:-]) +|^|[[{,] *)[[\]{}"'*&!|>%@`,?]|(?<=: +)-/g;

/** The message for an error at this position of a file's text. */
export function syntaxMessage(error: Pick<YAMLError, 'code' | 'pos' | 'message'>, text: string): string {
  const {
    code,
    pos: [offset],
  } = error;
  const missing = code === 'MISSING_CHAR' && MISSING.find(([sign]) => sign.test(error.message));
  if (missing) return missing[1];
  if (!OF_UNQUOTED_TEXT.has(code)) return MESSAGES[code];
  const from = text.lastIndexOf('\n', offset - 1) + 1;
  // Enough for any key, but not a whole endless line.
  const line = text.slice(from, Math.min(offset + 1, from + 1_024));
  const opener = line.match(OPENERS)?.at(-1);
  if (opener === undefined) return MESSAGES[code];
  if (opener === '"') return `invalid YAML: more text after the closing quote; write \\" for a " in the text`;
  if (opener === "'") return `invalid YAML: more text after the closing quote; write '' for a ' in the text`;
  return `invalid YAML: put a text that begins with ${opener} in quotes`;
}
