// The schema of the configuration file: types, defaults and descriptions.

import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { z } from 'zod';
import type { ServerTarget } from '../domain/server.ts';
import {
  DAEMONS,
  DIALECT_FACTS,
  DIALECT_NAMES,
  panelsWith,
  permissionText,
} from '../panel/dialects/facts.ts';
import { apiKeyIn, apiKeyProblem, isApiKey, keyTextProblem } from '../text/api-keys.ts';
import { KNOWN_SECRETS, Secret } from '../text/redaction.ts';
import {
  byDefault,
  customIssue,
  duration,
  flag,
  list,
  namedFile,
  oneOf,
  optional,
  positiveInteger,
  scalar,
  section,
  settings,
  withExamples,
} from '../yaml/setting-types.ts';
import { API_KEY_FILE, TLS_FILE } from '../yaml/text-file.ts';
import { isTreeMap, type Tree } from '../yaml/tree.ts';
import { discoverSchema, perServer } from './discover-schema.ts';
import { normalizePanelUrl, panelUrlProblem, parseHttpUrl } from './panel-url.ts';
import { nameSchema, parseHost, serverSchema } from './server-schema.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

/** `auto` means pretty in a terminal and JSON elsewhere. */
export const LOG_FORMATS = ['json', 'pretty', 'auto'] as const;

/** Other exporters whose metric names can be served in addition to the exporter's own. */
const COMPATIBILITIES = ['pterodactyl_exporter', 'pelican_exporter'] as const;

const hosts = (example: string) =>
  list(
    scalar('a host name or an IP address without a port', { read: parseHost }),
    `host names, such as [${example}]`,
    'host name',
  );

/** What is wrong with `api_key`, in which people also write the key's file or variable. */
function inlineKeyProblem(text: string): string | undefined {
  // A key may contain a slash, but never begins like a path.
  if (/^(?:~|\.{0,2}|[a-z]:)[/\\]/i.test(text))
    return 'expected an API key, but this is a file: name it in `api_key_file`';
  return /^\$\w+$/.test(text)
    ? 'expected an API key, but this is a variable without braces: write it as ${NAME}'
    : apiKeyProblem(text);
}

/** The path of a file with an API key, which is read again at each reload. */
const keyFile = (keyProblem: (key: string) => string | undefined, otherwise: string) =>
  namedFile({
    kind: API_KEY_FILE,
    nameProblem: (name) => {
      if (!isApiKey(name)) return undefined;
      KNOWN_SECRETS.add(name);
      return `this is a key, not a file: ${otherwise}`;
    },
    problem: (content) => {
      const problem = keyProblem(apiKeyIn(content));
      return problem && `does not contain a valid API key: ${problem}`;
    },
  }).transform(apiKeyIn);

/** A file in PEM, which TLS can use like this. */
const pemFile = (expected: string, toContext: (content: string) => SecureContextOptions) =>
  namedFile({
    kind: TLS_FILE,
    problem: (content) => {
      try {
        return void createSecureContext(toContext(content));
      } catch {
        return `does not contain ${expected}`;
      }
    },
  });

const certificateFile = () => pemFile('a PEM certificate', (cert) => ({ cert }));

const TLS_SHAPE = {
  caFile: optional(certificateFile(), '/etc/ssl/panel-ca.pem').describe(
    'CA certificates (PEM) to trust instead of the public ones, for the panel, its nodes and an https proxy.',
  ),
  certFile: optional(certificateFile(), '/etc/ssl/exporter.pem').describe(
    'Client certificate (PEM) for the panel and its nodes. Requires `key_file`.',
  ),
  keyFile: optional(
    pemFile('an unencrypted PEM private key', (key) => ({ key })),
    '/etc/ssl/exporter.key',
  ).describe("The client certificate's private key (PEM). Requires `cert_file`."),
  serverName: optional(scalar('a host name', { example: 'panel.example.com', read: parseHost })).describe(
    'The name expected in the panel certificate. Not used for nodes. Default: the host of `url`.',
  ),
  insecureSkipVerify: byDefault(false, flag()).describe(
    "Don't verify these certificates. Anyone who can intercept the connection can then read the API key.",
  ),
};

const tlsConfig = settings('a map of TLS settings', TLS_SHAPE).transform(
  ({ caFile: ca, certFile: cert, keyFile: key, ...rest }) => ({
    ca,
    cert,
    key: key === undefined ? undefined : new Secret(key),
    ...rest,
  }),
);

