import { applySchema, locate, toIssue } from '../config/findings.ts';
import { type ConfigIssue, sortIssues } from '../config/issue.ts';
import type { FileReference } from '../config/parse.ts';
import { formatPath, isTreeMap, type Path, type Tree, textIn } from '../config/tree.ts';
import type { Environment } from '../config/variables.ts';
import { readYaml, type YamlDocument } from '../config/yaml-document.ts';
import { checkWebRules } from './rules.ts';
import { type WebConfigShape, webConfigJsonSchema, webConfigSchema, withoutBlanks } from './schema.ts';
import { warningsOf } from './warnings.ts';

/** What the text of a web configuration says, whether it is right or wrong. */
export interface ParsedWebConfig {
  /** Undefined where there are issues. */
  readonly shape: WebConfigShape | undefined;
  /** In the order in which they stand in the file. */
  readonly issues: readonly ConfigIssue[];
  readonly warnings: readonly ConfigIssue[];
  /** The files to read, also where there are issues: all problems are told at once. */
  readonly files: readonly FileReference[];
  /** Where something stands in the file, as an issue about it. */
  readonly issueAt: (path: Path, message: string) => ConfigIssue;
}

/** Reads the text of a web configuration; `file` is what the issues call it. An empty one asks for nothing. */
export function parseWebConfig(text: string, file: string, env: Environment): ParsedWebConfig {
  const document = readYaml(text, env);
  const issueOf = toIssue(file);
  const issueAt = (path: Path, message: string) => issueOf({ path, message, ...document.placeOf(path) });
  if (document.tree === undefined) {
    const issues = document.problems.map(issueOf);
    return { shape: undefined, issues, warnings: [], files: [], issueAt };
  }
  const tree = withoutBlanks(document.tree ?? {});
  const { shape, findings } = applySchema(tree, webConfigSchema, webConfigJsonSchema);
  const placed = [...findings, ...checkWebRules(tree)]
    .filter(({ path }) => !document.isBroken(path))
    .map((finding) => locate(finding, document, isSecret));
  const issues = sortIssues([...document.problems, ...placed].map(issueOf));
  const good = issues.length === 0 ? shape : undefined;
  const warnings =
    good === undefined ? [] : warningsOf(good).map(({ path, message }) => issueAt(path, message));
  return { shape: good, issues, warnings, files: fileReferences(tree, document), issueAt };
}

function isSecret(path: Path): boolean {
  return path[0] === 'basic_auth_users'
    ? path.length > 1
    : path[0] === 'tls_server_config' && path[1] === 'key';
}

function fileReferences(tree: Tree, document: YamlDocument): readonly FileReference[] {
  const tls = isTreeMap(tree) ? tree['tls_server_config'] : undefined;
  if (!isTreeMap(tls)) return [];
  return ['cert_file', 'key_file', 'client_ca_file'].flatMap((key) => {
    const file = textIn(tls, key);
    const path = ['tls_server_config', key];
    return file === undefined || document.isBroken(path)
      ? []
      : [{ path: formatPath(path), file, ...document.placeOf(path) }];
  });
}
