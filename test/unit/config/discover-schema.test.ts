import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { DEFAULT_MAX_SERVERS } from '../../../src/config/config.ts';
import { discoverSchema, perServer } from '../../../src/config/discover-schema.ts';

/** The settings in a tree, or the first problem and its path. */
function read(type: z.ZodType, tree: unknown): unknown {
  const { data, error } = type.safeParse(tree);
  const [issue] = error?.issues ?? [];
  return issue === undefined ? data : `${issue.path.join('.')}: ${issue.message}`;
}

const DEFAULTS = {
  intervalMs: 300_000,
  discover: {
    include: {},
    exclude: {},
    expect: [],
    query: [],
    labels: [],
    mode: 'auto',
    maxServers: DEFAULT_MAX_SERVERS,
  },
};
const withRules = (changes: object) => ({ discover: { ...DEFAULTS.discover, ...changes } });
const AUTO_QUERY = { match: {}, query: { type: 'auto' } };
const GLOB = 'a glob of 1 to 200 characters, such as prod-*';

describe('discover', () => {
  it.each<[string, unknown, object | undefined]>([
    ['is a switch', 'true', DEFAULTS],
    ['may be off', 'false', undefined],
    ['may be missing', undefined, undefined],
    ['is a map', {}, DEFAULTS],
    [
      'has a type and an interval',
      { type: 'admin-all', interval: '1m' },
      { ...DEFAULTS, type: 'admin-all', intervalMs: 60_000 },
    ],
    [
      'has globs',
      { include: { name: ['a*'] }, exclude: { egg: ['b', 'c'] } },
      withRules({ include: { name: ['a*'] }, exclude: { egg: ['b', 'c'] } }),
    ],
    [
      'has rules of what should run',
      { expect: [{ match: {} }, { match: { node: ['a'] }, state: 'any' }] },
      withRules({
        expect: [
          { match: {}, state: 'running' },
          { match: { node: ['a'] }, state: 'any' },
        ],
      }),
    ],
    [
      'has labels for all',
      { labels: { team: 'games' } },
      withRules({ labels: [{ match: {}, labels: { team: 'games' } }] }),
    ],
    [
      'has rules of labels',
      { labels: [{ match: { egg: ['a'] }, labels: { team: 'games' } }] },
      withRules({ labels: [{ match: { egg: ['a'] }, labels: { team: 'games' } }] }),
    ],
    ['queries all games that are known', { query: 'auto' }, withRules({ query: [AUTO_QUERY] })],
    [
      'queries by rules',
      { query: [{ match: { egg: ['a'] }, type: 'minecraft', interval: '60s' }] },
      withRules({ query: [{ match: { egg: ['a'] }, query: { type: 'minecraft', intervalMs: 60_000 } }] }),
    ],
  ])('%s', (_what, tree, expected) => {
    if (expected === undefined) expect(read(discoverSchema, tree)).toBeUndefined();
    else expect(read(discoverSchema, tree)).toMatchObject(expected);
  });

  it.each<[string, unknown, string]>([
    ['that is a word', 'yes', ': expected true, false or a map such as { type: owner }'],
    ['with an unknown type', { type: 'mine' }, 'type: expected one of owner, admin, admin-all'],
    [
      'that is read too often',
      { interval: '59s' },
      'interval: expected a duration of at least 1m (reading it takes one call per hundred servers)',
    ],
    [
      'with a glob that is no list',
      { include: { name: 'a*' } },
      'include.name: expected a list of globs, such as ["survival-*"]',
    ],
    ['without a glob', { include: { name: [] } }, 'include.name: expected at least one glob'],
    ['with an empty glob', { exclude: { name: [' '] } }, `exclude.name.0: expected ${GLOB}`],
    ['with a long glob', { exclude: { id: ['a'.repeat(201)] } }, `exclude.id.0: expected ${GLOB}`],
    [
      'with unbalanced brackets',
      { exclude: { name: ['a[b'] } },
      'exclude.name.0: expected a glob with balanced brackets; escape a literal bracket with a backslash',
    ],
    [
      'with a rule without a match',
      { expect: [{}] },
      'expect.0.match: expected a map with globs for name, id, node, egg',
    ],
    [
      'with another state',
      { expect: [{ match: {}, state: 'off' }] },
      'expect.0.state: expected one of running, any, auto',
    ],
    [
      'with labels that are a text',
      { labels: 'a' },
      'labels: expected a map of labels, such as { team: games }, or a list of rules',
    ],
    [
      'with queries that are a word',
      { query: 'minecraft' },
      'query: expected auto or a list of rules, such as [{ match: { egg: ["Paper*"] }, type: minecraft }]',
    ],
  ])('%s is rejected', (_what, tree, problem) => {
    expect(read(discoverSchema, tree)).toBe(problem);
  });
});

describe('a list that takes a call for each server', () => {
  const type = perServer('How often.');

  it.each<[unknown, unknown]>([
    ['true', { intervalMs: 3_600_000 }],
    ['false', undefined],
    [{ interval: '10m' }, { intervalMs: 600_000 }],
    [{ interval: '9m' }, 'interval: expected a duration of at least 10m (each server takes one call)'],
    ['1h', ': expected true, false or a map such as { interval: 1h }'],
  ])('as %j', (tree, expected) => {
    expect(read(type, tree)).toEqual(expected);
  });
});
