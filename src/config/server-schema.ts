// The schema of servers and of the rules that discover them.

import { isIPv6 } from 'node:net';
import { z } from 'zod';
import { formatEndpoint, parseEndpoint, unbracketed } from '../addresses/hosts.ts';
import { EXPECTS } from '../domain/server.ts';
import { canonicalId, fullId, shortId } from '../domain/server-ids.ts';
import { DAEMONS } from '../panel/dialects/facts.ts';
import { QUERY_TYPES } from '../query/query-types.ts';
import { countLimit, sizeLimit } from '../yaml/limit-types.ts';
import { mostSimilar } from '../yaml/most-similar.ts';
import {
  byDefault,
  duration,
  oneOf,
  optional,
  scalar,
  section,
  settings,
  withExamples,
} from '../yaml/setting-types.ts';

/**
 * A full UUID, the 8-character short identifier, which is the beginning of a UUID, or the
 * identifier that newer panels show.
 */
export const SERVER_ID = '(?:[0-9a-fA-F]{8}(?:(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})?|serv_[a-z2-7]{26})';

/** Labels that the exporter sets itself, and those set by Prometheus and the shipped rules. */
export const TAKEN_LABELS: readonly string[] = [
  'panel',
  'panel_url',
  'server',
  'server_id',
  'state',
  'reason',
  'node',
  'egg',
  'uuid',
  'proxy',
  'schedule',
  'schedule_id',
  'job',
  'instance',
  'pod',
  'le',
  'alertname',
  'alertstate',
  'severity',
];

/**
 * The host in the form of `URL.hostname`; undefined unless the text is a host name or an IP
 * address.
 */
export function parseHost(text: string): string | undefined {
  const host = text.includes(':') && !text.startsWith('[') ? `[${text}]` : text;
  if (!/^(?:[\w.-]+|\[[0-9a-fA-F:.]+\])$/.test(host) || !URL.canParse(`http://${host}`)) return undefined;
  return new URL(`http://${host}`).hostname;
}

/** A query type, or another value of the setting. */
export const queryType = (expected: string, ...others: readonly string[]) =>
  withExamples(
    scalar(expected, {
      problem: (text) => {
        if (QUERY_TYPES.has(text) || others.includes(text)) return undefined;
        const meant = mostSimilar(text, [...QUERY_TYPES.keys()]);
        return `expected a query type (${meant === undefined ? 'see docs/query-types.md' : `did you mean ${meant}?`})`;
      },
    }),
    'minecraft',
    ...others,
  );

/** The address in canonical form; undefined unless it is a host with or without a port. */
export function readAddress(text: string): string | undefined {
  const endpoint = parseEndpoint(isIPv6(text) ? `[${text}]` : text);
  const host = endpoint === undefined ? undefined : parseHost(endpoint.host);
  return host === undefined ? undefined : formatEndpoint({ ...endpoint, host: unbracketed(host) });
}

/** The keys of a query, both a server's own and a rule's. */
export const queryShape = {
  type: queryType('a query type such as minecraft').describe(
    'The game or its query protocol: one of the [query types](query-types.md).',
  ),
  address: optional(
    scalar('a host name or an IP address, with or without a port', {
      example: 'play.example.com:2457',
      // An address that stands for all addresses of a machine can't be queried.
      problem: (text) =>
        /^(?:0\.0\.0\.0|\[::\])(?::\d+)?$/.test(readAddress(text) ?? '')
          ? 'expected the address of one machine, such as play.example.com:2457'
          : undefined,
      read: readAddress,
    }),
  ).describe(
    "`host:port`, or a host, which uses the allocations' ports. Default: the server's [default allocation](players.md#addresses), and its other ports.",
  ),
  intervalMs: byDefault('30s', duration('10s', 'each query costs the game server some work')).describe(
    'How often the game is queried while the server is running. At least 10s.',
  ),
};

