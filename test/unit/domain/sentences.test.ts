import { expect, it } from 'vitest';
import { withAdvice } from '../../../src/domain/sentences.ts';

it.each([
  ['the socket was closed', 'Restart the daemon.', 'the socket was closed. Restart the daemon.'],
  ['The panel is down.', 'Start it.', 'The panel is down. Start it.'],
  [
    'GET … answered 401: "Unauthenticated."',
    'Create a key.',
    'GET … answered 401: "Unauthenticated". Create a key.',
  ],
  ['answered 403: "no"', 'Grant it.', 'answered 403: "no". Grant it.'],
  ['GET … answered 401: "Unauthenticated."', '', 'GET … answered 401: "Unauthenticated."'],
])('%s, with the advice %j', (observation, advice, text) => {
  expect(withAdvice(observation, advice)).toBe(text);
});
