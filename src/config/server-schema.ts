import { isIPv6 } from 'node:net';
import { z } from 'zod';
import { formatEndpoint, parseEndpoint, unbracketed } from '../domain/endpoint.ts';
import { EXPECTS } from '../domain/server.ts';
import { AUTO } from '../query/eggs.ts';
import { QUERY_TYPES } from '../query/types.ts';
import { similarWords } from '../yaml/issues.ts';
import { countLimit, duration, oneOf, scalar, section, sizeLimit } from '../yaml/scalars.ts';
import {
  isName,
  isServerId,
  LABEL_NAME_PATTERN,
  parseHost,
  SERVER_ID_PATTERN,
  TAKEN_LABELS,
} from './values.ts';

/** Why a text isn't the type of a rule. */
function ruleTypeProblem(text: string): string | undefined {
  return text === AUTO ? undefined : typeProblem(text);
}

/** Why a text isn't a query type, with similar types that may have been meant. */
function typeProblem(text: string): string | undefined {
  if (QUERY_TYPES.includes(text)) return undefined;
  const near = similarWords(text, QUERY_TYPES);
  const hint = near.length === 0 ? 'see docs/query-types.md' : `did you mean ${near.join(' or ')}?`;
  return `expected a query type (${hint})`;
}

/** The address in canonical form; undefined if it isn't a host with or without a port. */
function readAddress(text: string): string | undefined {
  const endpoint = parseEndpoint(isIPv6(text) ? `[${text}]` : text);
  const host = endpoint === undefined ? undefined : parseHost(endpoint.host);
  return host === undefined ? undefined : formatEndpoint({ ...endpoint, host: unbracketed(host) });
}

const ADDRESS = 'a host name or an IP address, with or without a port, such as play.example.com:2457';

/** Stands for every address of a machine, and therefore can't be queried. */
const UNSPECIFIED: ReadonlySet<string> = new Set(['0.0.0.0', '[::]']);

function addressProblem(text: string): string | undefined {
  const address = readAddress(text) ?? '';
  const isNowhere = UNSPECIFIED.has(address.replace(/:\d+$/, ''));
  return isNowhere ? 'expected the address of one machine, such as play.example.com:2457' : undefined;
}

/** The keys of a query, both a server's own and a rule's. */
export const queryShape = {
  type: scalar({
    expected: 'a query type such as minecraft',
    problem: typeProblem,
    read: (text) => text,
  }).meta({
    description: 'The game or its query protocol: one of the [query types](query-types.md).',
    examples: ['minecraft'],
  }),
  address: scalar({ expected: ADDRESS, problem: addressProblem, read: readAddress })
    .optional()
    .meta({
      description:
        "The address to query: `host:port`, or a host, which uses the port of the default allocation. Default: the server's default allocation in the panel (its alias, or else its IP address, or else its node's address, and its port) and the server's other ports.",
      examples: ['play.example.com:2457'],
    }),
  interval: duration({ atLeast: '10s', because: 'each query costs the game server some work' })
    .prefault('30s')
    .meta({ description: 'How often the game is queried while the server is running. At least 10s.' }),
};

/** The type of a rule for discovered servers. */
export const ruleType = scalar({
  expected: 'a query type such as minecraft, or auto',
  problem: ruleTypeProblem,
  read: (text) => text,
}).meta({
  description:
    "The game or its query protocol: one of the [query types](query-types.md), or auto: the type that belongs to the server's egg, if it is [known](players.md#eggs).",
  examples: ['minecraft', 'auto'],
});

/** `query` of a server. */
const query = section('a map, such as `query: { type: minecraft }`', queryShape);

/** The name of a panel or a server. */
export const name = (of: string) =>
  scalar({
    expected: `a ${of} name of 1 to 200 printable characters`,
    read: (text) => (isName(text) ? text : undefined),
    json: { type: ['string', 'number'] },
  });

/** Labels that the user adds to a server's series. */
export const labels = () =>
  z
    .record(
      z.string(),
      scalar({ expected: 'a string', read: (text) => text, json: { type: ['string', 'number', 'boolean'] } }),
      { error: 'expected a map of labels, such as { game: minecraft }' },
    )
    .prefault({})
    .meta({
      propertyNames: {
        pattern: LABEL_NAME_PATTERN,
        not: { anyOf: [{ pattern: '^__' }, { enum: TAKEN_LABELS }] },
      },
    });

/** How a server's samples are collected. */
export const mode = () =>
  oneOf(['auto', 'socket', 'poll']).prefault('auto').meta({
    description:
      'How samples are collected: auto uses the console socket and falls back to polling, socket and poll use only that.',
  });

const limits = section('a map of limits', {
  memory: sizeLimit()
    .optional()
    .meta({
      description:
        "The server's memory limit, for gameserver_memory_limit_bytes. Default: the limit that the panel sends.",
      examples: ['4GiB', 'unlimited'],
    }),
  disk: sizeLimit()
    .optional()
    .meta({
      description: "The server's disk limit, for gameserver_disk_limit_bytes.",
      examples: ['20GiB', 'unlimited'],
    }),
  cpu_cores: countLimit()
    .optional()
    .meta({
      description:
        "The server's CPU limit in cores (150 % in the panel is 1.5), for gameserver_cpu_limit_cores.",
      examples: [1.5, 'unlimited'],
    }),
});

/** One entry of a panel's `servers`. */
export const server = section('a server, such as `- id: 1a7ce997`', {
  id: scalar({
    expected: "a server's id: its full UUID, or the 8-character short identifier (hexadecimal digits)",
    read: (text) => (isServerId(text) ? text : undefined),
    // A short identifier may be all digits, which YAML reads as a number.
    json: { type: ['string', 'number'], pattern: SERVER_ID_PATTERN },
  }).meta({
    description:
      "The server's full UUID or 8-character short identifier: the last part of its address in the panel.",
    examples: ['1a7ce997-259b-452e-8b4e-cecc464142ca', 'd3aac109'],
  }),
  name: name('server')
    .optional()
    .meta({
      description:
        'The server name, used as the `server` label. Must be unique within the panel. Default: the 8-character identifier.',
      examples: ['survival'],
    }),
  labels: labels().meta({
    description: 'Additional labels on every series of the server.',
    examples: [{ game: 'minecraft' }],
  }),
  expect: oneOf(EXPECTS).prefault('running').meta({
    description:
      'Whether alerts fire when the server is off. running: it should always run. any: it is allowed to be off. auto: it is expected to run once it has been seen running, until somebody stops it.',
  }),
  mode: mode(),
  query: query.optional().meta({
    description: 'Query the game for its players ([more](players.md)). Default: not queried.',
    examples: [{ type: 'minecraft' }],
  }),
  limits: limits.prefault({}).meta({
    description: 'Limits that override those from the panel, for the limit metrics.',
  }),
});
