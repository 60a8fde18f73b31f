import { z } from 'zod';
import type { SchemaNode } from '../yaml/issues.ts';
import { count, duration, flag, list, oneOf, scalar, section } from '../yaml/scalars.ts';
import { COMPATIBILITIES, LOG_FORMATS, LOG_LEVELS } from './config.ts';
import { backups, discover, schedules } from './discover-schema.ts';
import { name, server } from './server-schema.ts';
import {
  apiKeyProblem,
  isOrigin,
  normalizePanelUrl,
  panelUrlProblem,
  parseHost,
  proxyUrlProblem,
} from './values.ts';

const hosts = (example: string) =>
  list(
    scalar({ expected: 'a host name or an IP address without a port', read: parseHost }),
    `host names, such as [${example}]`,
    'host name',
  );

const filePath = () => scalar({ expected: 'a file path', read: (text) => text || undefined });

const tlsConfig = section('a map of TLS settings', {
  ca_file: filePath()
    .optional()
    .meta({
      description:
        "CA certificates (PEM) to trust instead of the public ones, for the panel, its nodes and an https proxy. A relative path is resolved from the configuration file's directory.",
      examples: ['/etc/ssl/panel-ca.pem'],
    }),
  cert_file: filePath()
    .optional()
    .meta({
      description: 'Client certificate (PEM) for the panel and its nodes. Requires key_file.',
      examples: ['/etc/ssl/exporter.pem'],
    }),
  key_file: filePath()
    .optional()
    .meta({
      description: "The client certificate's private key (PEM). Requires cert_file.",
      examples: ['/etc/ssl/exporter.key'],
    }),
  server_name: scalar({ expected: 'a host name, such as panel.example.com', read: parseHost })
    .optional()
    .meta({
      description:
        'The name expected in the panel certificate. Not used for sockets, because nodes have their own names. Default: the host of url.',
      examples: ['panel.example.com'],
    }),
  insecure_skip_verify: flag().prefault('false').meta({
    description:
      'Skip verification of the certificates of the panel, its nodes and an https proxy. Anyone who can intercept the connection can then read the API key.',
    default: false,
  }),
});

const nodes = section('a map with api_key_file', {
  api_key_file: filePath().meta({
    description:
      "A file that contains only a key for the panel's application API that may read nodes (an administrator's client key works too). Such a key can read more than the exporter needs ([security](security.md)). A relative path is resolved from the configuration file's directory.",
    examples: ['/run/secrets/panel-nodes-key'],
  }),
  interval: duration({ atLeast: '1m', because: 'the application API has a rate limit' }).prefault('5m').meta({
    description: 'How often the nodes are read. At least 1m.',
  }),
});

/**
 * An offline server sends stats only on request, after 15 s of silence; the other five seconds are for its response. With less, its
 * series would come and go.
 */
const SHORTEST_STALENESS = '20s';

