import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DiscoverRules } from '../../../src/domain/listing-settings.ts';
import type { ServerTarget } from '../../../src/domain/server.ts';
import { shortId } from '../../../src/domain/server-ids.ts';
import { type CompiledRules, compileRules } from '../../../src/fleet/discover-rules.ts';
import { mergeTargets } from '../../../src/fleet/discovered-targets.ts';
import type { ListedServer } from '../../../src/panel/responses.ts';
import { discoverRules } from '../../support/discover-rules.ts';
import { listed, uuidOf } from '../../support/listed.ts';
import { target } from '../../support/targets.ts';

const ALL: CompiledRules = {
  panel: 'main',
  mode: 'auto',
  maxServers: 100,
  judge: () => ({
    included: true,
    expect: 'any',
    rule: -1,
    query: undefined,
    labels: { from: 'panel' },
  }),
  selects: () => true,
};
const NONE: CompiledRules = { ...ALL, selects: () => false };

const merged = (
  configured: ServerTarget[],
  servers: ListedServer[],
  rules: CompiledRules | undefined = ALL,
) => mergeTargets(configured, servers, rules).targets;

describe('a discovered server', () => {
  it('is identified by its UUID, with the data from the server list', () => {
    const server = listed(7, {
      name: 'survival',
      node: 'fra-1',
      egg: 'Paper',
      address: '203.0.113.7:25565',
      limits: { memoryBytes: 1_024, diskBytes: 'unlimited', cpuCores: 2 },
    });
    expect(merged([], [server])).toEqual([
      {
        panel: 'main',
        id: uuidOf(7),
        uuid: uuidOf(7),
        name: 'survival',
        node: 'fra-1',
        egg: 'Paper',
        address: '203.0.113.7:25565',
        labels: { from: 'panel' },
        expect: 'any',
        mode: 'auto',
        limits: { listedMemoryBytes: 1_024, diskBytes: 'unlimited', cpuCores: 2 },
        isDiscovered: true,
      },
    ]);
  });

  it('comes after the configured servers, sorted by name', () => {
    const servers = [listed(1, { name: 'b' }), listed(2, { name: 'a' }), listed(3, { name: 'b' })];
    const names = merged([target({ name: 'z' })], servers).map(({ name, id }) => `${name} ${id.slice(0, 8)}`);
    expect(names).toEqual(['z 1a7ce997', 'a 00000002', 'b 00000001', 'b 00000003']);
  });

  it('is omitted if the rules exclude it', () => {
    expect(mergeTargets([], [listed(1)], NONE)).toEqual({
      targets: [],
      discovered: 0,
      ambiguous: [],
      leftOut: [],
    });
  });
});

