import { readdirSync, readFileSync } from 'node:fs';
import { type ESTree, parseSync, Visitor } from 'rolldown/utils';

/** A part of a message: literal text, a placeholder, or one of several alternatives. */
type Part = string | typeof HOLE | { readonly oneOf: readonly Template[] };

/** A complete text of the program. */
type Template = readonly Part[];

interface Known {
  readonly parts: Template;
  /** The literal parts that all of its messages contain. */
  readonly words: readonly string[];
  readonly joins: boolean;
}

const HOLE = Symbol('filled in');

/** Stands for the variable parts of a quoted line. */
const LEFT_OUT = '…';
const LEFT_OUT_QUOTED = `"${LEFT_OUT}"`;

/** A template with fewer letters isn't a message of its own, because it only joins others. */
const MIN_LETTERS = 8;

/** A name used in the docs, or a number, a code, an address or a setting: one word that isn't an English word. */
const EXAMPLE_WORD = String.raw`(?:main|survival|forbidden|(?=\S{1,40}(?: |$))\S*[^a-z\s]\S*(?<![:;,]))`;

/** What a quoted line may show in place of a variable, such as `403`, `ptlc_… or pacc_…` and `GET …`. */
const EXAMPLE = new RegExp(`^${EXAMPLE_WORD}(?: or ${EXAMPLE_WORD}| …)?$`);

/** All texts that the program can print, extracted from its source. */
export class Messages {
  readonly #texts: ReadonlySet<string>;
  readonly #templates: readonly Known[];
  readonly #known = new Map<string, boolean>();

  constructor(sources: Readonly<Record<string, string>>) {
    const templates = Object.entries(sources).flatMap(([file, source]) => templatesIn(file, source));
    const fixed = templates.flatMap(([part, ...rest]) =>
      typeof part === 'string' && rest.length === 0 && lettersOf([part]) >= MIN_LETTERS ? part : [],
    );
    this.#texts = new Set(fixed);
    const varied = templates.filter((parts) => parts.length > 1 || typeof parts[0] !== 'string');
    this.#templates = varied.map((parts) => ({
      parts,
      words: parts.filter((part) => typeof part === 'string'),
      joins: lettersOf(parts) < MIN_LETTERS,
    }));
  }

  /** The messages of the program in `src`. */
  static ofProgram(): Messages {
    const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.tsx?$/.test(name),
    );
    return new Messages(Object.fromEntries(files.map((name) => [name, readFileSync(`src/${name}`, 'utf8')])));
  }

  /** Whether the whole line is a message of the program, with examples or … for its variable parts. */
  includes(line: string): boolean {
    const known = this.#known.get(line);
    if (known !== undefined) return known;
    // A message that would contain itself doesn't match.
    this.#known.set(line, false);
    const found =
      this.#texts.has(line) ||
      this.#beginsText(line) ||
      this.#templates.some(
        ({ parts, words, joins }) =>
          (line.endsWith(LEFT_OUT) || words.every((part) => line.includes(part))) &&
          this.#matches(parts, line, joins),
      );
    this.#known.set(line, found);
    return found;
  }

  #beginsText(line: string): boolean {
    if (!line.endsWith(LEFT_OUT)) return false;
    const beginning = line.slice(0, -LEFT_OUT.length);
    return beginning !== '' && [...this.#texts].some((text) => text.startsWith(beginning));
  }

  #matches([part, ...rest]: Template, line: string, joins: boolean): boolean {
    if (part === undefined) return line === '';
    if (line === LEFT_OUT) return true;
    if (typeof part === 'string') {
      return line.startsWith(part) && this.#matches(rest, line.slice(part.length), joins);
    }
    if (part !== HOLE) return part.oneOf.some((way) => this.#matches([...way, ...rest], line, joins));
    return endsOf(rest, line).some(
      (end) => this.#fills(line.slice(0, end), joins) && this.#matches(rest, line.slice(end), joins),
    );
  }

  #fills(text: string, joins: boolean): boolean {
    if (text === LEFT_OUT || text === LEFT_OUT_QUOTED) return true;
    if (!joins && (text === '' || EXAMPLE.test(text))) return true;
    return text.length >= MIN_LETTERS && this.includes(text);
  }
}

/** The positions at which a placeholder followed by these parts may end. */
function endsOf([next]: Template, line: string): readonly number[] {
  if (next === undefined) return [line.length];
  const ends: number[] = [];
  if (typeof next !== 'string') {
    for (let end = 0; end <= line.length; end += 1) ends.push(end);
    return ends;
  }
  for (let end = line.indexOf(next); end !== -1; end = line.indexOf(next, end + 1)) ends.push(end);
  // The line may omit its end.
  if (line.endsWith(LEFT_OUT)) ends.push(line.length - LEFT_OUT.length);
  return ends;
}

function lettersOf(template: Template): number {
  const own = template.map((part) => {
    if (typeof part === 'string') return part.replaceAll(/[^a-z]/gi, '').length;
    return part === HOLE ? 0 : Math.max(...part.oneOf.map(lettersOf));
  });
  return own.reduce((sum, letters) => sum + letters, 0);
}

function templatesIn(file: string, source: string): readonly Template[] {
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file} can't be parsed: ${errors[0]?.message}`);
  const templates: Template[] = [];
  const add = (node: ESTree.Expression) => void templates.push(templateOf(node));
  new Visitor({
    Literal: (node) => {
      if (typeof node.value === 'string') add(node);
    },
    TemplateLiteral: add,
    BinaryExpression: (node) => {
      if (node.operator === '+') add(node);
    },
  }).visit(program);
  return templates.filter((template) => template.some((part) => typeof part === 'string'));
}

function templateOf(node: ESTree.Expression): Template {
  switch (node.type) {
    case 'Literal':
      return typeof node.value === 'string' ? [node.value] : [HOLE];
    case 'TemplateLiteral':
      return node.quasis.flatMap(({ value: { cooked } }, index): Template => {
        const filled = node.expressions[index];
        return [...(cooked ? [cooked] : []), ...(filled === undefined ? [] : templateOf(filled))];
      });
    case 'ConditionalExpression':
      return [{ oneOf: [templateOf(node.consequent), templateOf(node.alternate)] }];
    case 'LogicalExpression':
      return [{ oneOf: [templateOf(node.left), templateOf(node.right)] }];
    case 'BinaryExpression':
      return node.operator === '+' ? [...templateOf(node.left), ...templateOf(node.right)] : [HOLE];
    case 'ParenthesizedExpression':
      return templateOf(node.expression);
    default:
      return [HOLE];
  }
}