const panel = section('a panel, such as `- name: main`', {
  name: name('panel').meta({
    description: 'The panel name, used as the `panel` label. Must be unique.',
    examples: ['main'],
  }),
  url: scalar({
    expected: 'the base URL of the panel, such as https://panel.example.com',
    problem: panelUrlProblem,
    read: normalizePanelUrl,
  }).meta({
    description: 'The base URL of the panel, as opened in a browser.',
    examples: ['https://panel.example.com'],
  }),
  origin: scalar({
    expected: 'an origin without a trailing slash, such as https://panel.example.com',
    read: (text) => (isOrigin(text) ? text : undefined),
  })
    .optional()
    .meta({
      description:
        "The Origin header for console sockets. Nodes compare it with the panel's own address character by character. Default: the origin of url.",
      examples: ['https://panel.example.com'],
    }),
  api_key: scalar({
    expected: 'a client API key, such as ${PANEL_API_KEY}',
    problem: apiKeyProblem,
    read: (text) => text,
  })
    .optional()
    .meta({
      description:
        'A client API key (not an application API key), preferably from an environment variable. Set either this or api_key_file.',
      examples: ['${PANEL_API_KEY}'],
    }),
  api_key_file: filePath()
    .optional()
    .meta({
      description:
        "A file that contains only the client API key. A relative path is resolved from the configuration file's directory. Set either this or api_key.",
      examples: ['/run/secrets/panel-key'],
    }),
  requests_per_minute: count()
    .optional()
    .meta({
      description:
        'The maximum number of API calls per minute. Default: 80 % of the limit that the panel reports.',
      examples: [120],
    }),
  key_per_shard: flag().prefault('false').meta({
    description:
      "With --shard: whether each shard uses another account's API key. If not, the shards share one rate limit, and each uses its part of it.",
    default: false,
  }),
  poll_interval: duration({ atLeast: '20s', because: 'the panel caches its responses for that long' })
    .prefault('30s')
    .meta({
      description:
        'How often a server without a console socket is polled. At least 20s, because the panel caches its responses for that long.',
    }),
  staleness: duration({ atLeast: SHORTEST_STALENESS, because: 'an offline server is sampled every 15s' })
    .prefault('60s')
    .meta({
      description: `The age of a server's last sample after which its series are dropped. At least ${SHORTEST_STALENESS}, because an offline server is sampled every 15s.`,
    }),
  request_timeout: duration().prefault('25s').meta({
    description: 'Timeout of an API call. Panels take up to 20s to detect that a node is down.',
  }),
  connect_timeout: duration().prefault('10s').meta({ description: 'Timeout for opening a connection.' }),
  auth_timeout: duration().prefault('12s').meta({
    description:
      "Timeout for a socket's authentication. With less than 10s, a node that throttles connections looks like one that rejects them.",
  }),
  allow_insecure: flag().prefault('false').meta({
    description: 'Allow http and ws to hosts other than this machine. This sends the API key in clear text.',
    default: false,
  }),
  socket_hosts: hosts('node1.example.com')
    .optional()
    .meta({
      description:
        'The only hosts that sockets may be opened to. Default: any public host that the panel sends.',
      examples: [['node1.example.com', 'node2.example.com']],
    }),
  query_hosts: hosts('127.0.0.1')
    .optional()
    .meta({
      description:
        'Hosts at which games may be queried although they are, or resolve to, loopback, link-local or cloud metadata addresses. Default: none, or loopback and link-local addresses if the panel itself is at such an address.',
      examples: [['127.0.0.1', 'games.local']],
    }),
  tls_config: tlsConfig.optional().meta({ description: 'TLS settings for the panel and its nodes.' }),
  proxy_url: scalar({
    expected: 'the URL of an http or https proxy, such as http://proxy.example.com:3128',
    problem: proxyUrlProblem,
    read: (text) => text,
  })
    .optional()
    .meta({
      description:
        'http or https proxy for API calls and sockets, with user:password@ if it requires them. Default: HTTPS_PROXY, HTTP_PROXY and NO_PROXY from the environment, but no proxy for panels and nodes on this machine.',
      examples: ['http://proxy.example.com:3128'],
    }),
  discover: discover.meta({
    description:
      'Discover the servers that the panel lists, and follow changes: true for all of them, or a map that selects servers. Entries in servers override and extend the server list. Default: false.',
    examples: [true, { type: 'owner' }],
  }),
  limits_from_listing: flag().prefault('true').meta({
    description:
      'Read node, egg, limits and states such as suspended from the server list for the entries in servers. Limits of an entry take precedence. If the panel rejects the request for it, only these facts are missing. With discover, the list is read anyway.',
    default: true,
  }),
  backups: backups.meta({
    description:
      "Read each server's backups: true for every hour, or a map with an interval. Default: false.",
    examples: [true, { interval: '1h' }],
  }),
  schedules: schedules.meta({
    description:
      "Read each server's schedules, to alert when the panel no longer runs them: true for every hour, or a map with an interval. The account needs permission to see them (`schedule.read`). Default: false.",
    examples: [true, { interval: '1h' }],
  }),
  nodes: nodes.optional().meta({
    description:
      "Read the capacity, allocation and maintenance mode of the panel's nodes from its application API, with a key of its own. Default: not read.",
    examples: [{ api_key_file: '/run/secrets/panel-nodes-key' }],
  }),
  servers: z
    .array(server, { error: 'expected a list of servers' })
    .prefault([])
    .meta({ description: 'The servers to monitor. May be omitted with discover.' }),
});

const log = section('a map with level and format', {
  level: oneOf(LOG_LEVELS).prefault('info').meta({ description: 'The minimum severity of logged lines.' }),
  format: oneOf(LOG_FORMATS).prefault('auto').meta({
    description: 'The log format: auto is pretty in a terminal and json otherwise.',
  }),
});

/** The configuration file: types, defaults and descriptions. Its input is a tree of texts. */
export const configSchema = section('a map with panels', {
  panels: list(
    panel.meta({
      oneOf: [{ required: ['api_key'] }, { required: ['api_key_file'] }],
      allOf: [{ anyOf: [{ required: ['servers'] }, { required: ['discover'] }] }],
    }),
    'panels',
    'panel',
  ).meta({ description: 'The panels whose servers are monitored, one entry per API key.' }),
  compatibility: oneOf(COMPATIBILITIES)
    .optional()
    .meta({
      description:
        "Also serve the metrics under the names of another exporter, so that its dashboards keep working. Default: only this exporter's own names.",
      examples: ['pterodactyl_exporter'],
    }),
  log: log.prefault({}).meta({ description: 'Logging.' }),
}).meta({ title: 'gameserver-exporter configuration' });

/** The configuration as in the file, with defaults filled in and all texts parsed. */
export type ConfigShape = z.output<typeof configSchema>;
export type PanelShape = ConfigShape['panels'][number];
export type ServerShape = PanelShape['servers'][number];
export type QueryShape = NonNullable<ServerShape['query']>;
export type TlsShape = NonNullable<PanelShape['tls_config']>;

/** The configuration's JSON schema (draft 7), as editors use it. */
export function configJsonSchema(): SchemaNode {
  const schema = z.toJSONSchema(configSchema, {
    io: 'input',
    target: 'draft-7',
    override: ({ zodSchema, jsonSchema }) => {
      // The program reads texts; a setting with another published type declares it in `anyOf`.
      if (jsonSchema.anyOf !== undefined) delete jsonSchema.type;
      // zod omits these if a text is transformed, since they may describe the result; here they describe what is in the file.
      const { default: initial, examples } = z.globalRegistry.get(zodSchema) ?? {};
      Object.assign(jsonSchema, initial === undefined ? {} : { default: initial }, examples && { examples });
    },
  });
  return schema as SchemaNode;
}

/** The text of `config.schema.json`. */
export function renderConfigSchema(): string {
  return `${JSON.stringify(configJsonSchema(), undefined, 2)}\n`;
}
