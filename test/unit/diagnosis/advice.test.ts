import { expect, it } from 'vitest';
import { withAdvice } from '../../../src/diagnosis/advice.ts';

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
