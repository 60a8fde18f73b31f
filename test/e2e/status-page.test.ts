import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Simulator } from '../../src/simulator/api.ts';
import { DEMO_SERVERS, mixedServers } from '../../src/simulator/profiles.ts';
import type { ServerSpec } from '../../src/simulator/schema.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { LONGEST_WAIT_MS } from '../support/eventually.ts';
import { configFor, type ExporterUnderTest, fastClock, startExporter } from '../support/exporter.ts';

/** A second of the page passes in a fifth of one. */
const SPEED = 5;

/** The number of rows that may be drawn after a jump to the end, however many servers there are. */
const MAX_DRAWN = 200;

const HOSTILE = `<img src=x onerror="alert(1)">' &amp; <b>bold</b> \u202egnp.exe`;

let browser: Browser;
let panel: Simulator;
let exporter: ExporterUnderTest;
let clock: ReturnType<typeof fastClock>;
let troubles: string[];
let pages: Page[];

beforeAll(async () => {
  if (hasChromium) browser = await launchChromium();
});

afterAll(async () => {
  if (hasChromium) await browser.close();
});

beforeEach(() => {
  clock = fastClock(SPEED);
  [troubles, pages] = [[], []];
});

afterEach(async () => {
  await Promise.all(pages.map((page) => page.context().close()));
  await exporter.stop();
  await panel.stop();
});

async function start(servers?: number | readonly ServerSpec[]): Promise<void> {
  const specs = typeof servers === 'number' ? mixedServers(servers) : servers;
  const many = specs === undefined ? {} : { servers: specs, rateLimitPerMinute: 100_000 };
  panel = await startSimulator({ clock, ...many });
  exporter = await startExporter({ yaml: configFor(panel), clock });
}

