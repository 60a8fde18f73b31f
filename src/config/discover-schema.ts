import picomatch from 'picomatch';
import { z } from 'zod';
import { DEFAULT_MAX_SERVERS, LISTING_TYPES, type ListingSettings, MATCH_KEYS } from '../domain/discovery.ts';
import { EXPECTS } from '../domain/server.ts';
import { AUTO } from '../query/eggs.ts';
import {
  byDefault,
  count,
  duration,
  list,
  oneOf,
  optional,
  scalar,
  section,
  withExamples,
} from '../yaml/scalars.ts';
import { labels, mode, queryShape, ruleType } from './server-schema.ts';

const MAX_GLOB = 200;
const GLOB = `a glob of 1 to ${MAX_GLOB} characters, such as prod-*`;

/** Why a text isn't a glob. Unbalanced brackets would be taken literally, or match nothing. */
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
      scalar({ expected: GLOB, problem: globProblem, json: { type: ['string', 'number'] } }),
      `globs, such as ["${example}"]`,
      'glob',
    ),
    [example],
  ).describe(`Case-insensitive globs for ${what}. One of them must match.`);

const match = () =>
  section(`a map with globs for ${MATCH_KEYS.join(', ')}`, {
    name: globs("the server's name", 'survival-*'),
    id: globs("the server's UUID or short identifier", 'd3aac109'),
    node: globs("the name of the server's node", 'fra-*'),
    egg: globs("the name of the server's egg", 'Paper*'),
  });

const ruleMatch = match().meta({
  description: 'The servers that the rule applies to. All given keys must match.',
});

const expectRule = section('a rule, such as `- match: { name: ["prod-*"] }`', {
  match: ruleMatch,
  state: byDefault('running', oneOf(EXPECTS)).describe(
    'Whether these servers should always run (running), are allowed to be off (any), or are expected to run once they have been seen running, until somebody stops them (auto).',
  ),
});

const queryRule = section("a rule, such as `- { match: { egg: ['Paper*'] }, type: minecraft }`", {
  match: ruleMatch,
  ...queryShape,
  type: ruleType,
}).transform(({ match: servers, interval, ...settings }) => ({
  match: servers,
  query: { ...settings, intervalMs: interval },
}));

/** A section that can also be a switch: true is the section with all its defaults, false is none. */
function orSwitch<T extends z.ZodType>(settings: T) {
  return z
    .preprocess(
      // Scalars are texts here, as everywhere in the file's tree.
      (value) => (value === 'true' ? {} : value === 'false' ? undefined : value),
      settings.optional(),
    )
    .meta({ type: ['object', 'boolean'] });
}

/** `discover` of a panel: true, or which of the servers in its server list are monitored. */
export const discover = orSwitch(
  section('true, false or a map such as { type: owner }', {
    type: optional(oneOf(LISTING_TYPES), 'owner').describe(
      "Which servers to list. owner: those that the key's account owns. admin: those that it can access only as an administrator. admin-all: every server of the panel (requires an administrator's key). Default: those that the account owns or was given access to.",
    ),
    interval: byDefault('5m', duration('1m', 'reading it takes one call per hundred servers')).describe(
      'How often the server list is read, which takes one call per hundred servers. At least 1m.',
    ),
    max_servers: byDefault(DEFAULT_MAX_SERVERS, count()).describe(
      'The maximum number of discovered servers, not counting entries in servers. Servers that are already monitored stay, new ones are admitted in the order of their UUIDs, and the others are reported in the log, on the status page and by a metric.',
    ),
    include: match().prefault({}).describe('Monitor only servers that match all given keys.'),
    exclude: match()
      .prefault({})
      .describe('Exclude servers that match any given key. Entries in servers are monitored anyway.'),
    expect: z
      .array(expectRule, { error: 'expected a list of rules, such as [{ match: { name: ["prod-*"] } }]' })
      .prefault([])
      .describe(
        'Which servers should always run. The first matching rule applies. Servers that match no rule get auto.',
      ),
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
          'Which of these servers are queried for their players ([more](players.md)): auto, all whose egg belongs to a known game, or rules. The first matching rule applies. Servers that match no rule are not queried. Entries in servers have their own query.',
      }),
    labels: withExamples(labels(), { team: 'games' }).describe(
      'Additional labels on every series of these servers. Entries in servers have their own labels.',
    ),
    mode: mode(),
  }).transform(
    ({ type, interval, max_servers: maxServers, ...rules }): ListingSettings => ({
      type,
      intervalMs: interval,
      discover: { ...rules, maxServers },
    }),
  ),
);

/** A list of every server that takes a call for each: true, or how often it is read. */
export const perServer = (description: string) =>
  orSwitch(
    section('true, false or a map such as { interval: 1h }', {
      interval: byDefault('1h', duration('10m', 'each server takes one call')).describe(description),
    }).transform(({ interval }) => ({ intervalMs: interval })),
  );
