import { describe, expect, it } from 'vitest';
import { listed, quantity, toOneDecimal, withAdvice } from '../../../src/text/sentences.ts';

describe('a list of names', () => {
  it.each([
    [[], ''],
    [['a'], 'a'],
    [['a', 'b'], 'a, b'],
    [['a', 'b', 'c'], 'a, b and 1 more'],
    [['a', 'b', 'c', 'd'], 'a, b and 2 more'],
  ])('of %j with at most two is %j', (names, expected) => {
    expect(listed(names, 2)).toBe(expected);
  });
});

describe('an amount', () => {
  it.each([
    [0, '0 servers'],
    [1, '1 server'],
    [2, '2 servers'],
  ])('%i is counted as %j', (amount, expected) => {
    expect(quantity(amount, 'server')).toBe(expected);
  });

  it.each([
    [192, '192'],
    [3.04, '3'],
    [3.06, '3.1'],
  ])('%d is rounded to %s', (amount, expected) => {
    expect(String(toOneDecimal(amount))).toBe(expected);
  });
});

it.each([
  ['the socket was closed', 'Restart the daemon.', 'the socket was closed. Restart the daemon.'],
  ['The panel is down.', 'Start it.', 'The panel is down. Start it.'],
  [
    'GET … returned 401: "Unauthenticated."',
    'Create a key.',
    'GET … returned 401: "Unauthenticated". Create a key.',
  ],
  ['returned 403: "no"', 'Grant it.', 'returned 403: "no". Grant it.'],
  ['GET … returned 401: "Unauthenticated."', '', 'GET … returned 401: "Unauthenticated."'],
])('%s, with the advice %j', (observation, advice, text) => {
  expect(withAdvice(observation, advice)).toBe(text);
});