/** The name of a panel or a server, which appears in labels and log lines. */
export const nameSchema = (of: string) =>
  scalar(`a ${of} name of 1 to 200 printable characters`, {
    read: (text) => (text.trim() !== '' && /^\P{Cc}{1,200}$/u.test(text) ? text : undefined),
    json: { type: ['string', 'number'] },
  });

const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
const NOT_RESERVED = { not: { anyOf: [{ pattern: '^__' }, { enum: TAKEN_LABELS }] } };
export const LABEL_NAME_JSON = { type: 'string', pattern: LABEL_NAME.source, ...NOT_RESERVED };

const labelName = z
  .string()
  .regex(LABEL_NAME, 'expected a label name of letters, digits and _, not starting with a digit')
  .refine(
    (text) => !text.startsWith('__'),
    'expected a label name without a leading __, which Prometheus reserves',
  )
  .refine((text) => !TAKEN_LABELS.includes(text), {
    error: ({ input }) => `${String(input)} is reserved: choose another label name`,
  })
  .meta(NOT_RESERVED);

export const LABEL_VALUE = { type: ['string', 'number', 'boolean'] };

/** Labels that the user adds to a server's series. */
export const labelsSchema = (expected = 'expected a map of labels, such as { game: minecraft }') =>
  z.record(labelName, scalar('a string', { json: LABEL_VALUE }), { error: expected }).prefault({});

/** How a server's samples are collected. */
export const modeSchema = () =>
  byDefault('auto', oneOf(['auto', 'socket', 'poll'])).describe(
    'auto: console socket, or polling while it fails. socket, poll: only that.',
  );

const limits = settings('a map of limits', {
  memoryBytes: optional(sizeLimit(), '4GiB', 'unlimited').describe('The memory limit.'),
  diskBytes: optional(sizeLimit(), '20GiB', 'unlimited').describe('The disk limit.'),
  cpuCores: optional(countLimit(), 1.5, 'unlimited').describe(
    'The CPU limit in cores: 150 % in the panel is 1.5.',
  ),
});

const ONLY_ID = new RegExp(`^${SERVER_ID}$`);

/** Is the whole text the id of a server? */
export function isServerId(text: string): boolean {
  return ONLY_ID.test(text);
}

/** One entry of a panel's `servers`. */
export const serverSchema = section('a server, such as `- id: 1a7ce997`', {
  id: scalar(
    "a server's id: its full UUID, the 8-character short identifier (hexadecimal digits), or serv_…",
    {
      read: (text) => (isServerId(text) ? canonicalId(text) : undefined),
      // A short identifier may be all digits, which YAML reads as a number.
      json: { type: ['string', 'number'], pattern: ONLY_ID.source },
    },
  ).meta({
    description:
      "The server's full UUID, 8-character short identifier, or `serv_…` identifier: the last part of its address in the panel.",
    examples: ['1a7ce997-259b-452e-8b4e-cecc464142ca', 'd3aac109'],
  }),
  name: optional(nameSchema('server'), 'survival').describe(
    'The server name, used as the `server` label. Must be unique within the panel. Default: with `discover`, its name in the panel, otherwise the 8-character identifier.',
  ),
  labels: withExamples(labelsSchema(), { game: 'minecraft' }).describe(
    'Additional labels on every series of the server.',
  ),
  expect: byDefault('running', oneOf(EXPECTS)).describe(
    'Whether alerts fire when the server is off. running: always. any: never. auto: once it has been seen running, until somebody stops it.',
  ),
  mode: modeSchema(),
  query: optional(settings('a map, such as `query: { type: minecraft }`', queryShape), {
    type: 'minecraft',
  }).describe('Query the game for its [players](players.md). Default: not queried.'),
  daemon: optional(oneOf(DAEMONS), DAEMONS[0]).describe('As `daemon` of the panel, for this server.'),
  limits: limits.prefault({}).describe("Limits that override the panel's."),
}).transform((entry) => {
  const uuid = fullId(entry);
  return { ...entry, ...(uuid !== undefined && { uuid }), name: entry.name ?? shortId(entry) };
});
