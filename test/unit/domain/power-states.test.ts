import { expect, it } from 'vitest';
import { isOff, isOn, SERVER_STATES } from '../../../src/domain/power-states.ts';

it('a server is off, on, or in a state that says neither', () => {
  const [off, on] = [SERVER_STATES.filter(isOff), SERVER_STATES.filter(isOn)];
  expect([off, on]).toEqual([['offline'], ['starting', 'running', 'stopping']]);
});
