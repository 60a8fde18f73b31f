import type { Alias, LineCounter, Node } from 'yaml';
import { isAlias, isMap, isScalar, isSeq } from 'yaml';
import { withoutKeys } from './quoting.ts';
import type { Path } from './tree.ts';

/** Line and column, counted from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** What a YAML text holds, as the library read it. */
export interface YamlSource {
  /** Null for an empty text, undefined where the syntax is wrong. */
  readonly root: Node | null | undefined;
  readonly lines: LineCounter;
  /** What each alias stands for. */
  readonly targets: ReadonlyMap<Alias, Node>;
}

interface Found {
  /** Undefined for a list's item. */
  readonly key: Node | undefined;
  readonly value: Node | null;
}

/** The name by which a mapping's key is known everywhere else; undefined for one that is no plain key. */
export function nameOfKey(key: Node | null): string | undefined {
  return isScalar(key) ? withoutKeys(String(key.value)) : undefined;
}

/** Line and column of an offset in the text. */
export function placeAt(offset: number, lines: LineCounter): Place {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

/** Where a value stands, or the nearest value around it. Looked up when asked: most files have nothing wrong with them. */
export function placeOf(path: Path, source: YamlSource): Place {
  let node = source.root;
  let offset = startOf(node) ?? 0;
  for (const step of path) {
    node = childOf(node, step, source)?.value;
    if (node === undefined || node === null) break;
    offset = startOf(node) ?? offset;
  }
  return placeAt(offset, source.lines);
}

/** Where the key of a value stands, or the nearest value around it. */
export function placeOfKey(path: Path, source: YamlSource): Place {
  const around = path.slice(0, -1);
  const last = path.at(-1);
  let node = source.root;
  for (const step of around) node = childOf(node, step, source)?.value;
  const offset = last === undefined ? undefined : startOf(childOf(node, last, source)?.key);
  return offset === undefined ? placeOf(around, source) : placeAt(offset, source.lines);
}

function childOf(node: Node | null | undefined, step: Path[number], source: YamlSource): Found | undefined {
  const container = isAlias(node) ? source.targets.get(node) : node;
  if (isSeq<Node | null>(container)) {
    const value = typeof step === 'number' ? container.items[step] : undefined;
    return value === undefined ? undefined : { key: undefined, value };
  }
  if (!isMap<Node | null, Node | null>(container)) return undefined;
  // Of a key that is given twice the first counts.
  const pair = container.items.find(({ key }) => nameOfKey(key) === step);
  return pair && { key: pair.key ?? undefined, value: pair.value };
}

function startOf(node: Node | null | undefined): number | undefined {
  return node?.range?.[0];
}