/** Opens the page; any complaint of the browser fails the test that checks `troubles`. */
async function open(options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1_280, height: 800 }, ...options });
  const page = await context.newPage();
  pages.push(page);
  page.setDefaultTimeout(LONGEST_WAIT_MS);
  page.on('console', (message) => troubles.push(message.text()));
  page.on('pageerror', (error) => troubles.push(error.message));
  page.on('dialog', (dialog) => {
    troubles.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(exporter.url);
  if (options.javaScriptEnabled !== false) await page.locator('tr.server').first().waitFor();
  return page;
}

const row = (page: Page, name: string) => page.locator('tr.server').filter({ hasText: name }).first();
const names = (page: Page) => page.locator('tr.server .name').allTextContents();
const link = (page: Page) => page.locator('#link').textContent();
const focused = (page: Page) =>
  page.evaluate<string>(`document.activeElement.querySelector('.name')?.textContent`);

describe.skipIf(!hasChromium)('the status page in a browser', () => {
  it('loads, requests nothing from other hosts, and updates itself', async () => {
    await start();
    const page = await open();
    const addresses: string[] = [];
    page.on('request', (request) => addresses.push(request.url()));
    await page.reload();
    await expect.poll(() => row(page, 'survival').locator('td.state').textContent()).toBe('running');
    await expect
      .poll(() => row(page, 'old-season').locator('td.state').textContent())
      .toBe('no datasuspended');
    expect(await link(page)).toBe('live');
    const cpu = row(page, 'survival').locator('td.cpu .main');
    const before = await cpu.textContent();
    await expect.poll(() => cpu.textContent()).not.toBe(before);
    await expect
      .poll(() => row(page, 'survival').locator('svg.strip title').textContent())
      .toMatch(/^Last two hours: running \d+ s, no data 11[68] min$/);
    await expect.poll(() => page.locator('.panel dd').first().textContent()).toMatch(/^\d+ of 192$/);
    expect(addresses.filter((address) => !address.startsWith(exporter.url))).toEqual([]);
    expect(troubles).toEqual([]);
  });

  it('shows a change of state within seconds, in the row, the summary, and the open row', async () => {
    await start();
    const page = await open();
    await expect.poll(() => row(page, 'survival').locator('.badge').textContent()).toBe('running');
    await row(page, 'survival').click();
    await page.locator('.detail .times span:not(:empty)').first().waitFor();
    panel.power('survival', 'stop');
    await expect.poll(() => row(page, 'survival').locator('.badge').textContent()).toBe('offline');
    await expect
      .poll(() => page.locator('.changes .badge').allTextContents())
      .toEqual(expect.arrayContaining(['offline']));
    expect(await page.locator('.tile[data-show="state:offline"] b').textContent()).toBe('2');
    panel.power('survival', 'start');
    await expect.poll(() => page.locator('.changes .badge').first().textContent()).toBe('running');
    expect(troubles).toEqual([]);
  });

  it('sorts by a column, in both directions and not at all, and shows it', async () => {
    // None of them crashes meanwhile, which would change the order by attention.
    await start(
      DEMO_SERVERS.filter(({ crashEveryMs, profile }) => crashEveryMs === undefined && profile !== 'offline'),
    );
    const page = await open();
    const configured = await names(page);
    await expect.poll(() => page.locator('.well').isVisible()).toBe(true);
    const heading = page.locator('th.who');
    const sorted = configured.toSorted((a, b) => a.localeCompare(b, undefined, { numeric: true }));
    await heading.getByRole('button').click();
    expect([await names(page), await heading.getAttribute('aria-sort')]).toEqual([sorted, 'ascending']);
    await heading.getByRole('button').click();
    expect([await names(page), await heading.getAttribute('aria-sort')]).toEqual([
      sorted.toReversed(),
      'descending',
    ]);
    await heading.getByRole('button').click();
    expect([await names(page), await heading.getAttribute('aria-sort')]).toEqual([configured, null]);
  });

  it('can be used with the keyboard', async () => {
    await start();
    const page = await open();
    await page.keyboard.press('/');
    await page.keyboard.type('valheim');
    expect(await page.getByRole('searchbox').inputValue()).toBe('valheim');
    await page.keyboard.press('ArrowDown');
    expect(await focused(page)).toBe('valheim-1');
    await page.keyboard.press('ArrowDown');
    expect(await focused(page)).toBe('valheim-2');
    await page.keyboard.press('Enter');
    await page.locator('.detail .times span:not(:empty)').first().waitFor();
    expect(await row(page, 'valheim-2').getAttribute('aria-expanded')).toBe('true');
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('tr.details').count()).toBe(0);
    await page.keyboard.press('/');
    await page.keyboard.press('Escape');
    await expect.poll(() => names(page)).toHaveLength(12);
    await page.locator('th.cpu button').focus();
    await page.keyboard.press('Enter');
    expect(await page.locator('th.cpu').getAttribute('aria-sort')).toBe('descending');
    expect(troubles).toEqual([]);
  });

  it('survives a restart of the exporter: it reports the lost connection, reconnects, and shows new data', async () => {
    await start();
    const page = await open();
    await row(page, 'survival').click();
    await page.locator('.detail').waitFor();
    const { port } = new URL(exporter.url);
    await exporter.stop();
    await expect.poll(() => link(page)).toBe('connection lost, reconnecting');
    const servers = panel.servers.filter(({ name }) => name !== 'lobby');
    exporter = await startExporter({ yaml: configFor(panel, [], servers), clock, port: Number(port) });
    await expect.poll(() => link(page)).toBe('live');
    await expect.poll(() => names(page)).not.toContain('lobby');
    await expect.poll(() => row(page, 'survival').locator('.badge').textContent()).toBe('running');
    expect(await row(page, 'survival').getAttribute('aria-expanded')).toBe('true');
  });

  it('shows a hostile name as text', async () => {
    panel = await startSimulator({ clock });
    const [first, ...others] = panel.servers;
    if (first === undefined) throw new Error('the panel has no servers');
    const yaml = configFor(panel, [], others);
    const entry = `      - { id: "${first.identifier}", name: ${JSON.stringify(HOSTILE)}, labels: { game: "<b>" } }`;
    exporter = await startExporter({ yaml: `${yaml}\n${entry}`, clock });
    const page = await open();
    await page.locator('th.who button').click();
    const shown = page.locator('tr.server').filter({ hasText: 'gnp.exe' });
    await expect.poll(() => shown.locator('.name').textContent()).toBe(HOSTILE);
    await shown.click();
    await page.locator('.detail .times span:not(:empty)').first().waitFor();
    expect(await page.locator('main img, main b:not(.tile b, .chart b), main script').count()).toBe(0);
    expect(
      await page.evaluate<string>(`getComputedStyle(document.querySelector('tr.server .name')).unicodeBidi`),
    ).toBe('isolate');
    expect(troubles).toEqual([]);
  });

  it('shows why a panel is down and what to do above all servers, which share a line until they are searched for', async () => {
    await start();
    const page = await open();
    const problem = page.locator('.notices .notice');
    expect(await problem.count()).toBe(0);
    await panel.stopListening();
    await expect
      .poll(() => problem.allTextContents())
      .toContainEqual(
        expect.stringMatching(/^Panel main is down: unreachableCheck the setting url.*ECONNREFUSED/),
      );
    // Twelve servers without data, of which one is suspended, for one cause.
    await expect.poll(() => names(page)).toEqual(['11 servers', 'old-season']);
    await page.locator('tr.group').click();
    await expect.poll(() => names(page)).toHaveLength(13);
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => names(page)).toHaveLength(2);
    await page.locator('.tile[data-show="attention:no_data"]').first().click();
    await expect.poll(() => names(page)).toHaveLength(11);
    expect(await page.locator('.well').isVisible()).toBe(false);
    await panel.startListening();
    await expect.poll(() => problem.count()).toBe(0);
  });

  it('refers to the JSON without scripts', async () => {
    await start();
    const page = await open({ javaScriptEnabled: false });
    expect(await page.locator('noscript').textContent()).toContain('This page requires JavaScript.');
    expect(await page.locator('noscript a').getAttribute('href')).toBe('api/v1/servers');
  });

  it('is dark, with its charts, if the system is, or if the user chooses it', async () => {
    await start();
    const light = 'rgb(244, 246, 249)';
    const dark = 'rgb(14, 19, 26)';
    const ground = (page: Page) => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    expect(await ground(await open({ colorScheme: 'light' }))).toBe(light);
    const page = await open({ colorScheme: 'dark' });
    expect(await ground(page)).toBe(dark);
    await page.getByRole('button', { name: 'Theme: system' }).click();
    expect(await ground(page)).toBe(light);
    await page.reload();
    expect(await ground(page)).toBe(light);
    await row(page, 'survival').click();
    await page.locator('.chart .used').first().waitFor();
    const line = () =>
      page.evaluate<string>(`getComputedStyle(document.querySelector('.chart .used')).stroke`);
    await expect.poll(line).toBe('rgb(37, 99, 235)');
    await page.getByRole('button', { name: 'Theme: light' }).click();
    expect(await ground(page)).toBe(dark);
    await expect.poll(line).toBe('rgb(110, 160, 255)');
    await expect.poll(() => page.locator('.chart .legend b').first().textContent()).toMatch(/^\d/);
  });

  it('fits a phone: nothing is wider than the screen, and a list changes the order', async () => {
    await start();
    const page = await open({ viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true });
    const width = () => page.evaluate<number>('document.documentElement.scrollWidth');
    expect(await width()).toBe(360);
    await page.getByRole('combobox', { name: 'Sort' }).selectOption({ label: 'Sort: server' });
    expect((await names(page))[0]).toBe('creative');
    await row(page, 'creative').tap();
    await page.locator('.detail .times span:not(:empty)').first().waitFor();
    expect(await width()).toBe(360);
    expect(troubles).toEqual([]);
  });

  it('works below the path of a proxy: every request stays relative to the page', async () => {
    await start();
    const context = await browser.newContext();
    const page = await context.newPage();
    pages.push(page);
    const { origin } = new URL(exporter.url);
    await page.route('**/*', async (route) => {
      const { pathname, search } = new URL(route.request().url());
      if (!pathname.startsWith('/below/here/')) return route.abort();
      return route.continue({ url: `${origin}/${pathname.slice('/below/here/'.length)}${search}` });
    });
    await page.goto(`${origin}/below/here/`);
    await page.locator('tr.server').first().waitFor();
    await expect.poll(() => link(page)).toBe('live');
  });
});