describe('for listed servers with the same identifier', () => {
  const one = listed(7, { name: 'one', uuid: `${uuidOf(7).slice(0, -1)}1` });
  const two = listed(7, { name: 'two', uuid: `${uuidOf(7).slice(0, -1)}2` });
  const short = uuidOf(7).slice(0, 8);
  const byUuid = ({ uuid }: ListedServer) => target({ id: uuid, uuid, name: 'mine' });
  const byShortId = target({ id: short, name: 'mine' });
  const onlyTwo: CompiledRules = { ...ALL, selects: ({ name }) => name === 'two' };

  it.each([
    ['the first one by UUID is monitored', [], ALL, ['one'], ['two']],
    ['an excluded one does not conflict', [], onlyTwo, ['two'], []],
    ['the configured one is monitored', [byUuid(two)], ALL, ['mine'], ['one']],
    ['both are reported if a short id is configured', [byShortId], ALL, ['mine'], ['one', 'two']],
    ['a short id is ambiguous without discover, too', [byShortId], undefined, ['mine'], ['one', 'two']],
    ['a UUID is not ambiguous without discover', [byUuid(two)], undefined, ['mine'], []],
  ])('%s', (_what, configured, rules, names, ambiguous) => {
    for (const servers of [
      [one, two],
      [two, one],
    ]) {
      const result = mergeTargets(configured, servers, rules);
      expect(result.targets.map(({ name }) => name)).toEqual(names);
      expect(result.ambiguous.map(({ name }) => name).sort()).toEqual(ambiguous);
    }
  });

  it('a configured server gets only its own data from the server list', () => {
    const listing = [
      { ...one, node: 'fra-1' },
      { ...two, node: 'fra-2' },
    ];
    expect(merged([byUuid(two)], listing, undefined)).toMatchObject([{ uuid: two.uuid, node: 'fra-2' }]);
    expect(merged([byShortId], listing, undefined)).toEqual([byShortId]);
  });

  it('no identifier is monitored twice, and every selected server is monitored or reported', () => {
    const uuids = fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 3 }));
    fc.assert(
      fc.property(
        fc.uniqueArray(uuids, { selector: String }),
        fc.integer({ min: 0, max: 4 }),
        (pairs, own) => {
          const servers = pairs.map(([n, end]) =>
            listed(n, { uuid: `${uuidOf(n).slice(0, -1)}${end}`, name: `${n}-${end}` }),
          );
          const configured = servers.filter(({ uuid }) => uuid.endsWith(`${own}`)).map(byUuid);
          const { targets, ambiguous } = mergeTargets(configured, servers, ALL);
          const identities = targets.map(shortId);
          expect(new Set(identities).size).toBe(identities.length);
          expect(targets.length + ambiguous.length).toBe(servers.length);
          expect(new Set([...targets, ...ambiguous].map(({ uuid }) => uuid)).size).toBe(servers.length);
        },
      ),
    );
  });
});

describe('a configured server in the server list', () => {
  const short = uuidOf(7).slice(0, 8);
  const server = listed(7, {
    name: 'listed',
    node: 'fra-1',
    limits: { memoryBytes: 'unlimited', cpuCores: 2 },
  });

  it.each([
    ['by its short id', short],
    ['by its UUID', uuidOf(7)],
    ['in upper case', short.toUpperCase()],
  ])('configured %s appears once, whatever the rules are', (_what, id) => {
    for (const rules of [ALL, NONE]) {
      const configured = target({ id, name: short, ...(id.length > 8 && { uuid: id }) });
      expect(merged([configured], [server], rules)).toEqual([
        expect.objectContaining({
          id,
          name: 'listed',
          uuid: uuidOf(7),
          node: 'fra-1',
          expect: 'running',
          labels: {},
        }),
      ]);
    }
  });

  it('keeps its configured settings', () => {
    const configured = target({ id: short, name: 'mine', limits: { cpuCores: 5 }, labels: { a: 'b' } });
    expect(merged([configured], [server])[0]).toMatchObject({
      name: 'mine',
      labels: { a: 'b' },
      limits: { cpuCores: 5, memoryBytes: 'unlimited' },
    });
  });

  it('gets its data from the server list, but not its name, if discovery is disabled', () => {
    const result = mergeTargets([target({ id: short, name: short })], [server, listed(8)], undefined);
    expect(result).toMatchObject({ targets: [{ id: short, name: short, node: 'fra-1' }], discovered: 0 });
  });

  it('is not confused with another server that has the same short id', () => {
    const other = `${short}-ffff-4fff-8fff-ffffffffffff`;
    expect(merged([target({ id: other, uuid: other, name: 'mine' })], [server])).toEqual([
      target({ id: other, uuid: other, name: 'mine' }),
    ]);
  });

  it("has the server list's daemon, or else the configured one", () => {
    const configured = target({ id: short, daemon: 'wings' });
    expect(merged([configured], [server])[0]?.daemon).toBe('wings');
    expect(merged([configured], [{ ...server, daemon: 'elytra' }])[0]?.daemon).toBe('elytra');
  });

  it('is unchanged if it is not listed', () => {
    expect(merged([target()], [])).toEqual([target()]);
  });
});

