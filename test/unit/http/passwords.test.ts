import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import {
  basicCredentials,
  CHECK_LIMIT,
  type PasswordComparer,
  Passwords,
} from '../../../src/http/passwords.ts';
import { ClientBuckets } from '../../../src/http/request-rates.ts';
import { eventually } from '../../support/eventually.ts';
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

/** Passwords with a comparer whose results the test gives. */
function checked() {
  const asked: Asked[] = [];
  const comparer: PasswordComparer = {
    compare: (password, hash) =>
      new Promise((answer, fail) => {
        asked.push({ password, hash, answer, fail });
      }),
    stop: () => Promise.resolve(),
  };
  const clock = new ManualClock();
  const passwords = new Passwords(comparer, new ClientBuckets(CHECK_LIMIT, clock));
  let clients = 0;
  /** By default, each check comes from another client. */
  const check = (user: string, password: string, client = `client ${(clients += 1)}`) =>
    passwords.check({ user, password }, USERS, client);
  /** Waits for the comparison with this index, and ends it. */
  const answer = async (index: number, same: boolean) => {
    await vi.waitFor(() => expect(asked.length).toBeGreaterThan(index), { interval: 1 });
    asked[index]?.answer(same);
  };
  return { passwords, asked, check, answer, clock };
}

/** Lets promises settle. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

test('a correct password is computed once and remembered', async () => {
  const { asked, check, answer } = checked();
  const first = check('alice', 'secret');
  await answer(0, true);
  expect(await first).toBe('right');
  expect(await check('alice', 'secret')).toBe('right');
  expect(asked).toMatchObject([{ password: 'secret', hash: HASH }]);
});

test('simultaneous checks of the same password share one computation', async () => {
  const { asked, check, answer } = checked();
  const all = [check('alice', 'secret', 'a'), check('alice', 'secret', 'b')];
  await answer(0, true);
  expect(await Promise.all(all)).toEqual(['right', 'right']);
  expect(asked).toHaveLength(1);
});

test('wrong passwords are remembered too, and never evict a correct one', async () => {
  const { asked, check, answer } = checked();
  const right = check('alice', 'secret');
  await answer(0, true);
  await right;
  for (let guess = 1; guess <= 300; guess++) {
    const wrong = check('alice', `guess ${guess}`);
    await answer(guess, false);
    expect(await wrong).toBe('wrong');
  }
  expect(await check('alice', 'guess 300')).toBe('wrong');
  expect(await check('alice', 'secret')).toBe('right');
  expect(asked).toHaveLength(301);
});

test('a correct password is known without a check; a wrong one, or one for another hash, is not', async () => {
  const { passwords, check, answer } = checked();
  const [secret, guess] = ['secret', 'guess'].map((password) => ({ user: 'alice', password }));
  for (const [index, password] of ['secret', 'guess'].entries()) {
    const verdict = check('alice', password);
    await answer(index, password === 'secret');
    await verdict;
  }
  expect([secret, guess].map((one) => one && passwords.remembers(one, USERS))).toEqual([true, false]);
  expect(secret && passwords.remembers(secret, new Map([['alice', COSTLY]]))).toBe(false);
});

test('a result is valid for one hash only', async () => {
  const { passwords, check, answer } = checked();
  const before = check('alice', 'secret');
  await answer(0, true);
  await before;
  const after = passwords.check({ user: 'alice', password: 'secret' }, new Map([['alice', COSTLY]]), 'a');
  await answer(1, false);
  expect(await after).toBe('wrong');
});

describe('an unknown user', () => {
  test('costs as much as a known one, always the same for a username, and is never accepted', async () => {
    const { asked, check, answer } = checked();
    const names = Array.from({ length: 40 }, (_, index) => `nobody ${index}`);
    for (const [index, name] of [...names, ...names].entries()) {
      const verdict = check(name, `${index}`);
      await answer(index, true);
      expect(await verdict).toBe('wrong');
    }
    const costs = asked.map(({ hash }) => hash.slice(0, 7));
    expect(new Set(costs)).toEqual(new Set(['$2y$10$', '$2y$12$']));
    expect(costs.slice(0, 40)).toEqual(costs.slice(40));
    expect(asked.every(({ hash }) => hash.length === 60)).toBe(true);
  });
});

describe('a client', () => {
  /** Lets the client's passwords be found wrong, and returns its verdicts. */
  async function guess({ asked, check, answer }: ReturnType<typeof checked>, client: string, count: number) {
    const verdicts: string[] = [];
    for (let index = 0; index < count; index += 1) {
      const known = asked.length;
      const verdict = check('alice', `guess ${known} ${index}`, client);
      await settle();
      if (asked.length > known) await answer(known, false);
      verdicts.push(await verdict);
    }
    return verdicts;
  }

  test('has eight checks, and one more every half minute', async () => {
    const set = checked();
    const eight = Array.from({ length: 8 }, () => 'wrong');
    expect(await guess(set, 'a', 9)).toEqual([...eight, 'limited']);
    await set.clock.advance(30_000);
    expect(await guess(set, 'a', 2)).toEqual(['wrong', 'limited']);
    await set.clock.advance(240_000);
    expect(await guess(set, 'a', 9)).toEqual([...eight, 'limited']);
  });

  test("spends no other client's checks, and none with a password that is known to be wrong", async () => {
    const set = checked();
    await guess(set, 'a', 8);
    const [first] = set.asked;
    expect(await set.check('alice', first?.password ?? '', 'a')).toBe('wrong');
    expect(await guess(set, 'b', 1)).toEqual(['wrong']);
  });

  test('has all checks again after a correct password', async () => {
    const set = checked();
    await guess(set, 'a', 7);
    const right = set.check('alice', 'secret', 'a');
    await set.answer(7, true);
    expect(await right).toBe('right');
    expect(await guess(set, 'a', 9)).toEqual([...Array.from({ length: 8 }, () => 'wrong'), 'limited']);
  });

  /** Whose check is next after one client was rejected and `prepare` has run: both wait behind a third. */
  async function nextAfter(prepare: (set: ReturnType<typeof checked>) => Promise<unknown>): Promise<string> {
    const set = checked();
    await guess(set, 'rejected', 1);
    await prepare(set);
    const known = set.asked.length;
    void set.check('alice', 'first', 'third');
    void set.check('alice', 'of the rejected', 'rejected');
    void set.check('alice', 'of the new', 'new');
    await set.answer(known, false);
    await eventually(() => expect(set.asked).toHaveLength(known + 2));
    return set.asked.at(-1)?.password ?? '';
  }

  test('that was rejected waits behind a new one', async () => {
    expect(await nextAfter(async () => undefined)).toBe('of the new');
  });

  test('that was rejected is treated like any other half a minute later', async () => {
    expect(await nextAfter(({ clock }) => clock.advance(30_000))).toBe('of the rejected');
  });

  test('that was rejected is treated like any other after a correct password', async () => {
    const next = nextAfter(async ({ check, answer }) => {
      const right = check('alice', 'secret', 'rejected');
      await answer(1, true);
      await right;
    });
    expect(await next).toBe('of the rejected');
  });
});

