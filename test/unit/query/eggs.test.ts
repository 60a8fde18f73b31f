import { readFileSync } from 'node:fs';
import { games } from 'gamedig';
import { describe, expect, it } from 'vitest';
import { isProxy, TYPE_BY_NAME, typeOfEgg } from '../../../src/query/eggs.ts';
import { QUERY_TYPES } from '../../../src/query/query-types.ts';

/** The names of public eggs, their types, and whether they have a variable for a query port. */
const PUBLIC = readFileSync(new URL('../../fixtures/eggs.tsv', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .filter((line) => !line.startsWith('#'))
  .map((line) => line.split('\t'));

describe('the public eggs', () => {
  it.each(PUBLIC)('%s is the type of %s', (type = '', egg = '', port = '') => {
    expect(typeOfEgg(egg, port !== '') ?? '-').toBe(type);
  });

  it.each([
    ['Velocity', true],
    ['Waterdog PE', true],
    ['VIAaaS', true],
    ['Paper', false],
    ['', false],
  ])('%s is a proxy: %s', (egg, expected) => {
    expect(isProxy(egg)).toBe(expected);
  });
});

describe('the query type of an egg', () => {
  it("is that of the library's game with this name", () => {
    const types = [...QUERY_TYPES].filter(([type]) => type in games);
    for (const [type, { name, protocols }] of types) {
      const found = typeOfEgg(name);
      expect([name, QUERY_TYPES.get(found ?? '')?.protocols]).toEqual([name, protocols]);
      expect(typeOfEgg(type)).toBeDefined();
    }
  });

  it.each([
    ['Sponge (SpongeVanilla)', 'minecraft'],
    ['PocketMine-MP', 'mbe'],
    ['Valheim BepInEx', 'valheim'],
    ["Garry's Mod (reworked)", 'garrysmod'],
    ['Counter-Strike: Global Offensive', 'csgo'],
    ['Teamspeak3 Server', 'teamspeak3'],
    ['TeamSpeak 3', 'teamspeak3'],
  ])('%s is %s', (egg, type) => {
    expect(typeOfEgg(egg)).toBe(type);
  });

  it.each(['rust generic', 'TS3 Manager', 'TeamSpeak6 Server', 'Forgejo'])('%s is no known game', (egg) => {
    expect(typeOfEgg(egg)).toBeUndefined();
  });

  it.each(['Node.js Generic', 'Discord.js', 'Fear the Night', 'Terraria', 'toString', '__proto__', '', '::'])(
    '%j is unknown',
    (egg) => {
      expect(typeOfEgg(egg)).toBeUndefined();
    },
  );

  it('is one that can be queried', () => {
    for (const type of TYPE_BY_NAME.values()) expect([...QUERY_TYPES.keys(), 'none']).toContain(type);
  });
});
