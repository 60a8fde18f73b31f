import { describe, expect, it } from 'vitest';
import type { ServerGlobs } from '../../../src/domain/listing-settings.ts';
import { compileRules } from '../../../src/fleet/discover-rules.ts';
import { discoverRules } from '../../support/discover-rules.ts';
import { listed, uuidOf } from '../../support/listed.ts';

const SERVER = listed(0xd3aac109, { name: '[EU] Survival / main', node: 'fra-1', egg: 'Paper' });
const UNKNOWN = listed(1, { name: '.hidden' });

describe('include and exclude', () => {
  it.each<[ServerGlobs, boolean]>([
    [{}, true],
    [{ name: ['*survival*'] }, true],
    [{ name: ['creative', '*MAIN'] }, true],
    [{ name: ['survival'] }, false],
    [{ name: [String.raw`\[eu\] *`] }, true],
    [{ name: ['!*test*'] }, true],
    [{ id: ['d3aac109'] }, true],
    [{ id: [uuidOf(0xd3aac109)] }, true],
    [{ id: ['d3aac1??'] }, true],
    [{ node: ['fra-[0-9]'], egg: ['{paper,purpur}'] }, true],
    [{ node: ['fra-*'], egg: ['velocity'] }, false],
  ])('%j: every key must match', (include, included) => {
    expect(compileRules('main', discoverRules({ include })).judge(SERVER).included).toBe(included);
  });

  it.each<[ServerGlobs, boolean]>([
    [{}, true],
    [{ node: ['ams-*'], egg: ['paper'] }, false],
    [{ node: ['ams-*'], egg: ['velocity'] }, true],
  ])('%j: any key can exclude', (exclude, included) => {
    expect(compileRules('main', discoverRules({ exclude })).judge(SERVER).included).toBe(included);
  });

  const LONG = 'serv_dj6otfzftncs5c2oz3gemqkczi';

  it.each(['1a7ce997', '1a7ce997-*', '1a7ce997-259b-452e-8b4e-cecc464142ca', LONG, 'serv_*'])(
    'the id of a server of a panel with serv_ identifiers matches %s',
    (glob) => {
      const server = { ...SERVER, uuid: '1a7ce997-259b-452e-8b4e-cecc464142ca', identifier: LONG };
      expect(compileRules('main', discoverRules({ exclude: { id: [glob] } })).judge(server).included).toBe(
        false,
      );
    },
  );

  it('exclude takes precedence over include', () => {
    const both = discoverRules({ include: { name: ['*'] }, exclude: { name: ['*survival*'] } });
    expect(compileRules('main', both).judge(SERVER).included).toBe(false);
    expect(compileRules('main', both).judge(UNKNOWN).included).toBe(true);
  });

  it('a server with an unknown egg matches no glob for eggs', () => {
    expect(compileRules('main', discoverRules({ include: { egg: ['*'] } })).judge(UNKNOWN).included).toBe(
      false,
    );
    expect(compileRules('main', discoverRules({ exclude: { egg: ['*'] } })).judge(UNKNOWN).included).toBe(
      true,
    );
  });
});

describe('expect', () => {
  const compiled = compileRules(
    'main',
    discoverRules({
      expect: [
        { match: { name: ['*main'] }, state: 'any' },
        { match: { node: ['fra-*'], egg: ['paper'] }, state: 'running' },
      ],
    }),
  );

  it.each([
    ['the first matching rule applies', SERVER, 'any'],
    ['a later rule applies if the first does not match', { ...SERVER, name: 'creative' }, 'running'],
    ['auto applies if no rule matches', { ...SERVER, name: 'creative', egg: 'velocity' }, 'auto'],
  ] as const)('%s', (_what, server, expected) => {
    expect(compiled.judge(server).expect).toBe(expected);
  });

  it('a rule without keys matches every server', () => {
    const all = compileRules('main', discoverRules({ expect: [{ match: {}, state: 'running' }] }));
    expect(all.judge(UNKNOWN).expect).toBe('running');
  });
});

describe('the query and the labels', () => {
  const query = { type: 'minecraft', intervalMs: 30_000 };
  const rules = {
    query: [{ match: { egg: ['paper'] }, query }],
    labels: [
      { match: { egg: ['paper'], node: ['ams-*'] }, labels: { tier: 'far' } },
      { match: { egg: ['paper'] }, labels: { tier: 'near' } },
    ],
  };

  it.each([
    ['the first rule that matches', SERVER, { query, labels: { tier: 'near' } }],
    ['an earlier rule', { ...SERVER, node: 'ams-2' }, { query, labels: { tier: 'far' } }],
    ['no rule', UNKNOWN, { query: undefined, labels: {} }],
  ])('are those of %s', (_what, server, expected) => {
    expect(compileRules('main', discoverRules(rules)).judge(server)).toMatchObject(expected);
  });
});

describe('the selection', () => {
  it.each([
    ['every server', discoverRules(), true],
    ['those that the rules include', discoverRules({ include: { egg: ['velocity'] } }), false],
  ])('includes %s', (_what, rules, isSelected) => {
    expect(compileRules('main', rules).selects(SERVER)).toBe(isSelected);
  });

  it('excludes servers that another exporter monitors, and asks about each only once', () => {
    const asked: unknown[] = [];
    const { selects } = compileRules('main', discoverRules(), (server) => {
      asked.push(server);
      return server.id === SERVER.uuid;
    });
    const seen = () => [SERVER, UNKNOWN, { ...SERVER }].map(selects);
    expect([seen(), seen()]).toEqual([
      [true, false, true],
      [true, false, true],
    ]);
    // The copies are other objects, as in a new reading of the list.
    expect(asked).toHaveLength(4);
    expect(asked[0]).toMatchObject({ panel: 'main', id: SERVER.uuid, name: SERVER.name });
  });

  it("doesn't ask about servers that the rules exclude", () => {
    const { selects } = compileRules('main', discoverRules({ exclude: { name: ['*'] } }), () => {
      throw new Error('asked');
    });
    expect(selects(SERVER)).toBe(false);
  });
});
