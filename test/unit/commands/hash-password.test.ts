import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  askedPassword,
  passwordProblem,
  pipedPassword,
  userProblem,
  usersText,
} from '../../../src/commands/hash-password.ts';
import { parseWebConfig } from '../../../src/http/web-config/load-web-config.ts';

const HASH = `$2b$10$${'a'.repeat(53)}`;
const LONGEST = 'é'.repeat(36);

describe('a password', () => {
  it.each(['a', 'with spaces and : and $', 'pässwörter ✓', LONGEST])('may be %j', (password) => {
    expect(passwordProblem(password)).toBeUndefined();
  });

  it.each([
    ['', 'expected a password, but it is empty'],
    ['two\nlines', 'expected a password of one line, but there are several'],
    ['a\tb', 'expected a password without control characters'],
    [`${LONGEST}!`, 'at most 72 bytes, because bcrypt ignores the rest, but this one has 73'],
  ])('may not be %j', (password, problem) => {
    expect(passwordProblem(password)).toContain(problem);
  });
});

describe('a password on standard input', () => {
  it.each([
    ['a line', 'secret\n', 'secret'],
    ['a line of Windows', 'secret\r\n', 'secret'],
    ['no line break', 'secret', 'secret'],
    ['spaces that belong to it', ' secret ', ' secret '],
  ])('is read from %s', async (_, input, password) => {
    expect(await pipedPassword(Readable.from([input]))).toBe(password);
  });

  it.each([
    [
      'nothing',
      '',
      /^standard input: expected a password, but it is empty: pipe one to .*hash-password, or run/,
    ],
    ['an empty line', '\n', /but it is empty: pipe one/],
    ['two lines', 'a\nb\n', /^standard input: expected a password of one line, but there are several$/],
    ['bytes that are no text', Buffer.from([0xff, 0xfe]), /^standard input can't be read: /],
    [
      'a whole file',
      'x'.repeat(2_000),
      /^standard input can't be read: larger than 1 KiB, expected a password$/,
    ],
  ])('is refused if it is %s', async (_, input, message) => {
    await expect(pipedPassword(Readable.from([input]))).rejects.toThrow(message);
  });
});

it('a person types the password twice, and again if the second one differs', async () => {
  const typed = ['', 'secret', 'secert', 'secret'];
  const problems: (string | undefined)[] = [];
  const hidden = ({ validate }: { validate: (answer: string) => string | undefined }) => {
    for (;;) {
      const answer = typed.shift() ?? '';
      const problem = validate(answer);
      if (problem === undefined) return Promise.resolve(answer);
      problems.push(problem);
    }
  };
  expect(await askedPassword({ hidden }, 'prometheus')).toBe('secret');
  expect(problems).toEqual(['expected a password, but it is empty', 'expected the same password as before']);
  expect(typed).toEqual([]);
});

it.each([
  ['', 'but it is empty'],
  ['a:b', 'without a colon'],
  ['a\nb', 'without control characters'],
  ['__proto__', 'no configuration may have the key __proto__'],
])('a user may not be %j', (user, problem) => {
  expect(userProblem(user)).toContain(problem);
});

it('the output is a web configuration that admits the user, whatever the name is', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'grapheme', minLength: 1 }), async (user) => {
      fc.pre(userProblem(user) === undefined);
      const { settings, issues } = await parseWebConfig(usersText(user, HASH), 'web.yml', {});
      expect(issues).toEqual([]);
      expect(Object.entries(settings?.basic_auth_users ?? {})).toEqual([[user, HASH]]);
    }),
  );
});
