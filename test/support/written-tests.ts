import { type ESTree, parseSync, Visitor } from 'rolldown/utils';

/** A test as its file defines it. */
export interface WrittenTest {
  /** The names of its suites, outermost first, then its own. */
  readonly path: readonly string[];
  /** Why a run of the file may pass without it; undefined for a test that always runs. */
  readonly flaw: string | undefined;
}

/** Modifiers with which a test doesn't run, doesn't have to pass, or keeps others from running. */
const FLAWS = new Set(['skip', 'todo', 'only', 'fails']);

/** Calls with these return a function that defines tests. */
const CURRIED = new Set(['each', 'for', 'skipIf', 'runIf']);

/** If a Debian package is missing, the skip is reported, and with `CI=true` it is a failure. */
const MISSING_PACKAGE = /^!has[A-Z]\w*$/;

interface Definition {
  readonly isSuite: boolean;
  readonly name: string;
  /** The names for the rows of `each`. */
  readonly rows: readonly string[];
  readonly flaw: string | undefined;
}

/** The tests of a file, if their names are literals; those of `each` also under the name of each row that begins with a text. */
export function writtenTests(file: string, source: string): readonly WrittenTest[] {
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file} can't be parsed: ${errors[0]?.message}`);
  const tests: WrittenTest[] = [];
  const open: { readonly call: ESTree.CallExpression; readonly definition: Definition }[] = [];
  new Visitor({
    CallExpression: (call) => {
      const definition = definitionIn(call, source);
      if (definition === undefined) return;
      open.push({ call, definition });
      if (definition.isSuite) return;
      const suites = open.slice(0, -1).map((one) => one.definition.name);
      const flaw = open.map((one) => one.definition.flaw).find((found) => found !== undefined);
      for (const name of [definition.name, ...definition.rows]) tests.push({ path: [...suites, name], flaw });
    },
    'CallExpression:exit': (call) => {
      if (open.at(-1)?.call === call) open.pop();
    },
  }).visit(program);
  const hasOnly = tests.some(({ flaw }) => flaw === 'only');
  return tests.map(({ path, flaw }) => ({
    path,
    flaw: flaw ?? (hasOnly ? 'another one is marked only' : undefined),
  }));
}

function definitionIn(call: ESTree.CallExpression, source: string): Definition | undefined {
  const { root, modifiers, conditions, rows } = chainOf(call, source);
  if (root === 'describeFuzz') return fuzzSuite(call);
  if (root !== 'describe' && root !== 'it' && root !== 'test') return undefined;
  if (call.callee.type === 'MemberExpression' && CURRIED.has(modifiers[0] ?? '')) return undefined;
  const [title, ...rest] = call.arguments;
  const name = textOf(title) ?? source.slice(title?.start, title?.end);
  return {
    isSuite: root === 'describe',
    name,
    rows: rows.map((row) => name.replace('%s', row)),
    flaw:
      modifiers.find((modifier) => FLAWS.has(modifier)) ??
      conditions.find((condition) => !MISSING_PACKAGE.test(condition)) ??
      flawOfArguments(rest, source),
  };
}

interface Chain {
  readonly root: string | undefined;
  /** Outermost first. */
  readonly modifiers: readonly string[];
  /** The arguments of `skipIf` and `runIf`. */
  readonly conditions: readonly string[];
  /** The first text of each row of `each`. */
  readonly rows: readonly string[];
}

/** The parts of a call such as `it.skipIf(!hasProxy).each(rows)('…', …)`. */
function chainOf(call: ESTree.CallExpression, source: string): Chain {
  const modifiers: string[] = [];
  const conditions: string[] = [];
  let rows: readonly string[] = [];
  let node: ESTree.Expression = call.callee;
  for (;;) {
    if (node.type === 'CallExpression') {
      const { callee, arguments: given }: ESTree.CallExpression = node;
      const modifier = callee.type === 'MemberExpression' ? propertyOf(callee) : undefined;
      if (modifier === 'skipIf' || modifier === 'runIf')
        conditions.push(source.slice(given[0]?.start, given[0]?.end));
      if (modifier === 'each') rows = firstTexts(given[0]);
      node = callee;
    } else if (node.type === 'MemberExpression') {
      modifiers.push(propertyOf(node) ?? '');
      node = node.object;
    } else {
      return { root: node.type === 'Identifier' ? node.name : undefined, modifiers, conditions, rows };
    }
  }
}

function firstTexts(table: ESTree.Argument | undefined): readonly string[] {
  if (table?.type !== 'ArrayExpression') return [];
  return table.elements.flatMap((row) => {
    const first = row?.type === 'ArrayExpression' ? row.elements[0] : row;
    return textOf(first ?? undefined) ?? [];
  });
}

function propertyOf({ property }: ESTree.MemberExpression): string | undefined {
  return property.type === 'Identifier' ? property.name : undefined;
}

/** `describeFuzz` defines a suite whose name ends with its `holds`. */
function fuzzSuite(call: ESTree.CallExpression): Definition | undefined {
  const [property] = call.arguments;
  if (property?.type !== 'ObjectExpression') return undefined;
  for (const entry of property.properties) {
    if (entry.type !== 'Property' || entry.key.type !== 'Identifier' || entry.key.name !== 'holds') continue;
    const name = textOf(entry.value);
    // Its tests are defined elsewhere, so the call stands for them.
    if (name !== undefined) return { isSuite: false, name, rows: [], flaw: undefined };
  }
  return undefined;
}

function flawOfArguments(given: readonly ESTree.Argument[], source: string): string | undefined {
  for (const argument of given) {
    if (argument.type !== 'ObjectExpression') continue;
    for (const entry of argument.properties) {
      if (entry.type !== 'Property' || entry.key.type !== 'Identifier') continue;
      if (FLAWS.has(entry.key.name)) return entry.key.name;
    }
  }
  const body = given.find(({ type }) => type === 'ArrowFunctionExpression' || type === 'FunctionExpression');
  if (body === undefined) return 'it has no body';
  const code = source.slice(body.start, body.end);
  if (/=>\s*\{\s*\}$/.test(code)) return 'its body is empty';
  return /\bskip\(/.test(code) ? 'it may skip itself' : undefined;
}

function textOf(node: ESTree.Argument | undefined): string | undefined {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node?.type === 'TemplateLiteral' && node.expressions.length === 0)
    return node.quasis[0]?.value.cooked ?? undefined;
  return undefined;
}
