import { describe, expect, it } from 'vitest';
import { describeQuery, describeRule, matchesEveryServer } from '../../../src/doctor/rule-texts.ts';

describe('a rule', () => {
  it.each([
    [{}, 0, 'expected to run for all servers', true],
    [{}, 1, 'expected to run for all other servers', true],
    [{ name: ['lobby*'] }, 0, 'expected to run where name lobby*', false],
    [
      { name: ['lobby*', 'hub*'], node: ['eu'] },
      1,
      'expected to run where name lobby* or hub* and node eu',
      false,
    ],
  ])('with %j at %i is described as %j', (match, index, text, matchesAll) => {
    expect(describeRule('expected to run', match, index)).toBe(text);
    expect(matchesEveryServer({ match })).toBe(matchesAll);
  });
});

it.each([
  [undefined, 'minecraft every 1m30s'],
  ['game.example.com', 'minecraft at game.example.com every 1m30s'],
])('a query of %s is described as %j', (address, text) => {
  expect(describeQuery({ type: 'minecraft', address, intervalMs: 90_000 })).toBe(text);
});
