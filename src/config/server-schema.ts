import { isIPv6 } from 'node:net';
import { z } from 'zod';
import { formatEndpoint, parseEndpoint, unbracketed } from '../domain/endpoint.ts';
import { EXPECTS, identityOf } from '../domain/server.ts';
import { AUTO } from '../query/eggs.ts';
import { QUERY_TYPES } from '../query/types.ts';
import { mostSimilar } from '../yaml/issues.ts';
import {
  byDefault,
  countLimit,
  duration,
  oneOf,
  optional,
  scalar,
  section,
  sizeLimit,
  withExamples,
} from '../yaml/scalars.ts';
import {
  isName,
  LABEL_NAME_PATTERN,
  labelNameProblem,
  parseHost,
  SERVER_ID_PATTERN,
  TAKEN_LABELS,
  uuidOf,
} from './values.ts';

/** Why a text isn't a query type, with the type that may have been meant. */
function typeProblem(text: string): string | undefined {
  if (QUERY_TYPES.includes(text)) return undefined;
  const meant = mostSimilar(text, QUERY_TYPES);
  return `expected a query type (${meant === undefined ? 'see docs/query-types.md' : `did you mean ${meant}?`})`;
}

/** The address in canonical form; undefined if it isn't a host with or without a port. */
function readAddress(text: string): string | undefined {
  const endpoint = parseEndpoint(isIPv6(text) ? `[${text}]` : text);
  const host = endpoint === undefined ? undefined : parseHost(endpoint.host);
  return host === undefined ? undefined : formatEndpoint({ ...endpoint, host: unbracketed(host) });
}

/** An address that stands for every address of a machine can't be queried. */
function addressProblem(text: string): string | undefined {
  return /^(?:0\.0\.0\.0|\[::\])(?::\d+)?$/.test(readAddress(text) ?? '')
    ? 'expected the address of one machine, such as play.example.com:2457'
    : undefined;
}

/** The keys of a query, both a server's own and a rule's. */
export const queryShape = {
  type: withExamples(
    scalar({ expected: 'a query type such as minecraft', problem: typeProblem }),
    'minecraft',
  ).describe('The game or its query protocol: one of the [query types](query-types.md).'),
  address: optional(
    scalar({
      expected: 'a host name or an IP address, with or without a port, such as play.example.com:2457',
      problem: addressProblem,
      read: readAddress,
    }),
    'play.example.com:2457',
  ).describe(
    "The address to query: `host:port`, or a host, which uses the port of the default allocation. Default: the server's default allocation in the panel (its alias, or else its IP address, or else its node's address, and its port) and the server's other ports.",
  ),
  interval: byDefault('30s', duration('10s', 'each query costs the game server some work')).describe(
    'How often the game is queried while the server is running. At least 10s.',
  ),
};

/** The type of a rule for discovered servers. */
export const ruleType = scalar({
  expected: 'a query type such as minecraft, or auto',
  problem: (text) => (text === AUTO ? undefined : typeProblem(text)),
}).meta({
  description:
    "The game or its query protocol: one of the [query types](query-types.md), or auto: the type that belongs to the server's egg, if it is [known](players.md#eggs).",
  examples: ['minecraft', 'auto'],
});

/** `query` of a server. */
const query = section('a map, such as `query: { type: minecraft }`', queryShape).transform(
  ({ interval, ...settings }) => ({ ...settings, intervalMs: interval }),
);

/** The name of a panel or a server. */
export const name = (of: string) =>
  scalar({
    expected: `a ${of} name of 1 to 200 printable characters`,
    read: (text) => (isName(text) ? text : undefined),
    json: { type: ['string', 'number'] },
  });

const labelName = z.string().superRefine((text, context) => {
  const message = labelNameProblem(text);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});

/** Labels that the user adds to a server's series. */
export const labels = () =>
  z
    .record(labelName, scalar({ expected: 'a string', json: { type: ['string', 'number', 'boolean'] } }), {
      error: 'expected a map of labels, such as { game: minecraft }',
    })
    .prefault({})
    .meta({
      propertyNames: {
        pattern: LABEL_NAME_PATTERN,
        not: { anyOf: [{ pattern: '^__' }, { enum: TAKEN_LABELS }] },
      },
    });

/** How a server's samples are collected. */
export const mode = () =>
  byDefault('auto', oneOf(['auto', 'socket', 'poll'])).describe(
    'How samples are collected: auto uses the console socket and falls back to polling, socket and poll use only that.',
  );

const limits = section('a map of limits', {
  memory: optional(sizeLimit(), '4GiB', 'unlimited').describe(
    "The server's memory limit, for gameserver_memory_limit_bytes. Default: the limit that the panel sends.",
  ),
  disk: optional(sizeLimit(), '20GiB', 'unlimited').describe(
    "The server's disk limit, for gameserver_disk_limit_bytes.",
  ),
  cpu_cores: optional(countLimit(), 1.5, 'unlimited').describe(
    "The server's CPU limit in cores (150 % in the panel is 1.5), for gameserver_cpu_limit_cores.",
  ),
}).transform(({ memory, disk, cpu_cores: cpuCores }) => ({
  memoryBytes: memory,
  diskBytes: disk,
  cpuCores,
}));

/** One entry of a panel's `servers`. */
export const server = section('a server, such as `- id: 1a7ce997`', {
  id: scalar({
    expected: "a server's id: its full UUID, or the 8-character short identifier (hexadecimal digits)",
    read: (text) => (new RegExp(SERVER_ID_PATTERN).test(text) ? text : undefined),
    // A short identifier may be all digits, which YAML reads as a number.
    json: { type: ['string', 'number'], pattern: SERVER_ID_PATTERN },
  }).meta({
    description:
      "The server's full UUID or 8-character short identifier: the last part of its address in the panel.",
    examples: ['1a7ce997-259b-452e-8b4e-cecc464142ca', 'd3aac109'],
  }),
  name: optional(name('server'), 'survival').describe(
    'The server name, used as the `server` label. Must be unique within the panel. Default: the 8-character identifier.',
  ),
  labels: withExamples(labels(), { game: 'minecraft' }).describe(
    'Additional labels on every series of the server.',
  ),
  expect: byDefault('running', oneOf(EXPECTS)).describe(
    'Whether alerts fire when the server is off. running: it should always run. any: it is allowed to be off. auto: it is expected to run once it has been seen running, until somebody stops it.',
  ),
  mode: mode(),
  query: optional(query, {
    type: 'minecraft',
  }).describe('Query the game for its players ([more](players.md)). Default: not queried.'),
  limits: limits.prefault({}).describe('Limits that override those from the panel, for the limit metrics.'),
}).transform((entry) => ({ ...entry, uuid: uuidOf(entry.id), name: entry.name ?? identityOf(entry) }));
