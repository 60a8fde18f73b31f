import { describe, expect, it } from 'vitest';
import { remembered } from '../../../src/addresses/remembered.ts';

/** A function that remembers the lengths of texts, and the texts whose length it computed. */
function stage(keyFor: (text: string) => string | undefined = (text) => text) {
  const asked: string[] = [];
  const find = (text: string) => {
    asked.push(text);
    return text.length > 0 ? text.length : undefined;
  };
  return { lengthOf: remembered(find, keyFor), asked };
}

describe('a value', () => {
  it('is found once for a text, even if it is undefined', () => {
    const { lengthOf, asked } = stage();
    expect(['ab', '', 'ab', ''].map(lengthOf)).toEqual([2, undefined, 2, undefined]);
    expect(asked).toEqual(['ab', '']);
  });

  it('is found once for all texts with the same key', () => {
    const { lengthOf, asked } = stage((text) => text[0]);
    expect(['ab', 'abc', 'b'].map(lengthOf)).toEqual([2, 2, 1]);
    expect(asked).toEqual(['ab', 'b']);
  });

  it('is found each time for a text without a key', () => {
    const { lengthOf, asked } = stage(() => undefined);
    expect(['ab', 'ab'].map(lengthOf)).toEqual([2, 2]);
    expect(asked).toEqual(['ab', 'ab']);
  });

  it('is forgotten with all others when there are too many', () => {
    const { lengthOf, asked } = stage();
    const texts = Array.from({ length: 1_000 }, (_, index) => `text ${index}`);
    for (const text of [...texts, ...texts]) lengthOf(text);
    expect(asked).toEqual(texts);
    lengthOf('one more');
    for (const text of texts) lengthOf(text);
    expect(asked).toEqual([...texts, 'one more', ...texts]);
  });
});
