import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { basicCredentials, type PasswordComparer, Passwords } from '../../../src/http/passwords.ts';
import { RecentRefusals } from '../../../src/http/recent-refusals.ts';
import { ManualClock } from '../../support/manual-clock.ts';

describe('basic credentials', () => {
  const base64 = (text: string) => Buffer.from(text).toString('base64');

  test('are read from the header, whatever they contain', () => {
    const user = fc.string().filter((name) => !name.includes(':'));
    fc.assert(
      fc.property(user, fc.string({ unit: 'grapheme' }), (name, password) => {
        expect(basicCredentials(`Basic ${base64(`${name}:${password}`)}`)).toEqual({ user: name, password });
      }),
    );
  });

  test.each([
    [`basic ${base64('a:b')}`, { user: 'a', password: 'b' }],
    [`BASIC  ${base64('a:b:c')} `, { user: 'a', password: 'b:c' }],
    [`Basic ${base64(':')}`, { user: '', password: '' }],
    [undefined, undefined],
    ['', undefined],
    ['Basic', undefined],
    ['Basic ', undefined],
    [`Bearer ${base64('a:b')}`, undefined],
    [`Basic ${base64('nothing')}`, undefined],
    ['Basic a:b', undefined],
    [`Basic ${base64('a:b')}, Basic ${base64('c:d')}`, undefined],
  ])('%j gives %j', (header, credentials) => {
    expect(basicCredentials(header)).toEqual(credentials);
  });
});

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

/** Passwords with a comparer whose answers the test gives. */
function checked(bounds = { total: 4, perClient: 3 }) {
  const asked: Asked[] = [];
  const comparer: PasswordComparer = {
    compare: (password, hash) =>
      new Promise((answer, fail) => {
        asked.push({ password, hash, answer, fail });
      }),
    stop: () => Promise.resolve(),
  };
  const clock = new ManualClock();
  const passwords = new Passwords(comparer, { refusals: new RecentRefusals(clock), bounds });
  const check = (user: string, password: string, client = 'somebody') =>
    passwords.check({ user, password }, USERS, client);
  return { passwords, asked, check, clock };
}

/** Lets promises settle. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

test('a correct password is computed once and remembered', async () => {
  const { asked, check } = checked();
  const first = check('alice', 'secret');
  asked[0]?.answer(true);
  expect(await first).toBe('right');
  expect(await check('alice', 'secret')).toBe('right');
  expect(asked).toMatchObject([{ password: 'secret', hash: HASH }]);
});

test('simultaneous checks of the same password share one computation', async () => {
  const { asked, check } = checked();
  const all = [check('alice', 'secret', 'a'), check('alice', 'secret', 'b')];
  asked[0]?.answer(true);
  expect(await Promise.all(all)).toEqual(['right', 'right']);
  expect(asked).toHaveLength(1);
});

test('wrong passwords are remembered too, and never evict a correct one', async () => {
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

test('a correct password is known without a check; a wrong one, or one for another hash, is not', async () => {
  const { passwords, asked, check } = checked();
  const [secret, guess] = ['secret', 'guess'].map((password) => ({ user: 'alice', password }));
  for (const password of ['secret', 'guess']) {
    const verdict = check('alice', password);
    await vi.waitFor(() => expect(asked.at(-1)?.password).toBe(password), { interval: 1 });
    asked.at(-1)?.answer(password === 'secret');
    await verdict;
  }
  expect([secret, guess].map((one) => one && passwords.remembers(one, USERS))).toEqual([true, false]);
  expect(secret && passwords.remembers(secret, new Map([['alice', COSTLY]]))).toBe(false);
});

test('a result is valid for one hash only', async () => {
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
  test('costs as much as a known one, always the same for a name, and is never accepted', async () => {
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
});

describe('a flood', () => {
  test('waits in a bounded queue, in which a client with few checks goes before one with many', async () => {
    const { asked, check } = checked();
    const flood = Array.from({ length: 10 }, (_, index) => check('alice', `guess ${index}`, 'flood'));
    const few = check('alice', 'secret', 'few');
    await settle();
    expect(asked).toHaveLength(1);
    asked[0]?.answer(false);
    await vi.waitFor(() => expect(asked).toHaveLength(2));
    asked[1]?.answer(true);
    expect(await few).toBe('right');
    await vi.waitFor(() => expect(asked).toHaveLength(3));
    expect(asked.map(({ password }) => password)).toEqual(['guess 0', 'secret', 'guess 1']);
    expect(await Promise.all(flood.slice(4))).toEqual(Array.from({ length: 6 }, () => 'busy'));
  });
});

describe('a recently rejected client', () => {
  /** Answers the comparison in progress, and waits for the next one. */
  async function answer(asked: readonly Asked[], same: boolean): Promise<void> {
    const count = asked.length;
    asked.at(-1)?.answer(same);
    await vi.waitFor(() => expect(asked).toHaveLength(count + 1));
  }

  /** One client was rejected once; then it and a new client wait behind a third. Returns whose check is next. */
  async function turnAfter(prepare: (set: ReturnType<typeof checked>) => Promise<void>): Promise<string> {
    const set = checked();
    const wrong = set.check('alice', 'wrong', 'refused');
    set.asked[0]?.answer(false);
    await wrong;
    await prepare(set);
    void set.check('alice', 'busy', 'third');
    void set.check('alice', 'of the refused', 'refused');
    void set.check('alice', 'of the newcomer', 'newcomer');
    await answer(set.asked, false);
    return set.asked.at(-1)?.password ?? '';
  }

  test('waits behind a new client', async () => {
    expect(await turnAfter(async () => undefined)).toBe('of the newcomer');
  });

  test('is treated like any other after two minutes', async () => {
    const turn = turnAfter(({ clock }) => clock.advance(120_000));
    expect(await turn).toBe('of the refused');
  });

  test('is treated like any other after a correct password', async () => {
    const turn = turnAfter(async ({ asked, check }) => {
      const right = check('alice', 'secret', 'refused');
      asked.at(-1)?.answer(true);
      await right;
    });
    expect(await turn).toBe('of the refused');
  });
});

test('a failed check rejects, and the next one still runs', async () => {
  const { asked, check } = checked();
  const failing = check('alice', 'secret');
  const next = check('alice', 'other');
  asked[0]?.fail(new Error('broken'));
  await expect(failing).rejects.toThrow('broken');
  await vi.waitFor(() => expect(asked).toHaveLength(2));
  asked[1]?.answer(false);
  expect(await next).toBe('wrong');
});

test('queued checks are not run after a stop', async () => {
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
