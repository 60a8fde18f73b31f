// The schema of the rules that discover servers.

import picomatch from 'picomatch';
import { z } from 'zod';
import { LISTING_TYPES, type ListingSettings, MATCH_KEYS } from '../domain/listing-settings.ts';
import { EXPECTS } from '../domain/server.ts';
import { AUTO } from '../query/eggs.ts';
import {
  byDefault,
  duration,
  list,
  oneOf,
  optional,
  positiveInteger,
  scalar,
  section,
  settings,
} from '../yaml/setting-types.ts';
import { DEFAULT_MAX_SERVERS } from './config.ts';
import {
  LABEL_NAME_JSON,
  LABEL_VALUE,
  labelsSchema,
  modeSchema,
  queryShape,
  queryType,
} from './server-schema.ts';

const MAX_GLOB = 200;
const GLOB = `a glob of 1 to ${MAX_GLOB} characters, such as prod-*`;

/** What is wrong with a glob. Unbalanced brackets would be taken literally, or match nothing. */
function globProblem(text: string): string | undefined {
  if (text.trim() === '' || text.length > MAX_GLOB) return `expected ${GLOB}`;
  try {
    picomatch.makeRe(text, { debug: true, strictBrackets: true });
    return undefined;
  } catch {
    return 'expected a glob with balanced brackets; escape a literal bracket with a backslash';
  }
}

const globs = (what: string, example: string) =>
  optional(
    list(
      scalar(GLOB, { problem: globProblem, json: { type: ['string', 'number'] } }),
      `globs, such as ["${example}"]`,
      'glob',
    ),
    [example],
  ).describe(`Case-insensitive globs for ${what}. One of them must match.`);

const match = () =>
  section(`a map with globs for ${MATCH_KEYS.join(', ')}`, {
    name: globs("the server's name", 'survival-*'),
    id: globs(
      "the server's UUID, its 8-character short identifier, or its identifier in the panel",
      'd3aac109',
    ),
    node: globs("the name of the server's node", 'fra-*'),
    egg: globs("the name of the server's egg", 'Paper*'),
  });

const ruleMatch = match().describe('The servers that the rule applies to. All given keys must match.');

const expectRule = section('a rule, such as `- match: { name: ["prod-*"] }`', {
  match: ruleMatch,
  state: byDefault('running', oneOf(EXPECTS)).describe('As `expect` of a server in `servers`.'),
});

const queryRule = settings("a rule, such as `- { match: { egg: ['Paper*'] }, type: minecraft }`", {
  match: ruleMatch,
  ...queryShape,
  type: queryType('a query type such as minecraft, or auto', AUTO).describe(
    "The game or its query protocol: one of the [query types](query-types.md), or auto: the type that belongs to the server's [egg](players.md#eggs).",
  ),
}).transform(({ match: servers, ...query }) => ({ match: servers, query }));

/** A section that may also be a switch: true is the section with its defaults, false is none. */
function orSwitch<T extends z.ZodType>(map: T, ...examples: readonly unknown[]) {
  // Scalars are texts here, as everywhere in the file's tree.
  const read = (value: unknown) => (value === 'true' ? {} : value === 'false' ? undefined : value);
  return z.preprocess(read, map.optional()).meta({ type: ['object', 'boolean'], examples: [...examples] });
}

const labelRule = section("a rule, such as `- { match: { egg: ['Paper*'] }, labels: { game: minecraft } }`", {
  match: ruleMatch.prefault({}),
  labels: labelsSchema().describe('The labels of these servers.'),
});

const ANY_LABELS = labelsSchema('expected a map of labels, such as { team: games }, or a list of rules');

/** Labels for all discovered servers, or a list of rules. The first matching rule applies. */
const labelRules = z
  .preprocess(
    (value, context) => {
      if (value === undefined || Array.isArray(value)) return value;
      // Problems of a map are reported at its own keys.
      const { error } = ANY_LABELS.safeParse(value);
      for (const issue of error?.issues ?? []) context.issues.push({ ...issue, input: undefined });
      return [{ labels: value }];
    },
    z.array(labelRule, { error: 'expected a map of labels, or a list of rules' }).prefault([]),
  )
  .meta({
    type: ['array', 'object'],
    default: {},
    propertyNames: LABEL_NAME_JSON,
    additionalProperties: LABEL_VALUE,
    examples: [{ team: 'games' }, [{ match: { name: ['vip-*'] }, labels: { importance: 'high' } }]],
  })
  .describe(
    'Additional labels on every series of these servers: a map, or a list of rules. The first matching rule applies.',
  );

/** `discover` of a panel: true, or a map that selects servers from the server list. */
export const discoverSchema = orSwitch(
  settings('true, false or a map such as { type: owner }', {
    type: optional(oneOf(LISTING_TYPES), 'owner').describe(
      "owner: servers that the key's account owns. admin: servers of other users, which the account sees only because it is an administrator's. admin-all: every server of the panel, for an administrator's key. Default: servers that the account owns or was invited to.",
    ),
    intervalMs: byDefault('5m', duration('1m', 'reading it takes one call per hundred servers')).describe(
      'How often the server list is read: one call per hundred servers. At least 1m.',
    ),
    maxServers: byDefault(DEFAULT_MAX_SERVERS, positiveInteger()).describe(
      'The maximum number of discovered servers, not counting entries in `servers`. Further servers are only reported.',
    ),
    include: match().prefault({}).describe('Monitor only servers that match all given keys.'),
    exclude: match()
      .prefault({})
      .describe('Exclude servers that match any given key, except entries in `servers`.'),
    expect: z
      .array(expectRule, { error: 'expected a list of rules, such as [{ match: { name: ["prod-*"] } }]' })
      .prefault([])
      .describe('Which servers should always run. The first matching rule applies, otherwise auto.'),
    query: z
      .preprocess(
        (value) => (value === AUTO ? [{ match: {}, type: AUTO }] : value),
        z
          .array(queryRule, {
            error:
              'expected auto or a list of rules, such as [{ match: { egg: ["Paper*"] }, type: minecraft }]',
          })
          .prefault([]),
      )
      .meta({
        type: ['array', 'string'],
        default: [],
        description:
          'How [player counts](players.md) are queried: `auto` (every server whose egg is a known game) or a list of rules. The first matching rule applies.',
      }),
    labels: labelRules,
    mode: modeSchema(),
  }).transform(({ type, intervalMs, ...rules }): ListingSettings => ({ type, intervalMs, discover: rules })),
  true,
  { type: 'owner' },
);

/** Data that takes one call per server: true, or a map with an interval. */
export const perServer = (description: string) =>
  orSwitch(
    settings('true, false or a map such as { interval: 1h }', {
      intervalMs: byDefault('1h', duration('10m', 'each server takes one call')).describe(description),
    }),
    true,
    { interval: '1h' },
  );
