import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { crash, NOW, off, URGENT_FLEET } from '../../../support/urgent-fleet.ts';
import { drawn, PageWindow } from './page-window.ts';

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const HISTORY = {
  end_timestamp_seconds: NOW,
  step_seconds: 15,
  series: { cpu_usage_cores: [...Array.from({ length: 58 }, () => null), 1, 1.5] },
  state_changes: [
    { timestamp_seconds: NOW - 600, state: 'running' },
    { timestamp_seconds: NOW - 60, state: 'offline', reason: 'crashed', exit_code: 139 },
  ],
  stops: { crashed: 2, requested: 0 },
};

async function opened(name: string, history: unknown = HISTORY): Promise<PageWindow> {
  const page = PageWindow.live({ servers: URGENT_FLEET, history });
  await page.click(page.row(name));
  return page;
}

describe('an open row', () => {
  it('has stop reasons, exit codes, starts, and what is known of the server', async () => {
    const page = await opened('broken');
    const facts = Object.fromEntries(
      page.all('.facts dt').map((term) => [term.textContent, term.nextElementSibling?.textContent]),
    );
    expect(facts).toEqual({
      Panel: 'main',
      ID: 'broken',
      Node: 'fra-1',
      Egg: 'Paper',
      Limits: '2 cores · 4.2 GiB memory · 10 GiB disk',
      Expected: 'running',
      Monitoring: 'streaming',
      'Last stop': 'crashed, exit code 13960 s ago',
      Starts: '1',
      Stops: '2 crashed',
    });
  });

  it('has the uptime of a server that runs', async () => {
    expect((await opened('calm')).text('.facts')).toMatch(/Uptime\d+ (s|min|h|d)/);
  });

  it('has what to do and what happened, below the title in the row', async () => {
    const page = await opened('broken');
    expect(page.cell('broken', 'problem')).toContain('Restart aborted, exit 139');
    expect(page.texts('.detail .notice')).toEqual(['Check its console for the cause. Then start it.']);
    expect((await opened('lost')).text('.detail .observed')).toContain('ECONNREFUSED');
    expect((await opened('calm')).all('.detail .notice')).toEqual([]);
  });

  it('has the address at which players join', async () => {
    const page = await opened('calm', { ...HISTORY, address: 'play.example.com:25565' });
    expect(page.text('.facts')).toContain('Addressplay.example.com:25565');
  });

  it('has its state changes, newest first', async () => {
    const page = await opened('broken');
    const [first] = page.all('.changes li');
    expect(first?.querySelector<HTMLElement>('.badge')?.dataset['state']).toBe('down');
    expect(first?.textContent).toMatch(/^offlinecrashed, exit code 139/);
    expect(page.all('.changes li')).toHaveLength(2);
  });

  it('links to the server in the panel', async () => {
    const link = (await opened('broken')).one('.panel-link');
    expect([link.getAttribute('href'), link.getAttribute('rel')]).toEqual([
      'https://panel.example/server/broken',
      'noopener noreferrer',
    ]);
  });

  it("has instants in the viewer's time zone", async () => {
    const page = await opened('broken');
    const time = page.one('.changes time');
    const instant = new Date((NOW - 60) * 1_000);
    expect(time.getAttribute('datetime')).toBe(instant.toISOString());
    const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });
    expect(time.getAttribute('title')).toBe(full.format(instant));
  });

  it('has charts, whose legends have the newest value and a limit that is near', async () => {
    const page = await opened('broken');
    expect(page.texts('.chart h3')).toEqual(['CPU, cores', 'Memory', 'Network']);
    expect(page.texts('.chart:first-child .legend > span')).toEqual(['used 1.50', 'limit 2.00']);
    expect(page.one('.chart:first-child .used').getAttribute('d')).not.toBe('');
    expect(page.texts('.chart:first-child .times span').filter(Boolean)).toHaveLength(2);
  });

  it('requests its history when it opens, and again for another state or step', async () => {
    const page = await opened('forgotten');
    expect(page.requests).toEqual(['api/v1/history?server=main%2Fforgotte']);
    await page.change({ servers: URGENT_FLEET });
    await drawn();
    expect(page.requests).toHaveLength(1);
    const stopped = off('forgotten', { last_stop: crash(1, 1) });
    const servers = URGENT_FLEET.map((one) => (one.target.name === 'forgotten' ? stopped : one));
    await page.change({ servers });
    await drawn();
    expect(page.requests).toHaveLength(2);
    await page.change({ servers }, 60);
    await drawn();
    expect(page.requests).toHaveLength(3);
  });

  it('without a response has no charts yet, and asks again with the next change', async () => {
    const page = await opened('calm', null);
    expect(page.text('.history')).toBe('State changesNone yet.');
    await page.change({ servers: URGENT_FLEET, history: HISTORY });
    await drawn();
    expect([page.requests.length, page.all('.changes li').length]).toEqual([2, 2]);
  });
});
