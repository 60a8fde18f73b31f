import { hashSync } from 'bcryptjs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { BcryptThread } from '../../../src/http/passwords.ts';

let thread: BcryptThread;
beforeEach(() => {
  thread = new BcryptThread();
});
afterEach(() => thread.stop());

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
