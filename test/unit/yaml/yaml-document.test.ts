import { describe, expect, test } from 'vitest';
import { KNOWN_SECRETS } from '../../../src/text/redaction.ts';
import { expandVariables } from '../../../src/yaml/variables.ts';
import { YamlDocument } from '../../../src/yaml/yaml-document.ts';

describe('variables', () => {
  const env = { A: 'x', EMPTY: '', NESTED: '${A}' };

  test.each([
    ['plain', 'plain'],
    ['${A}', 'x'],
    ['<${A}${A}>', '<xx>'],
    ['$${A}', '${A}'],
    ['$$${A}', '$${A}'],
    ['$A $ $$', '$A $ $$'],
    ['${NESTED}', '${A}'],
    ['a${EMPTY}b', 'ab'],
  ])('%j expands to %j', (text, expanded) => {
    expect(expandVariables(text, env)).toMatchObject({ text: expanded, problems: [] });
  });

  test.each(['${}', '${A', '${A-B}', '${A:-x}', '${1A}', '${ A }', '${constructor}', '${__proto__}', '${B}'])(
    '%j is rejected',
    (text) => {
      expect(expandVariables(text, env).problems).toHaveLength(1);
    },
  );
});

test('__proto__ is rejected as a key, even if it is also a known secret', () => {
  const messages = () => new YamlDocument('a: { __proto__: 1 }', {}).problems;
  const refused = [{ message: '__proto__ is not an allowed key' }];
  expect(messages()).toMatchObject(refused);
  KNOWN_SECRETS.add('__proto__');
  expect(messages()).toMatchObject(refused);
});
