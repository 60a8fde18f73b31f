/** The content of a YAML file: every scalar is kept as text, so that an id like `1e100000` stays unchanged. */
export type Tree = string | null | readonly Tree[] | TreeMap;

/** A YAML mapping, without a prototype, so that only keys in the file are found. */
export interface TreeMap {
  readonly [key: string]: Tree;
}

/** The way from the root to a value: keys and indices. */
export type Path = readonly (string | number)[];

const PLAIN_KEY = /^[A-Za-z_][\w-]*$/;

/** The path as written in messages: `panels[0].servers[1].labels.game`. */
export function formatPath(path: Path): string {
  return path.map(formatStep).join('');
}

function formatStep(step: string | number, index: number): string {
  if (typeof step === 'number') return `[${step}]`;
  if (!PLAIN_KEY.test(step)) return `[${JSON.stringify(step)}]`;
  return index === 0 ? step : `.${step}`;
}

export function isTreeMap(tree: Tree | undefined): tree is TreeMap {
  return typeof tree === 'object' && tree !== null && !Array.isArray(tree);
}

/** The value at a path; undefined if the file has none. */
export function valueAt(tree: Tree | undefined, path: Path): Tree | undefined {
  let value: Tree | undefined = tree;
  for (const step of path) {
    if (Array.isArray(value)) value = (value as readonly Tree[])[Number(step)];
    else value = isTreeMap(value) ? value[step] : undefined;
  }
  return value;
}

/** The tree with a key of the mapping at this path replaced by another. */
export function renameKey(tree: Tree, [step, ...rest]: Path, from: string, to: string): Tree {
  if (Array.isArray(tree))
    return tree.map((item: Tree, index) => (index === step ? renameKey(item, rest, from, to) : item));
  if (!isTreeMap(tree)) return tree;
  const entries = Object.entries(tree).map(([key, value]): [string, Tree] => {
    if (step === undefined) return [key === from ? to : key, value];
    return [key, key === step ? renameKey(value, rest, from, to) : value];
  });
  return Object.assign(Object.create(null) as TreeMap, Object.fromEntries(entries));
}

/** The mappings in the list at a key, each with its path; empty if there is no such list. */
export function mapsIn(parent: TreeMap, key: string, path: Path): { map: TreeMap; path: Path }[] {
  const list = parent[key];
  if (!Array.isArray(list)) return [];
  return (list as readonly Tree[]).flatMap((map, index) =>
    isTreeMap(map) ? [{ map, path: [...path, key, index] }] : [],
  );
}

/** The text at a key; undefined if it is missing or empty. */
export function textIn(map: TreeMap, key: string): string | undefined {
  const value = map[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
