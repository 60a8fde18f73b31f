// The generated reference of the configuration, in Markdown.
import { stringify } from 'yaml';
import { SERVER_ID } from '../../src/config/server-schema.ts';
import { DURATION_PATTERN } from '../../src/text/duration.ts';
import { SIZE_PATTERN } from '../../src/yaml/limit-types.ts';
import { configJsonSchema } from './config-schema.ts';

/** The parts of a JSON schema that the configuration reference uses. */
interface Node {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly anyOf?: readonly Node[];
  readonly items?: Node;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly required?: readonly string[];
}

const WORDS_OF_PATTERN: ReadonlyMap<string, string> = new Map([
  [DURATION_PATTERN, 'duration'],
  [SIZE_PATTERN, 'size'],
  [`^${SERVER_ID}$`, 'server id'],
]);

const WORDS_OF_TYPE: Readonly<Record<string, string>> = {
  boolean: '`true` or `false`',
  number: 'number',
  object: 'map',
};

/**
 * The reference, generated from the schema: a heading and a table for each section, starting with
 * the top level. Sections with the same keys appear once.
 */
export function renderConfigReference(schema: unknown = configJsonSchema()): string {
  const shown = new Map<string, string>();
  return sectionsOf(schema as Node, '')
    .map(({ node, path }) => {
      const keys = JSON.stringify(node.properties);
      const before = shown.get(keys);
      if (before !== undefined) return `${heading(path)}\n\nThe keys are those of \`${before}\`.\n`;
      shown.set(keys, path);
      return `${heading(path)}\n\n${tableOf(node, path)}`;
    })
    .join('\n');
}

const heading = (path: string) => (path === '' ? '## The file' : `### \`${path}\``);

interface Section {
  readonly node: Node;
  readonly path: string;
}

/** This section and its subsections, in the order of the file. */
function sectionsOf(node: Node, path: string): readonly Section[] {
  if (node.items !== undefined) return sectionsOf(node.items, `${path}[]`);
  if (node.properties === undefined) return [];
  const inner = Object.entries(node.properties).flatMap(([key, value]) =>
    sectionsOf(value, path === '' ? key : `${path}.${key}`),
  );
  return [{ node, path }, ...inner];
}

function tableOf({ properties = {}, required = [] }: Node, path: string): string {
  const rows = Object.entries(properties).map(([key, node]) => [
    `\`${key}\``,
    linked(typeOf(node), sectionsOf(node, path === '' ? key : `${path}.${key}`)[0]),
    defaultOf(node, required.includes(key)),
    node.description ?? '',
  ]);
  return [['key', 'type', 'default', 'meaning'], ['---', '---', '---', '---'], ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`)
    .join('');
}

/**
 * The type as a link to the section with the map's keys. The anchor is the one that GitHub
 * generates from the heading.
 */
function linked(type: string, section: Section | undefined): string {
  if (section === undefined) return type;
  const anchor = section.path.toLowerCase().replaceAll(/[^a-z0-9_-]/g, '');
  return type.replace(/\bmaps?\b/, (word) => `[${word}](#${anchor})`);
}

function typeOf(node: Node): string {
  if (node.anyOf !== undefined) return alternatives(node.anyOf).join(', or ');
  if (node.items !== undefined) return `list of ${plural(typeOf(node.items))}`;
  if (node.enum !== undefined) return node.enum.map(code).join(', ');
  if (node.const !== undefined) return code(node.const);
  const types = [node.type ?? 'string'].flat();
  if (types.includes('object') && node.properties === undefined) return 'map of strings';
  if (types.includes('string')) return WORDS_OF_PATTERN.get(node.pattern ?? '') ?? 'string';
  return types.map((type) => WORDS_OF_TYPE[type] ?? type).join(', or ');
}

// Without the patterns of variables, because the reference explains once that any value may be a
// variable and that numbers may be quoted.
function alternatives(nodes: readonly Node[]): readonly string[] {
  const words = nodes.filter(({ pattern }) => pattern !== '\\$\\{').map(typeOf);
  return words.filter((word) => word !== 'string' || words.length === 1);
}

const plural = (word: string) => (/^[a-z ]+$/.test(word) ? `${word}s` : word);

function defaultOf(node: Node, isRequired: boolean): string {
  if (isRequired) return 'required';
  const { default: initial } = node;
  const isEmpty =
    initial === undefined || (typeof initial === 'object' && Object.keys(initial ?? {}).length === 0);
  return isEmpty ? '' : code(initial);
}

function code(value: unknown): string {
  const text = stringify(value, { collectionStyle: 'flow', lineWidth: 0, flowCollectionPadding: true });
  return `\`${text.trim()}\``;
}
