// The layers of the architecture: the folders of `src`, and which of them each may import.

/** A folder or file of `src`, its content, and the layers that it may import. */
export interface Layer {
  /** Relative to `src`. A folder includes everything in it that isn't a layer of its own. */
  readonly path: string;
  readonly contains: string;
  readonly mayImport: readonly string[];
}

const BASE = ['domain', 'text'];
const COLLECTION = [...BASE, 'addresses', 'panel', 'session'];
const EVERYTHING = 'everything';
const FACTS = 'panel/dialects/facts.ts';

/**
 * The only definition of the architecture. The lint rules (`scripts/layers.oxlintrc.json`) and the
 * table in CONTRIBUTING.md are generated from it. No layer can import a folder that isn't listed.
 */
export const LAYERS: readonly Layer[] = [
  {
    path: 'domain',
    contains: 'plain types and ports: servers, samples, problems, the clock, the log',
    mayImport: [],
  },
  {
    path: 'text',
    contains: 'text for people: without secrets, and with names and durations in their usual forms',
    mayImport: ['domain', FACTS],
  },
  { path: 'build-info.ts', contains: 'the version, and the location of the built program', mayImport: [] },
  {
    path: 'yaml',
    contains: 'YAML text → a tree with source positions → issues; independent of the configuration',
    mayImport: BASE,
  },
  {
    path: 'config',
    contains: "the exporter's configuration: schema, rules, loading",
    mayImport: [...BASE, 'yaml', 'addresses', 'query', FACTS, 'build-info.ts'],
  },
  {
    path: 'query',
    contains:
      'queries game servers for their players: their types, the protocols, and the thread that queries them',
    mayImport: [...BASE, 'diagnosis', 'addresses', 'build-info.ts'],
  },
  {
    path: 'diagnosis',
    contains:
      'the causes of problems as data, and pure functions that classify evidence (errors, responses, close codes)',
    mayImport: [...BASE, FACTS],
  },
  {
    path: 'addresses',
    contains:
      'hosts and IP addresses: their forms, which of them sockets may connect to, and name lookups with few threads',
    mayImport: [...BASE, 'diagnosis'],
  },
  {
    path: 'panel',
    contains:
      "one panel's API: `health` decides which subjects have an outage, and `scheduler` when a call may start; `dialects` contains the differences between panels",
    mayImport: [...BASE, 'diagnosis', 'addresses', FACTS],
  },
  { path: FACTS, contains: 'facts about each dialect that other parts of the program need', mayImport: [] },
  {
    path: 'session',
    contains:
      "one server's console socket and polls: `plan.ts` decides what a server needs and `machine.ts` is its socket's state machine, both pure; the rest executes their effects",
    mayImport: [...BASE, 'diagnosis', 'addresses', 'panel'],
  },
  {
    path: 'fleet',
    contains: 'all servers of one panel: records, discovery, backups, queries, and their needs',
    mayImport: [...COLLECTION, 'query', 'diagnosis'],
  },
  {
    path: 'storage',
    contains: 'the file that keeps the state of the servers across a restart',
    mayImport: BASE,
  },
  { path: 'metrics', contains: 'families as data → exposition; self-metrics', mayImport: ['domain'] },
  {
    path: 'status-page/data',
    contains: 'the data of the status page and `/api/v1`: complaints, texts, stream, JSON',
    mayImport: [...BASE, 'diagnosis', 'addresses', 'metrics'],
  },
  {
    path: 'status-page/browser',
    contains: "the status page's own code and style sheet, which run in a browser",
    mayImport: ['domain', 'status-page/data'],
  },
  {
    path: 'status-page',
    contains: 'the served page, and the files that it loads',
    mayImport: ['build-info.ts'],
  },
  {
    path: 'http',
    contains:
      'the HTTP server: listeners, access control, routes; `web-config` reads the file of `--web.config.file`',
    mayImport: [...BASE, 'addresses', 'yaml', 'metrics', 'status-page', 'status-page/data', 'build-info.ts'],
  },
  {
    path: 'doctor',
    contains: 'runs the exporter for up to a minute, and reports its problems',
    mayImport: [
      ...BASE,
      'config',
      'addresses',
      'panel',
      'query',
      'diagnosis',
      'fleet',
      'app',
      'build-info.ts',
    ],
  },
  {
    path: 'console',
    contains: "a server's live console in a terminal",
    mayImport: [...COLLECTION, 'diagnosis', FACTS],
  },
  {
    path: 'simulator',
    contains: 'a simulated panel, with nodes and game servers, that implements the whole API',
    mayImport: BASE,
  },
  {
    path: 'app',
    contains: 'composition: builds the parts, reloads them, and stops them in order',
    mayImport: [
      ...COLLECTION,
      'yaml',
      'config',
      'query',
      'fleet',
      'metrics',
      'status-page/data',
      'http',
      'storage',
      'build-info.ts',
    ],
  },
  { path: 'commands', contains: 'one file per command of the command line', mayImport: [EVERYTHING] },
  { path: 'cli.ts', contains: 'arguments and signals', mayImport: [EVERYTHING] },
];

