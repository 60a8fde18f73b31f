import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { NEUTRAL, running, URGENT, URGENT_FLEET } from '../../../support/urgent-fleet.ts';
import { drawn, PageWindow } from './page-window.ts';

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }));

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const FLEET = { servers: URGENT_FLEET };
const names = [...URGENT, ...NEUTRAL];
const lose = (page: PageWindow) => page.sources.at(-1)?.dispatchEvent(new Event('error'));

describe('the connection', () => {
  it('is opened relative to the page, and shown as live from its first event', () => {
    const page = new PageWindow(FLEET);
    expect(page.sources.map(({ url }) => url)).toEqual(['api/v1/stream']);
    expect(page.all('#link, table')).toEqual([]);
    page.full();
    expect([page.text('#link'), page.names]).toEqual(['live', names]);
  });

  it('that ends is retried after a second, then less often, with what is known still shown', async () => {
    const page = PageWindow.live(FLEET);
    await page.click(page.row('calm'));
    const waits: number[] = [];
    for (const waitMs of [1_000, 1_500, 2_250, 3_375, 5_000, 5_000]) {
      lose(page);
      expect(page.sources.at(-1)?.isClosed).toBe(true);
      expect([page.one('#link').dataset['link'], page.names]).toEqual(['lost', names]);
      expect(document.body.classList.contains('lost')).toBe(true);
      const before = page.sources.length;
      await vi.advanceTimersByTimeAsync(waitMs - 1);
      expect(page.sources).toHaveLength(before);
      await vi.advanceTimersByTimeAsync(1);
      waits.push(page.sources.length - before);
    }
    expect(waits).toEqual([1, 1, 1, 1, 1, 1]);
    page.full();
    expect([page.text('#link'), document.body.className]).toEqual(['live', '']);
    expect(page.row('calm').getAttribute('aria-expanded')).toBe('true');
  });

  it('that is lost is shown with its time, in the tab too, while all ages grow', async () => {
    const page = PageWindow.live(FLEET);
    const since = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' }).format(1_700_001_000_000);
    expect(page.text('tr.server .since')).toBe('60 s ago');
    lose(page);
    await vi.advanceTimersByTimeAsync(40_000);
    expect(page.text('#link')).toBe(`no connection since ${since}`);
    expect(page.text('#link + .sub')).toBe('40 s, reconnecting');
    expect(page.text('tr.server .since')).toBe('100 s ago');
    expect(document.title).toBe(`No connection since ${since} · Game servers`);
    await vi.advanceTimersByTimeAsync(680_000);
    expect(page.text('#link + .sub')).toBe('12 min, reconnecting');
    expect(page.text('#link')).toBe(`no connection since ${since}`);
    page.full();
    expect(page.all('#link + .sub')).toEqual([]);
    expect(page.text('tr.server .since')).toBe('60 s ago');
    expect(document.title).toMatch(/^\(5\) 3\/8 running/);
  });

  it('that never was is shown since the page was opened', async () => {
    const page = new PageWindow(FLEET);
    lose(page);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(page.text('#link')).toMatch(/^no connection since \d/);
    expect(page.text('#link + .sub')).toBe('30 s, reconnecting');
  });

  it('without an event for fifteen seconds is lost, since that event', async () => {
    const page = PageWindow.live(FLEET);
    await vi.advanceTimersByTimeAsync(14_000);
    await page.change(FLEET);
    await vi.advanceTimersByTimeAsync(14_999);
    expect(page.text('#link')).toBe('live');
    await vi.advanceTimersByTimeAsync(1);
    expect(page.text('#link + .sub')).toBe('15 s, reconnecting');
  });

  it('that is lost makes no other requests', async () => {
    const history = { series: {}, state_changes: [], stops: {} };
    const page = PageWindow.live({ servers: [running('calm')], history });
    await page.click(page.row('calm'));
    expect(page.requests).toHaveLength(1);
    lose(page);
    await vi.advanceTimersByTimeAsync(60_000);
    await drawn();
    expect(page.requests).toHaveLength(1);
  });
});
