import { hashSync } from 'bcryptjs';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { SystemClock } from '../../../src/domain/clock.ts';
import { BcryptThread, CHECK_LIMIT, type PasswordComparer, Passwords } from '../../../src/http/passwords.ts';
import { ClientBuckets } from '../../../src/http/request-rates.ts';

/** Lets promises settle. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('an unknown user', () => {
  test('takes as long to reject as a wrong password', async () => {
    const worker = new BcryptThread();
    const compare = vi.fn<PasswordComparer['compare']>((...pair) => worker.compare(...pair));
    const passwords = new Passwords(
      { compare, stop: () => worker.stop() },
      new ClientBuckets(CHECK_LIMIT, new SystemClock()),
    );
    const users = new Map([['alice', hashSync('secret', 5)]]);
    expect(await passwords.check({ user: 'bob', password: 'secret' }, users, 'a')).toBe('wrong');
    // A hash that bcrypt considers broken would be rejected at once.
    const [, hash = ''] = compare.mock.calls[0] ?? [];
    expect(hash).toMatch(/^\$2b\$05\$[./A-Za-z0-9]{53}$/);
    await passwords.stop();
  });
});

describe('the password thread', () => {
  let worker = new BcryptThread();
  afterEach(async () => {
    await worker.stop();
    worker = new BcryptThread();
  });

  test.each([
    ['$2a$', 'secret', true],
    ['$2b$', 'secret', true],
    ['$2y$', 'secret', true],
    ['$2y$', 'Secret', false],
    ['$2y$', '', false],
  ])('compares a hash of %s with %j: %j', async (prefix, password, same) => {
    const hash = hashSync('secret', 4).replace('$2b$', prefix);
    expect(await worker.compare(password, hash)).toBe(same);
  });

  test('leaves the event loop free', async () => {
    const comparing = worker.compare('secret', hashSync('secret', 4).replace('$04$', '$12$'));
    const order: string[] = [];
    const done = comparing.then(() => order.push('compared'));
    const others = settle().then(() => order.push('others'));
    await Promise.all([done, others]);
    expect(order).toEqual(['others', 'compared']);
  });

  test('is restarted by the next comparison after it ended', async () => {
    const hash = hashSync('secret', 4);
    const lost = worker.compare('secret', hash.replace('$04$', '$14$'));
    await worker.stop();
    await expect(lost).rejects.toThrow('the bcrypt thread ended unexpectedly');
    expect(await worker.compare('secret', hash)).toBe(true);
  });
});