/** Whether modules of one layer may import modules of the other. Entry points can't be imported. */
export function mayImport(from: Layer, to: Layer): boolean {
  if (from === to) return true;
  if (to.path === 'cli.ts') return false;
  return from.mayImport.includes(EVERYTHING) || from.mayImport.includes(to.path);
}

/** The text of `scripts/layers.oxlintrc.json`, which `.oxlintrc.json` extends. */
export function renderLintRules(): string {
  const restricted = LAYERS.filter((layer) => LAYERS.some((other) => !mayImport(layer, other)));
  const overrides = restricted.map((layer) => ({
    files: filesOf(layer),
    rules: {
      'no-restricted-imports': ['error', { patterns: forbiddenImports(layer) }],
    },
  }));
  return `${JSON.stringify({ overrides }, undefined, 2)}\n`;
}

/** The table of layers in CONTRIBUTING.md. */
export function renderLayerTable(): string {
  const rows = LAYERS.map(
    ({ path, contains, mayImport: others }) =>
      `| \`src/${path}\` | ${contains} | ${others.length === 0 ? 'nothing' : others.map((other) => other.replace(/^[^.]*\.ts$/, '`$&`')).join(', ')} |`,
  );
  return ['| folder | contains | may import |', '|---|---|---|', ...rows].join('\n');
}

/** A folder that contains other layers owns only the files directly in it. */
function filesOf({ path }: Layer): readonly string[] {
  if (path.endsWith('.ts')) return [`src/${path}`];
  return [isOuter(path) ? `src/${path}/*` : `src/${path}/**`];
}

const isFile = ({ path }: Layer) => path.endsWith('.ts');

const isOuter = (folder: string) =>
  LAYERS.some((other) => other.path.startsWith(`${folder}/`) && !isFile(other));

// Patterns include the way out of a folder, so that a folder of the same name inside a layer
// doesn't match.
function forbiddenImports(layer: Layer): readonly object[] {
  const message = `src/${layer.path} may not import this: see scripts/layers.ts`;
  if (isFile(layer) && layer.mayImport.length === 0) return [{ regex: String.raw`^\.`, message }];
  const forbidden = LAYERS.filter((other) => !mayImport(layer, other));
  const allowedIn = ({ path }: Layer) =>
    LAYERS.filter((other) => isFile(other) && other.path.startsWith(`${path}/`) && mayImport(layer, other));
  const whole = forbidden.filter((other) => allowedIn(other).length === 0);
  // The linter's regular expressions can't exclude a file from a folder, but its groups can.
  const inPart = forbidden.filter((other) => !whole.includes(other));
  return [
    { regex: whole.map((other) => specifierPattern(layer, other)).join('|'), message },
    ...inPart.map((other) => ({
      group: [`**/${other.path}/**`, ...allowedIn(other).map(({ path }) => `!**/${path}`)],
      message,
    })),
  ];
}

function specifierPattern(from: Layer, to: Layer): string {
  const literal = (text: string) => text.replaceAll('.', '\\.');
  const [folder = '', inner] = to.path.split('/');
  const target = isFile(to) ? `${literal(to.path)}$` : `${to.path}/`;
  const whole = isOuter(to.path) ? `${folder}/[^/]+$` : target;
  // Layers inside the same outer folder import each other without its name.
  const sibling = from.path.startsWith(`${folder}/`) || from.path === folder;
  if (!sibling) return `^(?:\\.\\./)+${whole}`;
  const short = inner === undefined ? '[^/]+$' : `${inner}/`;
  return from.path === folder ? `^\\./${short}` : `^\\.\\./${short}`;
}
