import { applySchema, locate, toIssue } from './findings.ts';
import { type ConfigIssue, sortIssues } from './issue.ts';
import { configJsonSchema } from './json-schema.ts';
import { isSecretPath } from './quoting.ts';
import { checkRules } from './rules.ts';
import type { ConfigShape } from './schema.ts';
import { configSchema } from './schema.ts';
import type { Path, Tree } from './tree.ts';
import { formatPath, isTreeMap, mapsIn, textIn } from './tree.ts';
import type { Environment } from './variables.ts';
import type { YamlDocument } from './yaml-document.ts';
import { readYaml } from './yaml-document.ts';
import type { Place } from './yaml-places.ts';

/** A file that the configuration names, and that has to be read before it is complete. */
export interface FileReference extends Place {
  /** Where it is named, as `panels[0].api_key_file`. */
  readonly path: string;
  /** Its own path, as it is in the configuration. */
  readonly file: string;
}

/** What a configuration's text says, whether it is right or wrong. */
export interface ParsedConfig {
  /** Undefined where there are issues. */
  readonly shape: ConfigShape | undefined;
  /** In the order in which they stand in the file. */
  readonly issues: readonly ConfigIssue[];
  /** The files to read, also where there are issues: all problems are told at once. */
  readonly files: readonly FileReference[];
  /** Paths of the values that come by a variable. */
  readonly variables: ReadonlySet<string>;
}

/** Reads a configuration's text; `file` is what the issues call it. */
export function parseConfig(text: string, file: string, env: Environment): ParsedConfig {
  const document = readYaml(text, env);
  const { tree, problems } = document;
  if (tree === undefined || tree === null) {
    const empty = 'the file is empty; copy config.example.yaml and fill in your panel';
    const found = problems.length > 0 ? problems : [{ path: [], message: empty, line: 1, column: 1 }];
    return { shape: undefined, issues: found.map(toIssue(file)), files: [], variables: new Set() };
  }
  const { shape, findings } = applySchema(tree, configSchema, configJsonSchema);
  const placed = [...findings, ...checkRules(tree)]
    .filter(({ path }) => !document.isBroken(path))
    .map((finding) => locate(finding, document, isSecretPath));
  const issues = sortIssues([...problems, ...placed].map(toIssue(file)));
  const keys = (shape?.panels ?? []).map((_, index): Path => ['panels', index, 'api_key']);
  return {
    shape: issues.length === 0 ? shape : undefined,
    issues,
    files: fileReferences(tree, document),
    variables: new Set(keys.filter((path) => document.templateOf(path) !== undefined).map(formatPath)),
  };
}

const TLS_FILES = ['ca_file', 'cert_file', 'key_file'] as const;

function fileReferences(tree: Tree, document: YamlDocument): FileReference[] {
  const panels = isTreeMap(tree) ? mapsIn(tree, 'panels', []) : [];
  return panels.flatMap(({ map, path }) => {
    const tls = map['tls_config'];
    const named = [
      { file: textIn(map, 'api_key_file'), at: [...path, 'api_key_file'] },
      ...TLS_FILES.map((key) => ({
        file: isTreeMap(tls) ? textIn(tls, key) : undefined,
        at: [...path, 'tls_config', key],
      })),
    ];
    return named.flatMap(({ file, at }) =>
      file === undefined || document.isBroken(at)
        ? []
        : [{ path: formatPath(at), file, ...document.placeOf(at) }],
    );
  });
}
