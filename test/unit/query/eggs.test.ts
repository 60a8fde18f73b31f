import { readFileSync } from 'node:fs';
import { games } from 'gamedig';
import { describe, expect, it } from 'vitest';
import { isProxy, TYPE_BY_NAME, typeOfEgg } from '../../../src/query/eggs.ts';
import { TYPES } from '../../../src/query/ways.ts';

/** Names of public eggs, with their types and whether they have a variable for a query port. */
const PUBLIC = readFileSync(new URL('../../fixtures/eggs.tsv', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .filter((line) => !line.startsWith('#'))
  .map((line) => line.split('\t'));

describe('the public eggs', () => {
  it.each(PUBLIC)('%s is the type of %s', (type = '', egg = '', port = '') => {
    expect(typeOfEgg(egg, port !== '') ?? '-').toBe(type);
  });

  it('are mostly recognized', () => {
    expect(PUBLIC.filter(([type]) => type !== '-').length).toBeGreaterThanOrEqual(200);
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
    const types = [...TYPES].filter(([type]) => type in games);
    for (const [type, { name, protocols }] of types) {
      const found = typeOfEgg(name);
      expect([name, TYPES.get(found ?? '')?.protocols]).toEqual([name, protocols]);
      expect(typeOfEgg(type)).toBeDefined();
    }
  });

  it.each([
    ['Paper', 'minecraft'],
    ['Vanilla Minecraft', 'minecraft'],
    ['Forge Minecraft', 'minecraft'],
    ['Sponge (SpongeVanilla)', 'minecraft'],
    ['CurseForge Generic', 'minecraft'],
    ['Vanilla Bedrock', 'mbe'],
    ['PocketMine-MP', 'mbe'],
    ['Rust', 'rust'],
    ['Rust Staging', 'rust'],
    ['Valheim BepInEx', 'valheim'],
    ["Garry's Mod (reworked)", 'garrysmod'],
    ['Ark: Survival Evolved', 'ase'],
    ['Counter-Strike: Global Offensive', 'csgo'],
    ['7 Days To Die', 'sdtd'],
    ['Teamspeak3 Server', 'teamspeak3'],
    ['V Rising', 'vrising'],
    ['DDNet', 'teeworlds'],
    ['CS2D', 'c2d'],
    ['Counter-Strike 2', 'counterstrike2'],
    ['The 1.7.10 Pack', 'minecraft'],
    ['Waterdog PE', 'mbe'],
    ['Space Engineers - Torch Server', 'spaceengineers'],
    ['Euro Truck Simulator 2 Dedicated server', 'ets2'],
    ['Custom HLDS Engine Game', 'hld'],
    ['TeamSpeak 3', 'teamspeak3'],
    // Named like a type.
    ['Space Engineers', 'spaceengineers'],
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
    for (const type of TYPE_BY_NAME.values()) expect([...TYPES.keys(), 'none']).toContain(type);
  });
});
