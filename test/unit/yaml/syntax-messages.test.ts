import { describe, expect, it } from 'vitest';
import { parseDocument } from 'yaml';
import { syntaxMessage } from '../../../src/yaml/syntax-messages.ts';

/** The messages about a text. Each of the library's messages must be replaced. */
function messagesOf(text: string): readonly string[] {
  const { errors, warnings } = parseDocument(text, { schema: 'failsafe', prettyErrors: false });
  return [...errors, ...warnings].map((error) => syntaxMessage(error, text));
}

const STARTS = ['[EU]', ']', '{EU}', '}', '*', '&', '|', '>', '%', '@', '`', ',', '-'];

describe('a text without quotes is named by the character that it begins with', () => {
  it.each(
    STARTS.flatMap((start) => [
      ['as a value', `servers:\n  - id: 1\n    name: ${start} Survival`, start],
      ['as the first key of an item', `servers:\n  - name: ${start} Survival`, start],
    ]),
  )('%s: %j', (_where, yaml, start) => {
    const [character = ''] = start;
    expect(messagesOf(yaml)[0]).toBe(`invalid YAML: put a text that begins with ${character} in quotes`);
  });

  it.each([
    ['- [EU] Survival', '['],
    ['list:\n  - [EU] Survival', '['],
    ['list:\n  - - [EU] Survival', '['],
    ['name: {EU} Survival', '{'],
    ['name: *new* Survival', '*'],
    ['names: [*-prod, [EU]*]', '['],
    ['names: [*, b]', '*'],
    ['name: a\nother: [EU] "Survival"', '['],
  ])('%j', (yaml, start) => {
    expect(messagesOf(yaml)[0]).toBe(`invalid YAML: put a text that begins with ${start} in quotes`);
  });

  it.each([
    [`name: 'Bob's server'`, `invalid YAML: more text after the closing quote; write '' for a ' in the text`],
    [
      `name: "The "best" one"`,
      `invalid YAML: more text after the closing quote; write \\" for a " in the text`,
    ],
  ])('%s', (yaml, message) => {
    expect(messagesOf(yaml)[0]).toBe(message);
  });
});

it.each([
  ['name: a\n  b: c', 'a key inside another key'],
  ['a:\n  - b:c\n    d: e', 'a key needs a colon and a space after it'],
  ['a:\n  - x\n y: z', 'wrong indentation'],
  ['name: "a', 'a closing quote is missing'],
  ['name: [a', "a bracket that isn't closed"],
  ['a: !x y', 'without tags'],
  ['a: &x &y b', 'two anchors'],
  ['a: &x *y', 'an anchor or tag before an alias'],
])('%j is explained, without a word of the library', (yaml, part) => {
  expect(messagesOf(yaml)[0]).toContain(part);
});

it('takes time in proportion to the line', () => {
  const text = `name: ${'- '.repeat(200_000)}[x] y`;
  expect(
    syntaxMessage({ code: 'UNEXPECTED_TOKEN', pos: [text.length, text.length], message: '' }, text),
  ).toContain('invalid YAML');
});