describe('a flood', () => {
  test('from one client waits behind a client with fewer checks', async () => {
    const { asked, check, answer } = checked();
    const flood = Array.from({ length: 10 }, (_, index) => check('alice', `guess ${index}`, 'flood'));
    const few = check('alice', 'secret', 'few');
    await settle();
    expect(asked).toHaveLength(1);
    await answer(0, false);
    await answer(1, true);
    expect(await few).toBe('right');
    await eventually(() => expect(asked).toHaveLength(3));
    expect(asked.map(({ password }) => password)).toEqual(['guess 0', 'secret', 'guess 1']);
    expect(await Promise.all(flood.slice(8))).toEqual(['limited', 'limited']);
  });

  test('of rejected clients, however many they are, never displaces a new client, which is served next', async () => {
    const sizes = fc.nat(300);
    await fc.assert(
      fc.asyncProperty(sizes, sizes, fc.integer({ min: 1, max: 7 }), async (before, after, spent) => {
        const buckets = new ClientBuckets(CHECK_LIMIT, new ManualClock());
        const started: string[] = [];
        let end: () => void = () => undefined;
        const compare: PasswordComparer['compare'] = (password) => {
          started.push(password);
          return new Promise((resolve) => {
            end = () => resolve(password === 'secret');
          });
        };
        const passwords = new Passwords({ compare, stop: async () => undefined }, buckets);
        const check = (password: string, client: string) =>
          passwords.check({ user: 'alice', password }, USERS, client);
        const attack = (index: number) => {
          for (let count = 0; count < spent; count += 1) buckets.take(`attacker ${index}`);
          return check(`guess ${index}`, `attacker ${index}`);
        };
        const guesses = Array.from({ length: before + 1 }, (_, index) => attack(index));
        const right = check('secret', 'new');
        guesses.push(...Array.from({ length: after }, (_, index) => attack(before + 1 + index)));
        await settle();
        end();
        await vi.waitFor(() => expect(started).toEqual(['guess 0', 'secret']), { interval: 1 });
        end();
        expect(await right).toBe('right');
        await passwords.stop();
        end();
        await Promise.all(guesses);
      }),
      { numRuns: 50 },
    );
  });

  test('of many clients has at most 64 waiting; the others are not checked', async () => {
    const { asked, check, passwords } = checked();
    const verdicts = Array.from({ length: 70 }, (_, index) => check('alice', `guess ${index}`));
    expect(await Promise.all(verdicts.slice(65))).toEqual(Array.from({ length: 5 }, () => 'busy'));
    expect(asked).toHaveLength(1);
    await passwords.stop();
    expect(await Promise.all(verdicts.slice(1, 65))).toEqual(Array.from({ length: 64 }, () => 'busy'));
  });
});

test('a failed check rejects, and the next one still runs', async () => {
  const { asked, check, answer } = checked();
  const failing = check('alice', 'secret');
  const next = check('alice', 'other');
  await settle();
  asked[0]?.fail(new Error('broken'));
  await expect(failing).rejects.toThrow('broken');
  await answer(1, false);
  expect(await next).toBe('wrong');
});

test('waiting checks are not run after a stop', async () => {
  const { passwords, asked, check, answer } = checked();
  const first = check('alice', 'one');
  const second = check('alice', 'two');
  await passwords.stop();
  expect(await second).toBe('busy');
  expect(await check('alice', 'three')).toBe('busy');
  await answer(0, false);
  expect(await first).toBe('wrong');
  await settle();
  expect(asked).toHaveLength(1);
});
