import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { panelReading } from '../../../support/readings.ts';
import { manyRunning, NEUTRAL, URGENT, URGENT_FLEET } from '../../../support/urgent-fleet.ts';
import { PageWindow } from './page-window.ts';

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const ALL = [...URGENT, ...NEUTRAL];

describe('counts', () => {
  it.each([
    ['.summary', 'verdict:down', '2down', ['broken', 'forgotten']],
    ['.summary', 'verdict:no_data', '1no data', ['lost']],
    ['.summary', 'verdict:warning', '2warnings', ['hot', 'full']],
    ['.summary', 'state:running', '3running', ['hot', 'full', 'calm']],
    ['.counts', 'attention:any', '5problems', URGENT],
    ['.counts', 'attention:gave_up', '1restart aborted', ['broken']],
    ['.counts', 'attention:off', '1off, but expected to run', ['forgotten']],
    ['.counts', 'attention:cpu_saturated', '1CPU at its limit', ['hot']],
    ['.counts', 'attention:disk_nearly_full', '1disk nearly full', ['full']],
    ['.counts', 'state:offline', '3offline', ['broken', 'forgotten', 'spare']],
    ['.counts', 'condition:blocked', '1blocked', ['old-season']],
    ['.panel', 'panel:main', '8servers', ALL],
  ])('in %s of %s show how many, and filter by it', async (where, show, text, expected) => {
    const page = PageWindow.live({ servers: URGENT_FLEET });
    const tile = page.one(`${where} .tile[data-show="${show}"]`);
    expect([tile.textContent, tile.getAttribute('aria-pressed')]).toEqual([text, 'false']);
    await page.click(tile);
    expect([page.names, tile.getAttribute('aria-pressed')]).toEqual([expected, 'true']);
    expect(page.query).toBe(`?${new URLSearchParams({ show }).toString()}`);
    await page.click(tile);
    expect([page.names, page.query]).toEqual([ALL, '']);
  });

  it('have the total of all servers, which ends a filter', async () => {
    const page = PageWindow.live({ servers: URGENT_FLEET }, '?show=state%3Aoffline');
    expect([page.text('.total'), page.one('.total').getAttribute('aria-pressed')]).toEqual([
      '8servers',
      'false',
    ]);
    await page.click(page.one('.total'));
    expect([page.names, page.one('.total').getAttribute('aria-pressed')]).toEqual([ALL, 'true']);
  });

  it('are in named groups, behind a button', async () => {
    const page = PageWindow.live({ servers: URGENT_FLEET });
    expect(page.one('#more').hidden).toBe(true);
    await page.click(page.button('Details'));
    expect([page.one('#more').hidden, page.texts('.counts h3')]).toEqual([
      false,
      ['Problems', 'States', 'Monitoring'],
    ]);
  });

  it('of thousands have separators', () => {
    const page = PageWindow.live({ servers: manyRunning(1_234) });
    expect([page.text('.total strong'), document.title]).toEqual([
      '1,234',
      '1,234/1,234 running · Game servers',
    ]);
  });
});

describe('a panel', () => {
  it('that is down is shown above all servers, with why and what to do, until it is up', async () => {
    const down = panelReading({
      up: false,
      problems: [{ cause: 'connection', detail: 'connect ECONNREFUSED 127.0.0.1:80' }],
    });
    const page = PageWindow.live({ servers: URGENT_FLEET });
    expect(page.all('.notices .notice')).toEqual([]);
    await page.change({ servers: URGENT_FLEET, panels: [down] });
    expect(page.texts('.notices .notice')).toEqual([
      expect.stringMatching(/^Panel main: unreachablesince .*, 1 sCheck the setting url.*ECONNREFUSED/),
    ]);
    await page.change({ servers: URGENT_FLEET, panels: [panelReading()] });
    expect(page.all('.notices .notice')).toEqual([]);
  });

  it('shows the use of its rate limit', () => {
    const budget = { limitPerMinute: 192, usedLastMinute: 190, queueLength: 3, paused: true };
    const page = PageWindow.live({ servers: URGENT_FLEET, panels: [panelReading({ budget })] });
    expect(page.texts('.panel dd')).toEqual(['190 of 192', '3', '0', 'rate limit exceeded']);
    expect(page.one('.panel .fill').dataset['level']).toBe('warning');
  });
});
