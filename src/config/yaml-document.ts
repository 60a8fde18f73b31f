import type { Alias, Node, Pair, Scalar, YAMLMap } from 'yaml';
import { isAlias, isCollection, isMap, isScalar, isSeq, LineCounter } from 'yaml';
import { isSecretPath } from './quoting.ts';
import type { Path, Tree } from './tree.ts';
import { formatPath } from './tree.ts';
import type { Environment } from './variables.ts';
import { expandVariables } from './variables.ts';
import { nameOfKey, type Place, placeAt, placeOf, placeOfKey } from './yaml-places.ts';
import { parseYaml } from './yaml-syntax.ts';

/** Something wrong with the YAML itself, before anybody asks what it means. */
export interface YamlProblem extends Place {
  readonly path: Path;
  readonly message: string;
}

/** A YAML text as a tree of texts, with the place of each value. */
export interface YamlDocument {
  /** Undefined where nothing can be read from the text. */
  readonly tree: Tree | undefined;
  readonly problems: readonly YamlProblem[];
  /** Where a value stands, or the nearest value around it. */
  placeOf(path: Path): Place;
  /** Where the key of a value stands. */
  placeOfKey(path: Path): Place;
  /** The text as it is in the file, where variables were filled in. */
  templateOf(path: Path): string | undefined;
  /** Was the value at this path, or one around it, already found wrong? */
  isBroken(path: Path): boolean;
}

// A file that is far beyond what the configuration needs is an accident or an attack.
const MAX_DEPTH = 16;
/** How many values may come by aliases: enough for labels shared by tens of thousands of servers. */
const MAX_ALIASED_NODES = 200_000;

interface Walk {
  readonly env: Environment;
  readonly anchors: Map<string, Node>;
  readonly targets: Map<Alias, Node>;
  /** Targets of the aliases that are being followed. */
  readonly following: Set<Node>;
  readonly templates: Map<string, string>;
  readonly broken: Set<string>;
  aliasedNodes: number;
  report(path: Path, offset: number, message: string): void;
}

/** Reads YAML without ever throwing, and fills in `${VAR}` in every value. */
export function readYaml(text: string, env: Environment): YamlDocument {
  const lines = new LineCounter();
  const problems: YamlProblem[] = [];
  const walk: Walk = {
    env,
    anchors: new Map(),
    targets: new Map(),
    following: new Set(),
    templates: new Map(),
    broken: new Set(),
    aliasedNodes: 0,
    report: (path, offset, message) => problems.push({ path, message, ...placeAt(offset, lines) }),
  };
  const root = parseYaml(text, lines, (offset, message) => walk.report([], offset, message));
  const tree = root === undefined ? undefined : visit(root, [], walk);
  const source = { root, lines, targets: walk.targets };
  return {
    tree: walk.aliasedNodes > MAX_ALIASED_NODES ? undefined : tree,
    problems,
    placeOf: (path) => placeOf(path, source),
    placeOfKey: (path) => placeOfKey(path, source),
    templateOf: (path) => walk.templates.get(formatPath(path)),
    isBroken: (path) =>
      Array.from({ length: path.length + 1 }, (_, length) => formatPath(path.slice(0, length))).some(
        (around) => walk.broken.has(around),
      ),
  };
}

function visit(node: Node | null, path: Path, walk: Walk): Tree {
  if (node === null) return null;
  const offset = node.range?.[0] ?? 0;
  if (walk.following.size > 0 && ++walk.aliasedNodes > MAX_ALIASED_NODES) {
    if (walk.aliasedNodes === MAX_ALIASED_NODES + 1)
      walk.report([], offset, 'the aliases stand for too many values');
    return null;
  }
  if (isAlias(node)) return visitAlias(node, path, walk);
  if (node.anchor !== undefined) walk.anchors.set(node.anchor, node);
  if (isScalar(node)) return visitScalar(node, path, walk);
  if (path.length >= MAX_DEPTH) {
    return fail(path, offset, 'is nested too deeply', walk);
  }
  // What is inside a secret's place may be the secret, and would show in a path.
  if (isSecretPath(path) && isCollection(node)) return isSeq(node) ? [] : {};
  if (isSeq<Node | Pair>(node)) {
    return node.items.map((item, index) => visit(item as Node, [...path, index], walk));
  }
  return isMap<Node | null, Node | null>(node) ? visitMap(node, path, walk) : null;
}

/** Reports a value that nothing more is to be said about. */
function fail(path: Path, offset: number, message: string, walk: Walk): null {
  walk.broken.add(formatPath(path));
  walk.report(path, offset, message);
  return null;
}

function visitAlias(alias: Alias, path: Path, walk: Walk): Tree {
  const target = walk.anchors.get(alias.source);
  if (target === undefined || walk.following.has(target)) {
    const message =
      target === undefined ? 'names an anchor that is not set before it' : 'is an alias of itself';
    return fail(path, alias.range?.[0] ?? 0, message, walk);
  }
  walk.targets.set(alias, target);
  walk.following.add(target);
  const tree = visit(target, path, walk);
  walk.following.delete(target);
  return tree;
}

function visitScalar(scalar: Scalar, path: Path, walk: Walk): Tree {
  const text = String(scalar.value);
  if (text === '' && scalar.type === 'PLAIN') return null;
  const expansion = expandVariables(text, walk.env, isSecretPath(path));
  if (expansion.usesVariables) walk.templates.set(formatPath(path), text);
  for (const problem of expansion.problems) fail(path, scalar.range?.[0] ?? 0, problem, walk);
  return expansion.text;
}

function visitMap(map: YAMLMap<Node | null, Node | null>, path: Path, walk: Walk): Tree {
  const tree = Object.create(null) as Record<string, Tree>;
  for (const { key, value } of map.items) {
    const offset = key?.range?.[0] ?? map.range?.[0] ?? 0;
    const name = nameOfKey(key);
    if (name === undefined) {
      walk.report(path, offset, 'expected a plain key, not an alias, a list or a map');
      continue;
    }
    const inner = [...path, name];
    if (name === '__proto__') {
      walk.report(inner, offset, 'is no key that this file can have');
    } else if (name in tree) {
      walk.report(inner, offset, 'is given twice; keep one');
    } else {
      tree[name] = visit(value, inner, walk);
    }
  }
  return tree;
}
