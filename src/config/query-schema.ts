import { isIPv6 } from 'node:net';
import { formatEndpoint, parseEndpoint, unbracketed } from '../domain/endpoint.ts';
import { AUTO } from '../query/eggs.ts';
import { QUERY_TYPES } from '../query/types.ts';
import { duration, scalar, section } from '../yaml/scalars.ts';
import { similarWords } from '../yaml/similar-words.ts';
import { parseHost } from './values.ts';

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
export const query = section('a map, such as `query: { type: minecraft }`', queryShape);
