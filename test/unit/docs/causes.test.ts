import { describe, expect, it } from 'vitest';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import { renderCauses } from '../../support/cause-tables.ts';
import { documents, proseOf } from '../../support/documents.ts';
import { expectSection } from '../../support/generated.ts';

const CODES: ReadonlySet<string> = new Set(Object.keys(CAUSES));

it('the troubleshooting page lists every cause', () => {
  expectSection('docs/troubleshooting.md', 'causes', renderCauses());
});

/** The sentences of a text without their formatting, except for short ones, which fit any cause. */
function sentencesOf(text: string): readonly string[] {
  return text
    .replaceAll(/\s+/g, ' ')
    .split(/(?<=[.:!?]) /)
    .map((sentence) => sentence.replace(/[.:!?]+$/, ''))
    .filter((sentence) => sentence.length >= 30);
}

describe('what a cause means, and what to do, is written only in its entry, and in the program’s output', () => {
  const copied = new Set(
    Object.values(CAUSES).flatMap(({ meaning, remedy }) => sentencesOf(`${meaning} ${remedy}`)),
  );

  it.each(documents())('and not in $path', ({ text }) => {
    const generated = /<!-- begin causes -->[^]*<!-- end causes -->/;
    expect(
      sentencesOf(proseOf({ text: text.replace(generated, '') })).filter((sentence) => copied.has(sentence)),
    ).toEqual([]);
  });
});

/**
 * The codes that a page presents as causes: after the word cause, as the value of a label, and in
 * columns with the heading cause.
 */
function codesIn(text: string): readonly string[] {
  const listed = [...text.matchAll(/\bcauses?:? ((?:`[a-z_]+`(?: \([^)]*\))?(?:,| and| or)?\s*)+)/g)].flatMap(
    ([, list = '']) => [...list.matchAll(/`([a-z_]+)`/g)].map(([, code = '']) => code),
  );
  const labels = [...text.matchAll(/\bcause="([^"]*)"/g)].map(([, code = '']) => code);
  return [...listed, ...labels, ...columnCodes(text)];
}

function columnCodes(text: string): readonly string[] {
  const codes: string[] = [];
  let columns: readonly number[] = [];
  for (const line of text.split('\n')) {
    const cells = line.startsWith('|')
      ? line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim())
      : [];
    const isHeading = cells.some((cell) => /^cause\b/.test(cell));
    if (cells.length === 0 || isHeading) {
      columns = cells.flatMap((cell, index) => (/^cause\b/.test(cell) ? [index] : []));
      continue;
    }
    for (const column of columns) {
      codes.push(...[...(cells[column] ?? '').matchAll(/`([a-z_]+)`/g)].map(([, code = '']) => code));
    }
  }
  return codes;
}

describe('every cause code that a page mentions exists', () => {
  it.each(documents())('in $path', ({ text }) => {
    expect(codesIn(text).filter((code) => !CODES.has(code))).toEqual([]);
  });

  it('and an unknown code is detected', () => {
    const text =
      'the causes `origin`, `gone` (long ago) and `lost`; cause="nothing"\n\n| x | cause for a node |\n| --- | --- |\n| `a` | `none` |\n';
    expect(codesIn(text).filter((code) => !CODES.has(code))).toEqual(['gone', 'lost', 'nothing', 'none']);
  });
});
