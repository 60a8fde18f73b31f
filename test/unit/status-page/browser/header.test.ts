import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ColorScheme } from '../../../../src/status-page/browser/color-scheme.ts';
import { header } from '../../../../src/status-page/browser/header.tsx';
import { drawPart } from './drawn-parts.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

type Header = Parameters<typeof header>[0];

const onScheme = vi.fn<(scheme: ColorScheme) => void>();

/** The bar of a page for this shard. */
function draw(changes: Partial<Header> = {}, shard?: string) {
  // The bar reads the page's document, which has to exist before it.
  drawPart(undefined);
  if (shard !== undefined) document.documentElement.dataset['shard'] = shard;
  const part = header({ lost: undefined, isLive: true, scheme: 'auto', onScheme, ...changes });
  return drawPart(part);
}

describe('the bar', () => {
  it.each<[string, Partial<Header>, string | undefined, string | undefined]>([
    ['is live', {}, 'live', undefined],
    ['waits for the first event', { isLive: false }, undefined, undefined],
    [
      'has lost its connection',
      { lost: { since: '12:34', for: '5 min' } },
      'no connection since 12:34',
      '5 min, reconnecting',
    ],
    [
      'never had one',
      { isLive: false, lost: { since: '12:34', for: '5 min' } },
      'no connection since 12:34',
      '5 min, reconnecting',
    ],
  ])('says whether the page %s', (_what, changes, status, more) => {
    const drawn = draw(changes);
    expect(drawn.querySelector('#link')?.textContent).toBe(status);
    expect(drawn.querySelector('.sub')?.textContent).toBe(more);
    const color = drawn.querySelector('#link')?.getAttribute('data-link');
    expect(color).toBe(status === undefined ? undefined : more === undefined ? 'live' : 'lost');
  });

  it('says which shard the exporter monitors', () => {
    expect(draw({}, '1/3').querySelector('.sub')?.textContent).toBe('shard 1/3');
  });

  it.each<[ColorScheme, string]>([
    ['auto', 'Theme: system'],
    ['light', 'Theme: light'],
    ['dark', 'Theme: dark'],
  ])('switches from the colors %s', (scheme, text) => {
    const button = draw({ scheme }).querySelector('button');
    expect(button?.textContent).toBe(text);
    button?.click();
    expect(onScheme).toHaveBeenLastCalledWith(expect.not.stringMatching(scheme));
  });
});
