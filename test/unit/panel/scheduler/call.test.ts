import { expect, it } from 'vitest';
import { type Call, isCanary, isConnect } from '../../../../src/panel/scheduler/call.ts';
import { PATHS, type Subject } from '../../../../src/panel/subjects.ts';

const CALL: Call = { path: 'resources', server: 'a', node: () => 'n', deadline: 0, tries: () => undefined };

it.each<[Subject | undefined, boolean]>([
  ['panel', true],
  ['path resources', false],
  [undefined, false],
])('a call that tries %s is a canary: %s', (subject, expected) => {
  expect(isCanary({ ...CALL, tries: () => subject })).toBe(expected);
});

it('calls for credentials connect', () => {
  expect(PATHS.filter((path) => isConnect({ path }))).toEqual(['websocket']);
});
