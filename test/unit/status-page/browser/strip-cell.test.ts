import { afterEach, describe, expect, it, vi } from 'vitest';
import { stripCell } from '../../../../src/status-page/browser/strip-cell.tsx';
import { drawPart } from './drawn-parts.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

/** The title of a strip, and the shapes of its states. */
function shown(text: string) {
  const drawn = drawPart(stripCell(text));
  const paths = [...drawn.querySelectorAll('path')].map((path) => [
    path.getAttribute('class'),
    path.getAttribute('d'),
  ]);
  return {
    title: drawn.querySelector('title')?.textContent,
    shapes: Object.fromEntries(paths.filter(([, shape]) => shape !== '')) as object,
  };
}

describe('a strip', () => {
  it.each([
    ['without data', '', 'no data 2 h', { unknown: 'M0 0h60v1h-60z' }],
    ['of one state', 'r60;r7200', 'running 2 h', { running: 'M0 0h60v1h-60z' }],
    [
      'of several states, the worst first',
      'u30r20d10;r2400o60d1140',
      'down 19 min, off 60 s, running 40 min, no data 60 min',
      { unknown: 'M0 0h30v1h-30z', running: 'M30 0h20v1h-20z', down: 'M50 0h10v1h-10z' },
    ],
    [
      'of a state that returns',
      'r20c20r20;r4800c2400',
      'starting or stopping 40 min, running 80 min',
      { running: 'M0 0h20v1h-20zM40 0h20v1h-20z', changing: 'M20 0h20v1h-20z' },
    ],
  ])('%s', (_what, text, title, shapes) => {
    expect(shown(text)).toEqual({ title: `Last two hours: ${title}`, shapes });
  });
});
