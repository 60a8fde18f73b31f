import { hashSync } from 'bcryptjs';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { SystemClock } from '../../../src/domain/clock.ts';
import { BcryptThread, Passwords } from '../../../src/http/passwords.ts';

let thread: BcryptThread;
beforeEach(() => {
  thread = new BcryptThread();
});
afterEach(() => thread.stop());

test('an unknown user takes as long to reject as a wrong password', async () => {
  const compare = vi.fn<BcryptThread['compare']>((comparison) => thread.compare(comparison));
  const passwords = new Passwords(new SystemClock(), compare);
  const users = new Map([['alice', hashSync('secret', 5)]]);
  expect(await passwords.check({ username: 'bob', password: 'secret' }, users, 'a')).toBe('wrong');
  // A hash that bcrypt considers broken would be rejected at once.
  expect(compare.mock.calls[0]?.[0].hash).toMatch(/^\$2b\$05\$[./A-Za-z0-9]{53}$/);
});

describe('the password thread', () => {
  test.each([
    ['$2a$', 'secret', true],
    ['$2b$', 'secret', true],
    ['$2y$', 'secret', true],
    ['$2y$', 'Secret', false],
    ['$2y$', '', false],
  ])('compares a hash of %s with %j: %j', async (prefix, password, same) => {
    const hash = hashSync('secret', 4).replace('$2b$', prefix);
    expect(await thread.compare({ password, hash })).toBe(same);
  });

  test('leaves the event loop free', async () => {
    const hash = hashSync('secret', 4).replace('$04$', '$12$');
    const order: string[] = [];
    const done = thread.compare({ password: 'secret', hash }).then(() => order.push('compared'));
    const others = new Promise((resolve) => setImmediate(resolve)).then(() => order.push('others'));
    await Promise.all([done, others]);
    expect(order).toEqual(['others', 'compared']);
  });

  test('is replaced by the next comparison after it failed', async () => {
    const failing = thread.compare({ password: 'secret', hash: undefined as unknown as string });
    await expect(failing).rejects.toThrow('Illegal arguments');
    expect(await thread.compare({ password: 'secret', hash: hashSync('secret', 4) })).toBe(true);
  });
});
