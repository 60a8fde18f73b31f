// The content of a YAML file as a tree of texts, with paths into it.

/** The path from the root to a value: keys and indices. */
export type KeyPath = readonly (string | number)[];

/**
 * The content of a YAML file: maps, lists, and for each scalar a text or null. An id such as
 * `1e100000` stays unchanged.
 */
export type Tree = unknown;

/** Stands for a wrong value, about which nothing more is reported. */
export const BROKEN = Symbol('broken');

export function isTreeMap(tree: Tree): tree is Record<string, Tree> {
  return typeof tree === 'object' && tree !== null && Object.getPrototypeOf(tree) === Object.prototype;
}

/** The value at a path, or the broken value around it; undefined if the file has none. */
export function valueAt(tree: Tree, path: KeyPath): Tree {
  const inside = (value: Tree, step: string | number) => {
    if (value === BROKEN) return BROKEN;
    const isAround = isTreeMap(value) || Array.isArray(value);
    return isAround && Object.hasOwn(value, step) ? (value as Record<string, Tree>)[step] : undefined;
  };
  return path.reduce(inside, tree);
}

/** Line and column, counted from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** What is wrong with a setting. */
export interface SettingProblem {
  readonly path: KeyPath;
  readonly message: string;
  /**
   * What the message is about. A value is quoted after it, unless it must not be shown. A position
   * is given if the path leads elsewhere, as with the second of two equal keys.
   */
  readonly at: 'key' | 'value' | 'hidden value' | Position;
}
