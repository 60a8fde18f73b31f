import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withoutConcealment } from '../../../src/console/colors.ts';
import { cleanLines } from '../../../src/console/messages.ts';

const sgr = (...parameters: readonly string[]) => parameters.map((one) => `\u001b[${one}m`).join('');

describe('colors that hide text', () => {
  it.each([
    ['concealed text', '8', ''],
    ['concealed among other attributes', '1;8;31', '1;31'],
    ['black on black', '30;40', '30;40;49;39'],
    ['black on black, background first', '40;30', '40;30;49;39'],
    ['bright red on bright red', '91;101', '91;101;49'],
    ['a palette color on its basic form', '31;48;5;1', '31;48;5;1;49'],
    ['a palette color on itself', '38;5;123;48;5;123', '38;5;123;48;5;123;49'],
    ['a gray on the next gray', '38;5;240;48;5;241', '38;5;240;48;5;241;49'],
    ['RGB on itself', '38;2;10;20;30;48;2;10;20;30', '38;2;10;20;30;48;2;10;20;30;49;39'],
    ['RGB on a similar color', '38;2;10;20;30;48;2;12;22;32', '38;2;10;20;30;48;2;12;22;32;49;39'],
    ['RGB with colons', '38:2::10:20:30;48:2:10:20:30', '38:2::10:20:30;48:2:10:20:30;49;39'],
    ['black in one notation on black in another', '38;2;0;0;0;40', '38;2;0;0;0;40;49;39'],
    ['black', '30', '30;39'],
    ['bold black', '1;30', '1;30;39'],
    ['black of the palette', '38;5;0', '38;5;0;39'],
    ['black of the color cube', '38;5;16', '38;5;16;39'],
    ['near-black of the color cube', '38;5;17', '38;5;17;39'],
    ['near-black gray', '38;5;234', '38;5;234;39'],
    ['black in RGB', '38;2;0;0;0', '38;2;0;0;0;39'],
    ['near-black in RGB with colons', '38:2::8:8:8', '38:2::8:8:8;39'],
    ['black, inverted', '7;30', '7;30;39'],
    ['a black background behind the default color', '40', '40;49'],
    ['a white background behind the default color', '47', '47;49'],
    ['a near-white background behind the default color', '48;5;255', '48;5;255;49'],
  ])('are removed: %s', (_, before, after) => {
    expect(withoutConcealment(`a${sgr(before)}b`)).toBe(`a${after === '' ? '' : sgr(after)}b`);
  });

  it('are removed if they arrive separately or inverted', () => {
    expect(withoutConcealment(`${sgr('31', '41')}x`)).toBe(`${sgr('31', '41;49')}x`);
    expect(withoutConcealment(`${sgr('7', '31', '41')}x`)).toBe(`${sgr('7', '31', '41;49')}x`);
    expect(withoutConcealment(`${sgr('30', '47')}x`)).toBe(`${sgr('30;39', '47;49')}x`);
    expect(withoutConcealment(`${sgr('47;30', '49')}x`)).toBe(`${sgr('47;30', '49;39')}x`);
    expect(withoutConcealment(`${sgr('31;40', '39')}x`)).toBe(`${sgr('31;40', '39;49')}x`);
    expect(cleanLines(`${sgr('8')}hidden\n${sgr('30;40')}too`, true)).toEqual([
      'hidden',
      `${sgr('30;40;49;39')}too${sgr('0')}`,
    ]);
  });

  it.each([
    '31',
    '1;4;31',
    '0',
    '',
    '37;41',
    '30;47',
    '38;5;8',
    '48;5;8',
    '58;5;8',
    '38;2;60;60;60',
    '90',
    '34',
    '37',
    '38;2;0;0;0;48;2;255;255;255',
    '37;40',
    '44',
    '38;2;255;255;255;48;2;0;0;0',
    '31;41;0;31',
    '28',
  ])('do not include others, which are kept: %s', (parameters) => {
    const line = `a${sgr(parameters)}b`;
    expect(withoutConcealment(line)).toBe(line);
  });

  it('never remove a letter, whatever the sequence', () => {
    const parameters = fc.string({ unit: fc.constantFrom(...Array.from('0123458;:')), maxLength: 20 });
    fc.assert(
      fc.property(fc.array(parameters, { maxLength: 5 }), (all) => {
        const shown = withoutConcealment(all.map((one) => `${sgr(one)}x`).join(''));
        // eslint-disable-next-line no-control-regex -- the test looks for escape sequences
        expect(shown.replaceAll(/\u001b\[[\d;:]*m/g, '')).toBe('x'.repeat(all.length));
      }),
    );
  });
});
