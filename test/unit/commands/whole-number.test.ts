import { InvalidArgumentError } from 'commander';
import { expect, it } from 'vitest';
import { wholeNumber } from '../../../src/commands/whole-number.ts';

it.each([
  ['1', 1],
  ['007', 7],
  ['10', 10],
])('%s is a number from 1 to 10', (text, value) => {
  expect(wholeNumber(1, 10)(text)).toBe(value);
});

it.each(['0', '11', '-1', '1.5', '1e1', '', ' 1', 'many'])('%j is no number from 1 to 10', (text) => {
  expect(() => wholeNumber(1, 10)(text)).toThrow(
    new InvalidArgumentError('Expected an integer from 1 to 10.'),
  );
});

it('without a limit, the error names the least', () => {
  expect(() => wholeNumber(2)('1')).toThrow('Expected an integer of at least 2.');
});
