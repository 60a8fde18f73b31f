import { describe, expect, it } from 'vitest';
import type { DiscoverRules, ServerGlobs } from '../../../src/domain/discovery.ts';
import { compileRules } from '../../../src/fleet/discovery-filter.ts';
import { listed, uuidOf } from '../../support/listed.ts';

const rules = (changes: Partial<DiscoverRules>): DiscoverRules => ({
  include: {},
  exclude: {},
  expect: [],
  labels: {},
  mode: 'auto',
  ...changes,
});

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
  ])('%j: every key has to fit', (include, included) => {
    expect(compileRules(rules({ include }))(SERVER).included).toBe(included);
  });

  it.each<[ServerGlobs, boolean]>([
    [{}, true],
    [{ node: ['ams-*'], egg: ['paper'] }, false],
    [{ node: ['ams-*'], egg: ['velocity'] }, true],
  ])('%j: any key that fits leaves out', (exclude, included) => {
    expect(compileRules(rules({ exclude }))(SERVER).included).toBe(included);
  });

  it('leaves out what is included and excluded', () => {
    const both = rules({ include: { name: ['*'] }, exclude: { name: ['*survival*'] } });
    expect(compileRules(both)(SERVER).included).toBe(false);
    expect(compileRules(both)(UNKNOWN).included).toBe(true);
  });

  it('a server of which the panel names no egg fits no glob for it', () => {
    expect(compileRules(rules({ include: { egg: ['*'] } }))(UNKNOWN).included).toBe(false);
    expect(compileRules(rules({ exclude: { egg: ['*'] } }))(UNKNOWN).included).toBe(true);
  });
});

describe('expect', () => {
  const judge = compileRules(
    rules({
      expect: [
        { match: { name: ['*main'] }, state: 'any' },
        { match: { node: ['fra-*'], egg: ['paper'] }, state: 'running' },
      ],
    }),
  );

  it.each([
    ['the first rule that fits counts', SERVER, 'any'],
    ['then the second', { ...SERVER, name: 'creative' }, 'running'],
    ['any where none fits', { ...SERVER, name: 'creative', egg: 'velocity' }, 'any'],
  ] as const)('%s', (_what, server, expected) => {
    expect(judge(server).expect).toBe(expected);
  });

  it('a rule that names nothing fits all', () => {
    const all = compileRules(rules({ expect: [{ match: {}, state: 'running' }] }));
    expect(all(UNKNOWN).expect).toBe('running');
  });
});
