import { afterEach, describe, expect, it, vi } from 'vitest';
import { ago, minuteOfDay, time, timeOfDay } from '../../../../src/status-page/browser/times.tsx';
import { drawPart } from './drawn-parts.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

const NOW = new Date(2026, 10, 29, 12, 34, 56).getTime() / 1_000;
const YESTERDAY = NOW - 86_400;

it('an instant is a text with its exact time', () => {
  const drawn = drawPart(time(1_700_000_000, 'a while ago', 'since')).querySelector('time');
  expect(drawn?.textContent).toBe('a while ago');
  expect(drawn?.getAttribute('class')).toBe('since');
  expect(drawn?.getAttribute('datetime')).toBe('2023-11-14T22:13:20.000Z');
  expect(drawn?.getAttribute('title')).toContain('2023');
});

it.each([
  [60, '60 s ago'],
  [600, '10 min ago'],
  [-5, '0 s ago'],
])('%d seconds before now is %s', (seconds, text) => {
  expect(ago(NOW - seconds, NOW)).toBe(text);
});

describe('a time of day', () => {
  it.each([
    ['has no date today', timeOfDay(NOW, NOW), /34:56/, false],
    ['has its date on another day', timeOfDay(YESTERDAY, NOW), /34:56/, true],
    ['may have no seconds', minuteOfDay(NOW, NOW), /34(?!:56)/, false],
    ['may have no seconds on another day', minuteOfDay(YESTERDAY, NOW), /34(?!:56)/, true],
  ])('%s', (_what, text, pattern, hasDate) => {
    expect(text).toMatch(pattern);
    expect(/28/.test(text)).toBe(hasDate);
  });
});
