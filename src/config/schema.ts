import { z } from 'zod';
import type { SchemaNode } from '../yaml/issues.ts';
import { count, duration, flag, oneOf, scalar, section } from '../yaml/scalars.ts';
import { COMPATIBILITIES, LOG_FORMATS, LOG_LEVELS } from './config.ts';
import { backups, discover } from './discover-schema.ts';
import { name, server } from './server-schema.ts';
import {
  apiKeyProblem,
  isOrigin,
  normalisePanelUrl,
  panelUrlProblem,
  parseHost,
  proxyUrlProblem,
} from './values.ts';

const filePath = () => scalar({ expected: 'the path of a file', read: (text) => text || undefined });

const tlsConfig = section('a map of TLS settings', {
  ca_file: filePath()
    .optional()
    .meta({
      description:
        'CA certificates (PEM) to trust instead of the public ones: for the panel, its nodes and an https proxy. Relative paths start at this file.',
      examples: ['/etc/ssl/panel-ca.pem'],
    }),
  cert_file: filePath()
    .optional()
    .meta({
      description: 'Client certificate (PEM) for the panel and its nodes; needs key_file.',
      examples: ['/etc/ssl/exporter.pem'],
    }),
  key_file: filePath()
    .optional()
    .meta({
      description: "The client certificate's private key (PEM); needs cert_file.",
      examples: ['/etc/ssl/exporter.key'],
    }),
  server_name: scalar({ expected: 'a host name, such as panel.example.com', read: parseHost })
    .optional()
    .meta({
      description:
        "The name that the panel's certificate must be for. Default: the host of url. Not used for sockets: nodes have names of their own.",
      examples: ['panel.example.com'],
    }),
  insecure_skip_verify: flag().prefault('false').meta({
    description:
      'Accept any certificate, of the panel, its nodes and an https proxy: whoever is in between can read the API key.',
    default: false,
  }),
});

