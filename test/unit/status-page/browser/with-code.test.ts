import { afterEach, expect, it, vi } from 'vitest';
import { withCode } from '../../../../src/status-page/browser/with-code.tsx';
import { drawPart } from './drawn-parts.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

it.each([
  ['a text', 'a text'],
  ['Check `url` and `servers`.', 'Check <code>url</code> and <code>servers</code>.'],
  ['`url`', '<code>url</code>'],
  ['<b>`<i>`', '&lt;b&gt;<code>&lt;i&gt;</code>'],
])('the names in %s are code', (text, html) => {
  expect(drawPart(withCode(text)).innerHTML).toBe(html);
});