describe.skipIf(!hasChromium)('5,000 servers in a browser', () => {
  it('are drawn only near the viewport, scroll to the last, and sort', async () => {
    await start(5_000);
    const page = await open();
    const drawn = () => page.locator('tr.server .badge').count();
    expect(await page.locator('.total strong').textContent()).toBe('5,000');
    await page.evaluate('scrollTo(0, document.body.scrollHeight)');
    await expect.poll(() => names(page)).toContain('server-5000');
    expect(await page.locator('tr.server').count()).toBeGreaterThan(4_900);
    expect(await drawn()).toBeLessThan(MAX_DRAWN);
    const height = await page.evaluate<number>(`document.querySelector('table').offsetHeight`);
    expect(height).toBeGreaterThan(4_900 * 58);
    await page.getByRole('searchbox').fill('server-4321');
    await expect.poll(() => names(page)).toEqual(['server-4321']);
    await page.getByRole('searchbox').fill('');
    await page.evaluate('scrollTo(0, 0)');
    await page.locator('th.who button').click();
    await page.locator('th.who button').click();
    await expect.poll(async () => (await names(page))[0]).toBe('valheim-2');
    await page.locator('tr.server').first().focus();
    await page.keyboard.press('End');
    await expect.poll(() => focused(page)).toBe('creative');
    expect(troubles).toEqual([]);
  });
});