const panel = section('a panel, such as `- name: main`', {
  name: name('panel').meta({ description: 'The `panel` label; unique.', examples: ['main'] }),
  url: scalar({
    expected: "the panel's base address, such as https://panel.example.com",
    problem: panelUrlProblem,
    read: normalisePanelUrl,
  }).meta({ description: "The panel's base address.", examples: ['https://panel.example.com'] }),
  origin: scalar({
    expected: 'an origin without a trailing slash, such as https://panel.example.com',
    read: (text) => (isOrigin(text) ? text : undefined),
  })
    .optional()
    .meta({
      description:
        "What to send as Origin when a socket is opened; nodes compare it with the panel's own address letter for letter. Default: the origin of url.",
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
        'A client API key (not one for the application API), best by a variable. Give this or api_key_file.',
      examples: ['${PANEL_API_KEY}'],
    }),
  api_key_file: filePath()
    .optional()
    .meta({
      description:
        'A file that holds the client API key and nothing else. Relative paths start at this file. Give this or api_key.',
      examples: ['/run/secrets/panel-key'],
    }),
  requests_per_minute: count()
    .optional()
    .meta({
      description:
        'Pins how many API calls a minute may be made. Default: 80 % of the limit that the panel tells.',
      examples: [120],
    }),
  key_per_shard: flag().prefault('false').meta({
    description:
      'Where the servers are divided among shards: does each have an API key of another account? Otherwise they share the limit, and each takes its part of it.',
    default: false,
  }),
  poll_interval: duration({ atLeast: '20s', because: 'the panel caches its answers for that long' })
    .prefault('30s')
    .meta({
      description: 'How often a server without a socket is asked; at least 20s, as the panel caches.',
    }),
  staleness: duration().prefault('60s').meta({
    description: "How old a server's last sample may be before its series leave.",
  }),
  request_timeout: duration().prefault('25s').meta({
    description: 'Deadline of one API call. Panels take up to 20s to find that a node is down.',
  }),
  connect_timeout: duration().prefault('10s').meta({ description: 'Deadline of opening a connection.' }),
  auth_timeout: duration().prefault('12s').meta({
    description: "Deadline of a socket's auth; under 10s, a throttled node seems to refuse.",
  }),
  allow_insecure: flag().prefault('false').meta({
    description: 'Allow http and ws to other hosts than this one, which sends the API key in clear text.',
    default: false,
  }),
  socket_hosts: z
    .array(scalar({ expected: 'a host name or an IP address without a port', read: parseHost }), {
      error: 'expected a list of host names, such as [node1.example.com]',
    })
    .min(1, { error: 'expected at least one host name' })
    .optional()
    .meta({
      description:
        'The only hosts that a socket may be opened to. Default: any public host that the panel names.',
      examples: [['node1.example.com', 'node2.example.com']],
    }),
  query_hosts: z
    .array(scalar({ expected: 'a host name or an IP address without a port', read: parseHost }), {
      error: 'expected a list of host names, such as [127.0.0.1]',
    })
    .min(1, { error: 'expected at least one host name' })
    .optional()
    .meta({
      description:
        'Hosts at which games may be queried although they are loopback, link-local or cloud metadata addresses, or lead to one. Default: none, but loopback and link-local ones if the panel itself is at such an address.',
      examples: [['127.0.0.1', 'games.local']],
    }),
  tls_config: tlsConfig.optional().meta({ description: 'TLS towards the panel.' }),
  proxy_url: scalar({
    expected: 'an http or https address, such as http://proxy.example.com:3128',
    problem: proxyUrlProblem,
    read: (text) => text,
  })
    .optional()
    .meta({
      description:
        'http or https proxy for API calls and sockets, with user:password@ where it asks for them. Default: the one of the environment (HTTPS_PROXY, HTTP_PROXY, NO_PROXY), but none for panels and nodes on this machine.',
      examples: ['http://proxy.example.com:3128'],
    }),
  discover: discover.meta({
    description:
      "Watch the servers in the panel's listing, too: true for all of them, or which. Entries in servers win over what the listing says and add to it. Default: false.",
    examples: [true, { type: 'owner' }],
  }),
  limits_from_listing: flag().prefault('true').meta({
    description:
      'Take node, egg, limits and states as suspended from the listing for the entries in servers, too; included in discover. What servers say themselves wins, and a panel that refuses the listing loses only this.',
    default: true,
  }),
  backups: backups.meta({
    description: "Ask for each server's backups: true for every hour, or how often. Default: false.",
    examples: [true, { interval: '1h' }],
  }),
  servers: z
    .array(server, { error: 'expected a list of servers' })
    .prefault([])
    .meta({ description: 'The servers to watch; a panel with discover may have none.' }),
});

const log = section('a map with level and format', {
  level: oneOf(LOG_LEVELS).prefault('info').meta({ description: 'The least severe lines that are logged.' }),
  format: oneOf(LOG_FORMATS).prefault('auto').meta({
    description: 'json, pretty, or auto: pretty in a terminal and json elsewhere.',
  }),
});

/** The configuration file: types, defaults and descriptions. Its input is a tree of texts. */
export const configSchema = section('a map with panels', {
  panels: z
    .array(
      panel.meta({
        oneOf: [{ required: ['api_key'] }, { required: ['api_key_file'] }],
        allOf: [{ anyOf: [{ required: ['servers'] }, { required: ['discover'] }] }],
      }),
      {
        error: 'expected a list of panels',
      },
    )
    .min(1, { error: 'expected at least one panel' })
    .meta({ description: 'The panels whose servers are watched, one entry for each API key.' }),
  compatibility: oneOf(COMPATIBILITIES)
    .optional()
    .meta({
      description:
        'Serve the metrics under the names of another exporter, too, so that its dashboards go on working. Default: our own names alone.',
      examples: ['pterodactyl_exporter'],
    }),
  log: log.prefault({}).meta({ description: 'What is logged, and how.' }),
}).meta({ title: 'gameserver-exporter configuration' });

/** The configuration as in the file, with defaults filled in and all texts parsed. */
export type ConfigShape = z.output<typeof configSchema>;
export type PanelShape = ConfigShape['panels'][number];
export type ServerShape = PanelShape['servers'][number];
export type QueryShape = NonNullable<ServerShape['query']>;
export type GlobsShape = NonNullable<PanelShape['discover']>['include'];

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
