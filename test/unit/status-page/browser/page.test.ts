import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { VERSION } from '../../../support/page-data.ts';
import { panelReading } from '../../../support/readings.ts';
import { NEUTRAL, off, running, URGENT, URGENT_FLEET } from '../../../support/urgent-fleet.ts';
import { drawn, PageWindow } from './page-window.ts';

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const FLEET = { servers: URGENT_FLEET };
const names = [...URGENT, ...NEUTRAL];

describe('changes', () => {
  it('of a state are shown in the row, the counts and the title at once', async () => {
    const page = PageWindow.live({ servers: [running('a'), running('b')] });
    expect([page.cell('b', 'state'), document.title]).toEqual(['running', '2/2 running · Game servers']);
    expect(page.texts('.well')).toEqual(['No problems']);
    await page.change({ servers: [running('a'), off('b')] });
    expect([page.names, page.cell('b', 'state')]).toEqual([['b', 'a'], 'offline']);
    expect(document.title).toBe('(1) 1/2 running · Game servers');
    expect(page.text('.tile[data-show="state:offline"] b')).toBe('1');
    expect(page.texts('.well')).toEqual([]);
  });

  it('of values leave the rows where they are for five seconds, unless a problem begins or ends', async () => {
    const using = (a: number, b: number) => ({
      servers: [running('a', { cpu_usage_cores: a }), running('b', { cpu_usage_cores: b })],
    });
    const page = PageWindow.live(using(1, 0.5), '?sort=-cpu');
    await page.change(using(0.25, 0.5), 4);
    expect([page.names, page.cell('a', 'cpu')]).toEqual([['a', 'b'], '0.25 cores13 %']);
    await page.change(using(0.25, 0.5), 1);
    expect(page.names).toEqual(['b', 'a']);
  });

  it('keep the focus in a row that moves', async () => {
    const page = PageWindow.live({ servers: [running('a'), running('b'), running('c')] });
    page.row('c').focus();
    await page.change({ servers: [running('a'), running('b'), off('c')] });
    expect([page.names, page.focused]).toEqual([['c', 'a', 'b'], 'c']);
  });
});

describe('the address', () => {
  const ALL = '?show=attention%3Aany&sort=-cpu&q=lost&open=main%2Flost';

  it('has filter, search, order and open row', async () => {
    const page = PageWindow.live(FLEET);
    await page.click(page.button('Details'));
    await page.click(page.one('.counts .tile[data-show="attention:any"]'));
    await page.click(page.one('th.cpu button'));
    await page.search('lost');
    await page.click(page.row('lost'));
    expect(page.query).toBe(
      ALL.replace('show=attention%3Aany&sort=-cpu&q=lost&open', 'show=attention%3Aany&sort=-cpu&q=lost&open'),
    );
  });

  it('sets them when the page is opened', () => {
    const page = PageWindow.live(FLEET, ALL);
    expect((page.one('.search') as HTMLInputElement).value).toBe('lost');
    expect(page.one('th.cpu').getAttribute('aria-sort')).toBe('descending');
    expect([page.names, page.text('.count')]).toEqual([['lost'], '1 of 8']);
    expect(page.row('lost').getAttribute('aria-expanded')).toBe('true');
  });

  it('goes back and forward', async () => {
    const page = PageWindow.live(FLEET);
    await page.click(page.one('th.cpu button'));
    await page.click(page.row('lost'));
    history.back();
    await drawn();
    expect([page.query, page.all('tr.details').length]).toEqual(['?sort=-cpu', 0]);
    history.back();
    await drawn();
    expect([page.query, page.one('th.cpu').getAttribute('aria-sort')]).toEqual(['', null]);
    history.forward();
    history.forward();
    await drawn();
    expect(page.row('lost').getAttribute('aria-expanded')).toBe('true');
  });

  it('with filters that match nothing shows that, and how to show all', async () => {
    const page = PageWindow.live(FLEET, '?q=nobody&show=state%3Arunning');
    expect(page.text('.none p')).toBe('No server matches.');
    await page.click(page.button('Show all servers'));
    expect([page.names, page.query]).toEqual([names, '']);
  });
});

describe('without servers', () => {
  it('the page shows why', () => {
    const discovery = { isPending: false, succeededUnixMs: 1 } as never;
    const page = PageWindow.live({ servers: [], panels: [panelReading({ discovery })] });
    expect(page.text('.none')).toMatch(/^No servers to monitor\. Check which servers the account/);
    expect(page.all('.search, .sort, .clear')).toEqual([]);
  });
});

describe('the keyboard', () => {
  const servers = ['creative', 'valheim-1', 'valheim-2'].map((name) => running(name));

  it('searches, moves to the results, opens and closes a row', async () => {
    const page = PageWindow.live({ servers });
    expect(await page.press('/')).toBe(false);
    page.one('.search').focus();
    await page.search('valheim');
    expect(page.names).toEqual(['valheim-1', 'valheim-2']);
    expect([await page.press('ArrowDown'), page.focused]).toEqual([false, 'valheim-1']);
    await page.press('ArrowDown');
    expect(page.focused).toBe('valheim-2');
    await page.press('Enter');
    expect(page.row('valheim-2').getAttribute('aria-expanded')).toBe('true');
    await page.press('Escape');
    expect(page.all('tr.details')).toEqual([]);
    page.one('.search').focus();
    await page.press('Escape');
    expect([page.names.length, page.query]).toEqual([3, '']);
  });

  it('leaves shortcuts of the browser and what is typed elsewhere alone', async () => {
    const page = PageWindow.live({ servers });
    page.one('.sort').focus();
    expect(await page.press('/')).toBe(true);
    page.one('.search').focus();
    expect(await page.press('/')).toBe(true);
  });
});

it('the footer has the version of the page', () => {
  const page = new PageWindow(FLEET);
  expect(page.text('footer')).toBe(`gameserver-exporter ${VERSION} · Health · Readiness`);
});

it('the header shows which shard the page is of', () => {
  const page = PageWindow.live(FLEET);
  expect(page.text('header')).not.toContain('shard');
  page.window.document.documentElement.dataset['shard'] = '1 of 3';
  page.full();
  expect(page.text('header')).toContain('shard 1 of 3');
});

it('every link is relative, so that the page works below the path of a proxy', () => {
  const page = PageWindow.live(FLEET);
  const addresses = page
    .all('[href], [src]')
    .map((one) => one.getAttribute('href') ?? one.getAttribute('src') ?? '');
  expect(addresses.filter((address) => /^(?:\/|\w+:)/.test(address))).toEqual([]);
});
