import { describe, expect, it } from 'vitest';
import { expandVariables } from '../../../src/yaml/variables.ts';

const ENV = { KEY: 'secret', EMPTY: '', NESTED: '${KEY}' };

describe('a text', () => {
  it.each([
    ['plain', 'plain'],
    ['${KEY}', 'secret'],
    ['a-${KEY}-${KEY}', 'a-secret-secret'],
    ['${EMPTY}', ''],
    ['${NESTED}', '${KEY}'],
    ['$${KEY}', '${KEY}'],
    ['$KEY and $ {KEY}', '$KEY and $ {KEY}'],
  ])('%j is expanded to %j', (text, expanded) => {
    expect(expandVariables(text, ENV)).toEqual({ text: expanded, problems: [] });
  });
});

const NOT_A_NAME = 'expected a variable such as ${PANEL_API_KEY}; write $${ for a literal ${';

describe('a reference is a problem that quotes no value', () => {
  it.each([
    ['to a variable that isn’t set', '${MISSING}', 'the environment variable MISSING is not set'],
    ['that may be a secret', '${hunter2}', 'the environment variable named here is not set'],
    ['to a property of every object', '${toString}', 'the environment variable named here is not set'],
    ['that isn’t a name', '${a b}', NOT_A_NAME],
    ['without an end', '${KEY', NOT_A_NAME],
    [
      'with a default',
      '${KEY:-other}',
      'expected only a name in the braces, such as ${PANEL_API_KEY}: `:-` and what follows it is not supported; set the variable, or write the value itself',
    ],
  ])('%s', (_what, text, problem) => {
    expect(expandVariables(`x${text}`, ENV)).toEqual({ text: 'x', problems: [problem] });
  });

  it('once, however often it occurs', () => {
    expect(expandVariables('${MISSING} ${MISSING}', ENV).problems).toHaveLength(1);
  });
});
