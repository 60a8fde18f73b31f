import { expect, it } from 'vitest';
import { TrialTokens } from '../../../src/panel/trial-tokens.ts';

it('there is room until as many trials request a token as may start', () => {
  const tokens = new TrialTokens(() => 2);
  expect(tokens.hasRoom).toBe(true);
  tokens.asked();
  expect(tokens.hasRoom).toBe(true);
  tokens.asked();
  expect(tokens.hasRoom).toBe(false);
  tokens.ended();
  expect(tokens.hasRoom).toBe(true);
});

it('the room is what it is at the time', () => {
  let room = 0;
  const tokens = new TrialTokens(() => room);
  expect(tokens.hasRoom).toBe(false);
  room = 1;
  expect(tokens.hasRoom).toBe(true);
});
