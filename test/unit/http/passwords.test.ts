import { describe, expect, test } from 'vitest';
import { Passwords, WRONG_WINDOW_MS } from '../../../src/http/passwords.ts';
import { eventually } from '../../support/eventually.ts';
import { ManualClock } from '../../support/manual-clock.ts';

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

/** A password check with comparisons that the test completes. */
function checked() {
  const asked: Asked[] = [];
  const clock = new ManualClock();
  const passwords = new Passwords(
    clock,
    ({ password, hash }) =>
      new Promise((answer, fail) => {
        asked.push({ password, hash, answer, fail });
      }),
  );
  let clients = 0;
  /** By default, each check comes from another client. */
  const check = (username: string, password: string, client = `client ${(clients += 1)}`, users = USERS) =>
    passwords.check({ username, password }, users, client);
  /** Waits for the comparison with this index, and completes it. */
  const answer = async (index: number, same: boolean) => {
    await eventually(() => expect(asked.length).toBeGreaterThan(index));
    asked[index]?.answer(same);
  };
  /** Checks a wrong password. */
  const guess = async (client?: string, password = `guess ${asked.length}`) => {
    const known = asked.length;
    const verdict = check('alice', password, client);
    await settle();
    if (asked.length > known) await answer(known, false);
    return verdict;
  };
  return { asked, check, answer, guess, clock };
}

/** Lets promises settle. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

const EIGHT = Array.from({ length: 8 }, () => 'wrong');

test('a correct password is computed once and remembered', async () => {
  const { asked, check, answer } = checked();
  const first = check('alice', 'secret');
  await answer(0, true);
  expect(await first).toBe('right');
  expect(await check('alice', 'secret')).toBe('right');
  expect(asked).toMatchObject([{ password: 'secret', hash: HASH }]);
});

test('passwords are compared one after the other', async () => {
  const { asked, check, answer } = checked();
  const verdicts = [check('alice', 'one'), check('alice', 'two')];
  await settle();
  expect(asked.map(({ password }) => password)).toEqual(['one']);
  await answer(0, false);
  await answer(1, true);
  expect(await Promise.all(verdicts)).toEqual(['wrong', 'right']);
});

test('simultaneous checks of the same password share one computation', async () => {
  const { asked, check, answer } = checked();
  const all = [check('alice', 'secret', 'a'), check('alice', 'secret', 'b')];
  await answer(0, true);
  expect(await Promise.all(all)).toEqual(['right', 'right']);
  expect(asked).toHaveLength(1);
});

test('wrong passwords are remembered too, and never evict a correct one', async () => {
  const { asked, check, answer, guess } = checked();
  const right = check('alice', 'secret');
  await answer(0, true);
  await right;
  for (let count = 0; count < 300; count++) await guess();
  expect(await check('alice', 'guess 300')).toBe('wrong');
  expect(await check('alice', 'secret')).toBe('right');
  expect(asked).toHaveLength(301);
});

test('a correct password never waits for checks of others', async () => {
  const { check, answer } = checked();
  const right = check('alice', 'secret');
  await answer(0, true);
  await right;
  const flood = Array.from({ length: 100 }, (_, index) => check('alice', `guess ${index}`));
  expect(await Promise.race([check('alice', 'secret'), ...flood.slice(0, 64)])).toBe('right');
});

test('a result is valid for one hash only', async () => {
  const { check, answer } = checked();
  const before = check('alice', 'secret');
  await answer(0, true);
  await before;
  const after = check('alice', 'secret', 'a', new Map([['alice', COSTLY]]));
  await answer(1, false);
  expect(await after).toBe('wrong');
});

test('an unknown user costs as much as a known one, always the same for a username, and is never accepted', async () => {
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

describe('a client', () => {
  test('has eight wrong passwords a minute', async () => {
    const { guess, clock } = checked();
    const verdicts = async () => {
      const all: string[] = [];
      for (let count = 0; count < 9; count += 1) all.push(await guess('a'));
      return all;
    };
    expect(await verdicts()).toEqual([...EIGHT, 'limited']);
    await clock.advance(WRONG_WINDOW_MS - 1);
    expect(await guess('a')).toBe('limited');
    await clock.advance(1);
    expect(await verdicts()).toEqual([...EIGHT, 'limited']);
  });

  test('has no more if it sends them at once', async () => {
    const { check, asked, answer } = checked();
    const verdicts = Array.from({ length: 12 }, (_, index) => check('alice', `guess ${index}`, 'a'));
    for (let index = 0; index < 8; index += 1) await answer(index, false);
    expect(await Promise.all(verdicts)).toEqual([...EIGHT, ...Array.from({ length: 4 }, () => 'limited')]);
    expect(asked).toHaveLength(8);
  });

  test("doesn't affect another client, and a password that is known to be wrong doesn't count", async () => {
    const { guess, check } = checked();
    for (let count = 0; count < 8; count += 1) await guess('a', `guess ${count}`);
    expect(await check('alice', 'guess 0', 'a')).toBe('wrong');
    expect(await guess('b')).toBe('wrong');
  });

  test("isn't limited by correct passwords", async () => {
    const { guess, check, answer, asked } = checked();
    for (let count = 0; count < 7; count += 1) await guess('a');
    for (const name of ['alice', 'carol']) {
      const right = check(name, 'secret', 'a');
      await answer(asked.length, true);
      expect(await right).toBe('right');
    }
    expect([await guess('a'), await guess('a')]).toEqual(['wrong', 'limited']);
  });
});

test('at most 64 checks of all clients wait, and the others are refused', async () => {
  const { check, answer } = checked();
  const verdicts = Array.from({ length: 70 }, (_, index) => check('alice', `guess ${index}`));
  const ended: string[] = [];
  for (const verdict of verdicts) void verdict.then((one) => ended.push(one));
  await settle();
  expect(ended).toEqual(Array.from({ length: 6 }, () => 'limited'));
  await answer(0, false);
  expect(await verdicts[0]).toBe('wrong');
});

test('a failed check rejects and is not remembered, and the next one still runs', async () => {
  const { asked, check, answer } = checked();
  const failing = check('alice', 'secret');
  const next = check('alice', 'other');
  await settle();
  asked[0]?.fail(new Error('broken'));
  await expect(failing).rejects.toThrow('broken');
  await answer(1, false);
  expect(await next).toBe('wrong');
  const again = check('alice', 'secret');
  await answer(2, true);
  expect(await again).toBe('right');
});
