import { afterEach, expect, it, vi } from 'vitest';
import { bar } from '../../../../src/status-page/browser/bar.tsx';
import { drawPart } from './drawn-parts.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

it.each([
  [0, undefined, '0%'],
  [49.6, 'warning', '50%'],
  [100, 'error', '100%'],
  [250, 'error', '100%'],
] as const)('%d %% with the level %s fills %s of a bar', (percent, level, width) => {
  const fill = drawPart(bar(percent, level)).querySelector<HTMLElement>('.fill');
  expect([fill?.style.width, fill?.getAttribute('data-level')]).toEqual([width, level ?? null]);
});
