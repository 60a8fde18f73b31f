import type { z } from 'zod';
import type { ConfigIssue } from './issue.ts';
import { knownKeys, type SchemaNode } from './json-schema.ts';
import { nearestOf } from './near-miss.ts';
import { quote, withoutKeys } from './quoting.ts';
import type { Finding } from './rules.ts';
import type { Path, Tree } from './tree.ts';
import { formatPath, valueAt } from './tree.ts';
import type { YamlDocument, YamlProblem } from './yaml-document.ts';

/** What a schema makes of a tree; undefined where it has complaints. */
export interface SchemaResult<Shape> {
  readonly shape: Shape | undefined;
  readonly findings: readonly Finding[];
}

/** Reads a tree by a schema; the schema's JSON form, which tells the known keys, is made only where a key is unknown. */
export function applySchema<Shape>(
  tree: Tree,
  schema: z.ZodType<Shape>,
  jsonSchema: () => SchemaNode,
): SchemaResult<Shape> {
  const result = schema.safeParse(tree);
  if (result.success) return { shape: result.data, findings: [] };
  const findings = result.error.issues.flatMap((issue): Finding[] => {
    const path = issue.path.filter((step) => typeof step !== 'symbol');
    if (issue.code === 'unrecognized_keys') {
      const known = knownKeys(jsonSchema(), path);
      return issue.keys.map((key) => unknownKey(path, key, known));
    }
    return [{ path, message: issue.message, at: 'value' }];
  });
  return { shape: undefined, findings };
}

function unknownKey(path: Path, key: string, known: readonly string[]): Finding {
  const meant = nearestOf(key, known);
  const hint = meant === undefined ? `expected one of ${known.join(', ')}` : `did you mean ${meant}?`;
  return { path: [...path, key], message: `unknown key, ${hint}`, at: 'key' };
}

/** The finding with its place, and with the value where that is no secret. */
export function locate(
  { path, message, at }: Finding,
  document: YamlDocument,
  isSecret: (path: Path) => boolean,
): YamlProblem {
  if (at === 'key') return { path, message, ...document.placeOfKey(path) };
  const value = valueAt(document.tree, path);
  const shown =
    value === undefined
      ? `is missing, ${message}`
      : isSecret(path)
        ? message
        : // What a variable holds may be a secret that strayed; what the file says is not.
          `${message}, got ${quote(document.templateOf(path) ?? value)}`;
  return { path, message: shown, ...document.placeOf(path) };
}

/** A problem as an issue of the file that is called `file`. */
export function toIssue(file: string): (problem: YamlProblem) => ConfigIssue {
  return ({ path, message, line, column }) => ({
    file,
    line,
    column,
    path: formatPath(path),
    message: withoutKeys(message),
  });
}
