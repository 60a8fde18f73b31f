import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { URGENT_FLEET } from '../../../support/urgent-fleet.ts';
import { PageWindow } from './page-window.ts';

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('colors', () => {
  it("are the system's, or those that the viewer chose before", async () => {
    const page = PageWindow.live({ servers: URGENT_FLEET });
    const colors = () => [page.text('.theme'), document.documentElement.style.colorScheme];
    expect(colors()).toEqual(['Theme: system', 'light dark']);
    await page.click(page.one('.theme'));
    expect(colors()).toEqual(['Theme: light', 'light']);
    await page.click(page.one('.theme'));
    expect(colors()).toEqual(['Theme: dark', 'dark']);
    const again = new PageWindow({ servers: URGENT_FLEET }, '', page);
    again.full();
    expect(colors()).toEqual(['Theme: dark', 'dark']);
    await again.click(again.one('.theme'));
    expect(colors()).toEqual(['Theme: system', 'light dark']);
  });
});