describe('the query of a discovered server', () => {
  const minecraft = { type: 'minecraft', intervalMs: 30_000 };
  const rust = { type: 'rust', address: '203.0.113.7', intervalMs: 60_000 };
  const queried = compileRules(
    'main',
    discoverRules({
      query: [
        { match: { egg: ['paper*'], node: ['fra-*'] }, query: minecraft },
        { match: { node: ['fra-*'] }, query: rust },
      ],
    }),
  );

  it.each([
    ['the first matching rule', { egg: 'Paper 1.21', node: 'fra-1' }, minecraft],
    ['a later rule', { egg: 'Rust', node: 'fra-1' }, rust],
  ])('comes from %s', (_, changes, query) => {
    expect(merged([], [listed(7, changes)], queried)[0]?.query).toBe(query);
  });

  it('is absent if no rule matches', () => {
    expect(merged([], [listed(7, { egg: 'Paper', node: 'ams-1' })], queried)[0]).toMatchObject({
      query: undefined,
    });
  });

  it.each([
    ['Velocity', true],
    ['Paper', undefined],
  ])('with the egg %s is a proxy: %s', (egg, isProxy) => {
    expect(merged([], [listed(7, { egg })], queried)[0]?.isProxy).toBe(isProxy);
  });

  it('has the type of the egg, if the rule requires it and the game is known', () => {
    const auto = { type: 'auto', intervalMs: 30_000 };
    const all = compileRules('main', discoverRules({ query: [{ match: {}, query: auto }] }));
    const chooseQuery = (egg: string) => merged([], [listed(7, { egg })], all)[0]?.query;
    expect(chooseQuery('Vanilla Bedrock')).toEqual({ type: 'mbe', intervalMs: 30_000, isGuess: true });
    expect(chooseQuery('Node.js Generic')).toBeUndefined();
  });

  it('does not apply to a configured server, which has its own query or none', () => {
    const server = listed(7, { egg: 'Paper', node: 'fra-1' });
    const own = { type: 'mumble', intervalMs: 30_000 };
    const unqueried = merged([target({ id: uuidOf(7), uuid: uuidOf(7) })], [server], queried)[0];
    expect(unqueried).not.toHaveProperty('query');
    const asked = target({ id: uuidOf(7), uuid: uuidOf(7), query: own });
    expect(merged([asked], [server], queried)[0]?.query).toBe(own);
  });
});

it('configured and discovered servers know an allocation without an address, and their other ports', () => {
  const ports = { allocation: ':25565', namedPort: 25_566, otherPorts: [25_566] };
  const server = listed(7, ports);
  const own = merged([target({ id: uuidOf(7), uuid: uuidOf(7) })], [server]);
  for (const known of [own, merged([], [server])]) expect(known[0]).toMatchObject(ports);
});

describe('the labels of a discovered server', () => {
  const labels: DiscoverRules['labels'] = [
    { match: { name: ['vip-*'], node: ['fra-*'] }, labels: { importance: 'high', customer: 'acme' } },
    { match: { name: ['vip-*'] }, labels: { customer: 'acme' } },
    { match: { name: ['test-*'] }, labels: {} },
    { match: {}, labels: { customer: 'unknown' } },
  ];

  it.each([
    ['are those of the first rule that matches', 'VIP-1', 'fra-1', { importance: 'high', customer: 'acme' }],
    [
      'are those of a later rule if a key of the first does not match',
      'vip-1',
      'nyc-1',
      { customer: 'acme' },
    ],
    ['are none if the rule that matches has none', 'test-1', 'fra-1', {}],
    ['are those of the rule without match otherwise', 'other', 'fra-1', { customer: 'unknown' }],
  ])('%s', (_, name, node, expected) => {
    const compiled = compileRules('main', discoverRules({ labels }));
    expect(merged([], [listed(1, { name, node })], compiled)[0]?.labels).toEqual(expected);
  });

  it('are none without a rule, and a configured server keeps its own', () => {
    expect(merged([], [listed(1)], compileRules('main', discoverRules({})))[0]?.labels).toEqual({});
    const configured = target({ id: uuidOf(1).slice(0, 8), labels: { a: 'b' } });
    expect(
      merged([configured], [listed(1)], compileRules('main', discoverRules({ labels })))[0]?.labels,
    ).toEqual({
      a: 'b',
    });
  });
});
