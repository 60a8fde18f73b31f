import type { LineCounter, Node, YAMLError } from 'yaml';
import { parseDocument } from 'yaml';

/** One slip makes many errors behind it. */
const MAX_SYNTAX_PROBLEMS = 10;

/** The file's root, null for an empty file; undefined where the syntax is wrong, which is reported by offset. */
export function parseYaml(
  text: string,
  lineCounter: LineCounter,
  report: (offset: number, message: string) => void,
): Node | null | undefined {
  // `failsafe` makes every scalar a text; what it stands for is the schema's business. The library's
  // pretty errors quote the source, which may hold a key.
  const document = withoutEnvironment(() =>
    parseDocument(text, { schema: 'failsafe', prettyErrors: false, uniqueKeys: false, lineCounter }),
  );
  const errors = [...document.errors, ...document.warnings];
  if (errors.length === 0) return document.contents;
  if (errors.some(({ code }) => code === 'RESOURCE_EXHAUSTION')) {
    // Where the stack ended says nothing of the file, and the errors behind it are but noise.
    report(0, 'not YAML that can be read: it is nested too deeply');
    return undefined;
  }
  for (const error of errors.slice(0, MAX_SYNTAX_PROBLEMS)) report(error.pos[0], syntaxMessage(error));
  return undefined;
}

/**
 * At each token the library asks for switches of its debugging, LOG_TOKENS and LOG_STREAM. They print what is read, keys
 * and all; and each question goes to the operating system, a tenth of the time that 10,000 servers take.
 */
function withoutEnvironment<Result>(read: () => Result): Result {
  const { env } = process;
  process.env = {};
  try {
    return read();
  } finally {
    process.env = env;
  }
}

const TAGGED =
  'expected YAML without tags (words that start with !); put the value in quotes if it is a text';

const SYNTAX_MESSAGES: Partial<Record<YAMLError['code'], string>> = {
  TAG_RESOLVE_FAILED: TAGGED,
  BAD_COLLECTION_TYPE: TAGGED,
  BAD_DIRECTIVE: 'expected YAML without directives (lines that start with %)',
  BAD_DQ_ESCAPE:
    'not YAML: unknown escape sequence in double quotes; use single quotes, or \\\\ for a backslash',
  MULTIPLE_DOCS: 'expected one YAML document, but a second one starts here',
};

/** The library's message without what it quotes from the source, which may be a secret. */
function syntaxMessage({ code, message }: YAMLError): string {
  return SYNTAX_MESSAGES[code] ?? `not YAML: ${message.replace(/: .*$/s, '')}`;
}
