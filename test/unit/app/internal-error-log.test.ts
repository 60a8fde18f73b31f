import { expect, it } from 'vitest';
import { InternalErrorLog } from '../../../src/app/internal-error-log.ts';
import { collectingLogger } from '../../support/logger.ts';

it('counts every exception, and logs each place once with its stack', () => {
  const log = collectingLogger();
  let count = 0;
  const { receive } = new InternalErrorLog(log, () => (count += 1));
  const at = (message: string) => new TypeError(message);
  for (const message of ['of one server', 'of another server']) receive(at(message));
  receive(new Error('elsewhere'));
  receive('not an error');
  receive('another text');
  expect(count).toBe(5);
  expect(log.lines.map(({ level }) => level)).toEqual(['error', 'error', 'error']);
  expect(log.lines[0]?.message).toMatch(/^internal error/);
  expect(log.lines[0]?.fields).toMatchObject({ err: new TypeError('of one server'), cause: 'unexpected' });
});

it('logs at most a hundred places', () => {
  const log = collectingLogger();
  const { receive } = new InternalErrorLog(log, () => undefined);
  for (let place = 0; place < 1_000; place += 1)
    receive(Object.assign(new Error('a bug'), { stack: `Error: a bug\n    at file.js:${place}` }));
  expect(log.lines).toHaveLength(100);
});