const nodes = settings('a map with api_key_file', {
  apiKeyFile: withExamples(
    keyFile(keyTextProblem, 'save it in a file, and set this to the path of the file'),
    '/run/secrets/panel-nodes-key',
  ).describe(
    'A file that contains only an application API key with permission to read nodes. Such a key can read more than the exporter needs ([security](security.md#a-key-for-nodes)).',
  ),
  intervalMs: byDefault('5m', duration('1m', 'the application API has a rate limit')).describe(
    'How often the nodes are read. At least 1m.',
  ),
}).transform(({ apiKeyFile, intervalMs }) => ({ apiKey: new Secret(apiKeyFile), intervalMs }));

/**
 * Without a request, an offline server sends no stats. The exporter requests them after 15 s of
 * silence, and the response may take another 5 s. With a shorter value, such series would come and
 * go.
 */
const SHORTEST_STALENESS = '20s';

/** APIs that are named after one panel but used by several. */
const APIS_OF_SEVERAL = DIALECT_FACTS.filter(({ panels }) => panels.length > 1)
  .map(({ name: api, panels }) => `${api} also covers ${panels.slice(1).join(', ')} and compatible panels`)
  .join(', ');

const PANEL_SHAPE = {
  name: withExamples(nameSchema('panel'), 'main').describe(
    'The panel name, used as the `panel` label. Must be unique.',
  ),
  url: scalar('the base URL of the panel', {
    example: 'https://panel.example.com',
    problem: panelUrlProblem,
    read: normalizePanelUrl,
  }).describe('The base URL of the panel, as opened in a browser.'),
  panel: optional(oneOf(DIALECT_NAMES), DIALECT_NAMES.at(-1)).describe(
    `The panel's API: ${APIS_OF_SEVERAL}. Default: recognized by the key and the panel's responses.`,
  ),
  origin: optional(
    scalar('an origin without a trailing slash', {
      example: 'https://panel.example.com',
      read: (text) => (/^https?:\/\/[^/?#@\s]+$/.test(text) && URL.canParse(text) ? text : undefined),
    }),
  ).describe(
    "The Origin header for console sockets. Nodes compare it with the panel's own address character by character. Default: the origin of `url`.",
  ),
  apiKey: optional(
    scalar('a client API key', {
      example: '${PANEL_API_KEY}',
      problem: (text) => inlineKeyProblem(apiKeyIn(text)),
      read: apiKeyIn,
      isSecret: true,
    }),
  ).describe(
    'A client API key (not an application API key), preferably from an environment variable. Set either this or `api_key_file`.',
  ),
  apiKeyFile: optional(keyFile(apiKeyProblem, 'use `api_key`'), '/run/secrets/panel-key').describe(
    'A file that contains only the client API key.',
  ),
  requestsPerMinute: optional(positiveInteger(), 120).describe(
    'The maximum number of API calls per minute. Default: 80 % of the limit that the panel reports.',
  ),
  keyPerShard: byDefault(false, flag()).describe(
    "With `--shard`: whether each shard uses another account's API key. If not, the shards divide one rate limit.",
  ),
  pollIntervalMs: byDefault('30s', duration('20s', 'the panel caches its responses for that long')).describe(
    'How often a server without a console socket is polled. At least 20s: the panel caches its responses for that long.',
  ),
  stalenessMs: byDefault(
    '60s',
    duration(SHORTEST_STALENESS, 'an offline server is sampled every 15s'),
  ).describe(
    `The age of a server's last sample after which its series are dropped. At least ${SHORTEST_STALENESS}: an offline server is sampled every 15s.`,
  ),
  requestTimeoutMs: byDefault('25s', duration()).describe(
    'Timeout of an API call. Panels take up to 20s to detect that a node is down.',
  ),
  connectTimeoutMs: byDefault('10s', duration()).describe('Timeout for opening a connection.'),
  authTimeoutMs: byDefault('12s', duration()).describe(
    "Timeout for a socket's authentication. With less than 10s, a node that throttles connections looks like one that rejects them.",
  ),
  allowInsecure: byDefault(false, flag()).describe(
    'Allow http and ws to hosts other than this machine. This sends the API key in clear text.',
  ),
  socketHosts: optional(hosts('node1.example.com'), ['node1.example.com', 'node2.example.com']).describe(
    'The only hosts that sockets may be opened to. Default: any public host that the panel sends.',
  ),
  queryHosts: optional(hosts('127.0.0.1'), ['127.0.0.1', 'games.local']).describe(
    'Hosts at which games may be queried although they are at loopback, link-local or cloud metadata addresses. Default: none, or loopback and link-local addresses if the panel is at one.',
  ),
  tlsConfig: optional(tlsConfig).describe('TLS settings for the panel and its nodes.'),
  proxyUrl: optional(
    scalar('the URL of an http or https proxy', {
      example: 'http://proxy.example.com:3128',
      read: (text) => (parseHttpUrl(text)?.pathname === '/' && !/[?#]/.test(text) ? text : undefined),
    }),
  ).describe(
    'http or https proxy for API calls and sockets, with `user:password@` if it requires them. Default: from the environment (`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`), but none for this machine.',
  ),
  discover: discoverSchema.describe(
    'Monitor the servers that the panel lists, and follow changes: true for all, or a map that selects some. Entries in `servers` take precedence. Default: false.',
  ),
  limitsFromListing: byDefault(true, flag()).describe(
    'Read node, egg, limits and states such as suspended of the entries in `servers` from the server list. With `discover`, it is read anyway.',
  ),
  daemon: optional(oneOf(DAEMONS), DAEMONS[0]).describe(
    `With \`limits_from_listing: false\` on ${panelsWith(({ daemons }) => daemons.length > 0)}: the nodes' daemon, which is part of API paths. Default: from the server list.`,
  ),
  backups: perServer(
    "How often each server's backups are read, in addition to the end of each backup. At least 10m.",
  ).describe(
    `Read each server's backups: every hour, or at an interval. Requires the permission ${permissionText(({ permissions }) => permissions.backups)}. Default: false.`,
  ),
  schedules: perServer("How often each server's schedules are read. At least 10m.").describe(
    `Read each server's schedules, to alert when the panel no longer runs them: every hour, or at an interval. Requires the permission ${permissionText(({ permissions }) => permissions.schedules)}. Default: false.`,
  ),
  nodes: optional(nodes, { api_key_file: '/run/secrets/panel-nodes-key' }).describe(
    "Read the capacity, allocation and maintenance mode of the panel's nodes, with a key of its own. Default: not read.",
  ),
  servers: z
    .array(serverSchema, { error: 'expected a list of servers' })
    .prefault([])
    .describe('The servers to monitor. May be omitted with `discover`.'),
};

const panel = settings('a panel, such as `- name: main`', PANEL_SHAPE).transform(
  ({ apiKey = '', apiKeyFile = apiKey, tlsConfig, discover: list, limitsFromListing, daemon, ...panel }) => ({
    ...panel,
    apiKey: new Secret(apiKeyFile),
    apiKeySource: 'variable',
    tls: tlsConfig,
    origin: panel.origin ?? new URL(panel.url).origin,
    // Without `discover`, the list only adds facts about configured servers.
    listing: list ?? (limitsFromListing ? { intervalMs: 5 * 60_000 } : undefined),
    // A key without a value would be lost between threads, and look like a change.
    servers: panel.servers.map(
      (server): ServerTarget => ({ ...(daemon !== undefined && { daemon }), ...server, panel: panel.name }),
    ),
  }),
);

const log = section('a map with level and format', {
  level: byDefault('info', oneOf(LOG_LEVELS)).describe('The minimum severity of logged lines.'),
  format: byDefault('auto', oneOf(LOG_FORMATS)).describe('auto is pretty in a terminal and json otherwise.'),
});

/** Keys that every configuration of pterodactyl_exporter or pelican-exporter has. */
const THEIR_KEYS = ['host', 'api_key'];

/** Why the file can't be a configuration at all; undefined if it may be one. */
function misfit(tree: Tree): string | undefined {
  if (tree === null)
    return 'the file is empty; create it with init, or copy config.example.yaml and fill in your panel';
  const [map]: readonly unknown[] = Array.isArray(tree) ? tree : [tree];
  if (!isTreeMap(map) || (map['panels'] ?? null) !== null) return undefined;
  if (THEIR_KEYS.every((key) => key in map))
    return 'this is a configuration of pterodactyl_exporter or pelican-exporter; docs/migration.md describes how to convert it';
  return Object.keys(panel.in.in.shape).some((key) => key in map)
    ? 'put these settings below `panels:`, as an entry that begins with `- `'
    : undefined;
}

const config = section('a map with panels', {
  panels: list(
    panel.meta({
      oneOf: [{ required: ['api_key'] }, { required: ['api_key_file'] }],
      allOf: [{ anyOf: [{ required: ['servers'] }, { required: ['discover'] }] }],
    }),
    'panels, each of which begins with `- `',
    'panel',
  ).describe('The panels whose servers are monitored, one entry per API key.'),
  compatibility: optional(oneOf(COMPATIBILITIES), 'pterodactyl_exporter').describe(
    "Also serve the metrics under the names of another exporter, so that its dashboards keep working. Default: only this exporter's own names.",
  ),
  log: log.prefault({}).describe('Logging.'),
}).meta({ title: 'gameserver-exporter configuration' });

/**
 * The schema of the configuration file: types, defaults and descriptions. Its input is a tree of
 * texts. Its output is the configuration with the content of the files that it names.
 */
export const configSchema = z.preprocess((tree, context) => {
  const problem = misfit(tree);
  // A file that isn't a configuration has no other problems.
  if (problem !== undefined) context.addIssue(customIssue(problem, 'key'));
  return tree;
}, config);
