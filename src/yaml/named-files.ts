// Reads the files that a configuration names.

import { z } from 'zod';
import type { FileKind, FileResult } from './text-file.ts';
import { isTreeMap, type KeyPath, type Tree } from './tree.ts';

/** Replaces the name of a file in a tree: the result of reading it, or nothing if it isn't read. */
export class NamedFile {
  readonly name: string;
  readonly file: FileResult | undefined;

  constructor(name: string, file: FileResult | undefined) {
    this.name = name;
    this.file = file;
  }
}

/** Reads a file that a setting names; undefined if it isn't to be read. */
export type ReadFile = (name: string, kind: FileKind) => Promise<FileResult | undefined>;

const KINDS = z.registry<{ readonly kind: FileKind }>();

/** A setting of this type that names a file of this kind. */
export function namesFile<T extends z.ZodType>(type: T, kind: FileKind): T {
  KINDS.add(type, { kind });
  return type;
}

interface FoundFile {
  readonly path: KeyPath;
  readonly name: string;
  readonly kind: FileKind;
}

/**
 * The tree with the results of `read` in place of the names of files. All files are read at once,
 * and the given tree stays unchanged.
 */
export async function withNamedFiles(schema: z.ZodType, tree: Tree, read: ReadFile): Promise<Tree> {
  const found = filesIn(schema, tree, []);
  const files = await Promise.all(found.map(({ name, kind }) => read(name, kind)));
  return found.reduce(
    (changed, { path, name }, index) => replaced(changed, path, new NamedFile(name, files[index])),
    tree,
  );
}

function filesIn(schema: z.ZodType, tree: Tree, path: KeyPath): readonly FoundFile[] {
  if (!hasFiles(schema)) return [];
  const { kind } = KINDS.get(schema) ?? {};
  if (kind !== undefined) return typeof tree === 'string' && tree !== '' ? [{ path, name: tree, kind }] : [];
  const { alike, items, values, keys } = innerSchemas(schema);
  const found = alike.flatMap((part) => filesIn(part, tree, path));
  if (Array.isArray(tree))
    found.push(...tree.flatMap((item, index) => (items ? filesIn(items, item, [...path, index]) : [])));
  if (!isTreeMap(tree)) return found;
  for (const [key, value] of Object.entries(tree)) {
    const part = Object.hasOwn(keys, key) ? keys[key] : values;
    if (part !== undefined) found.push(...filesIn(part, value, [...path, key]));
  }
  return found;
}

const HAVING_FILES = new WeakMap<z.ZodType, boolean>();

/** Most of a configuration, such as its servers, names no files. */
function hasFiles(schema: z.ZodType): boolean {
  const known = HAVING_FILES.get(schema);
  if (known !== undefined) return known;
  // A schema that contains itself is completed when this returns.
  HAVING_FILES.set(schema, false);
  const { alike, items, values, keys } = innerSchemas(schema);
  const parts = [...alike, ...Object.values(keys), items, values].filter((part) => part !== undefined);
  const has = KINDS.get(schema) !== undefined || parts.some(hasFiles);
  HAVING_FILES.set(schema, has);
  return has;
}

interface Parts {
  /** Schemas for the same value. */
  readonly alike: readonly z.ZodType[];
  readonly items?: z.ZodType | undefined;
  readonly values?: z.ZodType | undefined;
  readonly keys: Readonly<Record<string, z.ZodType>>;
}

/** The schemas that a schema contains, whatever it does with them. */
function innerSchemas(schema: z.ZodType): Parts {
  const {
    innerType,
    in: from,
    out,
    options = [],
    element,
    valueType,
    shape = {},
  } = schema.def as {
    readonly innerType?: z.ZodType;
    readonly in?: z.ZodType;
    readonly out?: z.ZodType;
    readonly options?: readonly z.ZodType[];
    readonly element?: z.ZodType;
    readonly valueType?: z.ZodType;
    readonly shape?: Readonly<Record<string, z.ZodType>>;
  };
  const alike = [innerType, from, out, ...options].filter((part) => part !== undefined);
  return { alike, items: element, values: valueType, keys: shape };
}

/** The tree with another value at this path. */
function replaced(tree: Tree, [step, ...rest]: KeyPath, value: Tree): Tree {
  if (step === undefined) return value;
  if (Array.isArray(tree)) return tree.with(Number(step), replaced(tree[Number(step)], rest, value));
  const map = tree as Record<string, Tree>;
  return { ...map, [step]: replaced(map[step], rest, value) };
}
