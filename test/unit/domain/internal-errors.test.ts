import { expect, it } from 'vitest';
import { InternalErrors } from '../../../src/domain/internal-errors.ts';

const error = new Error('a bug');
const fail = () => {
  throw error;
};

it('are passed on while somebody listens, and thrown otherwise', () => {
  const errors = new InternalErrors();
  const received: unknown[] = [];
  expect(() => errors.contain(fail)).toThrow(error);
  const forget = errors.listen((one) => received.push(one));
  errors.contain(fail);
  errors.contain(() => undefined);
  errors.report('text');
  expect(received).toEqual([error, 'text']);
  forget();
  expect(() => errors.report(error)).toThrow(error);
});

it('are passed to the last listener, whose successor stays when it is forgotten', () => {
  const errors = new InternalErrors();
  const received: string[] = [];
  const forget = errors.listen(() => received.push('first'));
  errors.listen(() => received.push('second'));
  forget();
  errors.contain(fail);
  expect(received).toEqual(['second']);
});
