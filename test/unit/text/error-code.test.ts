import { expect, it } from 'vitest';
import { errorCode } from '../../../src/text/error-code.ts';

it.each([
  ['an error of the system', Object.assign(new Error('no such file'), { code: 'ENOENT' }), 'ENOENT'],
  ['an error without a code', new Error('broken'), 'unknown error'],
  ['anything else', 'broken', 'unknown error'],
])('the code of %s', (_what, error, code) => {
  expect(errorCode(error)).toBe(code);
});
