import { expect, it } from 'vitest';
import { stateTitle, stopTitle } from '../../../../src/status-page/data/titles.ts';

it.each([
  ['running', 'streaming', 'running'],
  ['unknown', 'streaming', 'unknown state'],
  ['unknown', 'polling', 'unknown state'],
  ['unknown', 'failing', 'no data'],
  ['unknown', 'waiting', 'no data'],
  ['unknown', undefined, 'no data'],
])('the state %s of a server that is %s is titled %s', (state, condition, title) => {
  expect(stateTitle(state, condition)).toBe(title);
});

it('a stop is described by its reason and exit code', () => {
  expect(stopTitle({ reason: 'exited', exit_code: 0 })).toBe('exited by itself, exit code 0');
  expect(stopTitle({ reason: 'requested' })).toBe('stopped on request');
});
