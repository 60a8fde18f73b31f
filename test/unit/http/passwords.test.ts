import { hashSync } from 'bcryptjs';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { BcryptThread, type PasswordComparer } from '../../../src/http/bcrypt-thread.ts';
import { Passwords } from '../../../src/http/passwords.ts';

const HASH = `$2y$10$${'a'.repeat(53)}`;
const COSTLY = `$2y$12$${'b'.repeat(53)}`;
const USERS = new Map([
  ['alice', HASH],
  ['carol', COSTLY],
]);

interface Asked {
  readonly password: string;
  readonly hash: string;
  readonly answer: (same: boolean) => void;
  readonly fail: (error: Error) => void;
}

/** Passwords whose comparisons a test answers. */
function checked(bounds = { total: 4, perClient: 3 }) {
  const asked: Asked[] = [];
  const comparer: PasswordComparer = {
    compare: (password, hash) =>
      new Promise((answer, fail) => {
        asked.push({ password, hash, answer, fail });
      }),
    stop: () => Promise.resolve(),
  };
  const passwords = new Passwords(comparer, bounds);
  const check = (user: string, password: string, client = 'somebody') =>
    passwords.check({ user, password }, USERS, client);
  return { passwords, asked, check };
}

/** Lets promises settle. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

test('a right password is computed once and remembered', async () => {
  const { asked, check } = checked();
  const first = check('alice', 'secret');
  asked[0]?.answer(true);
  expect(await first).toBe('right');
  expect(await check('alice', 'secret')).toBe('right');
  expect(asked).toMatchObject([{ password: 'secret', hash: HASH }]);
});

test('those who ask for the same at once share one computation', async () => {
  const { asked, check } = checked();
  const all = [check('alice', 'secret', 'a'), check('alice', 'secret', 'b')];
  asked[0]?.answer(true);
  expect(await Promise.all(all)).toEqual(['right', 'right']);
  expect(asked).toHaveLength(1);
});

test('wrong ones are remembered too, and never push out a right one', async () => {
  const { asked, check } = checked();
  const right = check('alice', 'secret');
  asked[0]?.answer(true);
  await right;
  for (let guess = 1; guess <= 300; guess++) {
    const wrong = check('alice', `guess ${guess}`);
    await vi.waitFor(() => expect(asked).toHaveLength(guess + 1), { interval: 1 });
    asked[guess]?.answer(false);
    expect(await wrong).toBe('wrong');
  }
  expect(await check('alice', 'guess 300')).toBe('wrong');
  expect(await check('alice', 'secret')).toBe('right');
  expect(asked).toHaveLength(301);
});

test('another hash is another result', async () => {
  const { passwords, asked, check } = checked();
  const before = check('alice', 'secret');
  asked[0]?.answer(true);
  await before;
  const after = passwords.check({ user: 'alice', password: 'secret' }, new Map([['alice', COSTLY]]), 'a');
  await vi.waitFor(() => expect(asked).toHaveLength(2));
  asked[1]?.answer(false);
  expect(await after).toBe('wrong');
});

describe('an unknown user', () => {
  test('costs what a known one costs, always the same for a name, and is never right', async () => {
    const { asked, check } = checked();
    const names = Array.from({ length: 40 }, (_, index) => `nobody ${index}`);
    for (const [index, name] of [...names, ...names].entries()) {
      const verdict = check(name, `${index}`);
      await vi.waitFor(() => expect(asked).toHaveLength(index + 1), { interval: 1 });
      asked[index]?.answer(true);
      expect(await verdict).toBe('wrong');
    }
    const costs = asked.map(({ hash }) => hash.slice(0, 7));
    expect(new Set(costs)).toEqual(new Set(['$2y$10$', '$2y$12$']));
    expect(costs.slice(0, 40)).toEqual(costs.slice(40));
    expect(asked.every(({ hash }) => hash.length === 60)).toBe(true);
  });

  test('really takes the time of a hash', async () => {
    const worker = new BcryptThread();
    const compare = vi.fn<PasswordComparer['compare']>((...pair) => worker.compare(...pair));
    const passwords = new Passwords({ compare, stop: () => worker.stop() });
    const users = new Map([['alice', hashSync('secret', 5)]]);
    expect(await passwords.check({ user: 'bob', password: 'secret' }, users, 'a')).toBe('wrong');
    // One that bcrypt takes for broken would be answered at once.
    const [, hash = ''] = compare.mock.calls[0] ?? [];
    expect(hash).toMatch(/^\$2b\$05\$[./A-Za-z0-9]{53}$/);
    await passwords.stop();
  });
});

describe('a flood', () => {
  test('waits in a bounded queue, in which a client of few has its turn before one of many', async () => {
    const { asked, check } = checked();
    const flood = Array.from({ length: 10 }, (_, index) => check('alice', `guess ${index}`, 'flood'));
    const few = check('alice', 'secret', 'few');
    await settle();
    expect(asked).toHaveLength(1);
    asked[0]?.answer(false);
    await vi.waitFor(() => expect(asked).toHaveLength(2));
    asked[1]?.answer(false);
    await vi.waitFor(() => expect(asked).toHaveLength(3));
    expect(asked.map(({ password }) => password)).toEqual(['guess 0', 'guess 1', 'secret']);
    asked[2]?.answer(true);
    expect(await few).toBe('right');
    expect(await Promise.all(flood.slice(4))).toEqual(Array.from({ length: 6 }, () => 'busy'));
  });
});

test('what fails is told to those who wait for it, and the next is checked', async () => {
  const { asked, check } = checked();
  const failing = check('alice', 'secret');
  const next = check('alice', 'other');
  asked[0]?.fail(new Error('broken'));
  await expect(failing).rejects.toThrow('broken');
  await vi.waitFor(() => expect(asked).toHaveLength(2));
  asked[1]?.answer(false);
  expect(await next).toBe('wrong');
});

test('what waits at a stop is not checked any more', async () => {
  const { passwords, asked, check } = checked();
  const first = check('alice', 'one');
  const second = check('alice', 'two');
  await passwords.stop();
  expect(await second).toBe('busy');
  expect(await check('alice', 'three')).toBe('busy');
  asked[0]?.answer(false);
  expect(await first).toBe('wrong');
  await settle();
  expect(asked).toHaveLength(1);
});

describe('the thread', () => {
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

  test('leaves the event loop to others', async () => {
    const comparing = worker.compare('secret', hashSync('secret', 4).replace('$04$', '$12$'));
    const order: string[] = [];
    const done = comparing.then(() => order.push('compared'));
    const others = settle().then(() => order.push('others'));
    await Promise.all([done, others]);
    expect(order).toEqual(['others', 'compared']);
  });

  test('that ended is started again by the next comparison', async () => {
    const hash = hashSync('secret', 4);
    const lost = worker.compare('secret', hash.replace('$04$', '$14$'));
    await worker.stop();
    await expect(lost).rejects.toThrow('the thread that compares passwords ended');
    expect(await worker.compare('secret', hash)).toBe(true);
  });
});
