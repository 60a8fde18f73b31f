// Tests of the status page that need a browser. All others are in `test/unit/status-page`.
import axe from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { ServerReading } from '../../src/domain/reading.ts';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { LONGEST_WAIT_MS } from '../support/eventually.ts';
import { configFor, fastClock, startExporter } from '../support/exporter.ts';
import { panelReading } from '../support/readings.ts';
import { scriptedExporter } from '../support/scripted-exporter.ts';
import { simulated } from '../support/stage.ts';
import { crash, manyRunning, NEUTRAL, off, running, URGENT, URGENT_FLEET } from '../support/urgent-fleet.ts';

const WIDTHS = [375, 768, 1_000, 1_280];

/** The maximum number of rows in the document after a jump to the end of a long list. */
const MAX_DRAWN = 200;

let browser: Browser;
let complaints: string[] = [];

beforeAll(async () => {
  if (hasChromium) browser = await launchChromium();
});

afterAll(async () => {
  if (hasChromium) await browser.close();
});

afterEach(() => expect(complaints.splice(0)).toEqual([]));

/** Opens a page in a new window. Errors in the browser's console fail the test. */
async function open(url: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1_280, height: 900 }, ...options });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(LONGEST_WAIT_MS);
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(url);
  return page;
}

async function scripted(servers: readonly ServerReading[] = URGENT_FLEET, panels = [panelReading()]) {
  const exporter = await scriptedExporter(servers, panels);
  onTestFinished(() => exporter.stop());
  return exporter;
}

/** Opens the page with these servers, and waits until it is live. */
async function shown(servers?: readonly ServerReading[], options?: BrowserContextOptions) {
  const exporter = await scripted(servers);
  const page = await open(exporter.url, options);
  await page.locator('#link[data-link=live]').waitFor();
  return { exporter, page };
}

const names = (page: Page) => page.locator('tr.server .name').allTextContents();
const row = (page: Page, name: string) =>
  page.locator('tr.server').filter({ has: page.locator(`.name:text-is("${name}")`) });
const focused = (page: Page) =>
  page.evaluate<string>(`document.activeElement.querySelector('.name')?.textContent`);
const pageWidth = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth');

/** Waits until the browser has painted the last change. */
const painted = (page: Page) =>
  page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');

/** Opens the details of a server, and waits for their charts. */
async function openRow(page: Page, name: string): Promise<void> {
  await row(page, name).click();
  await page.locator('.detail').waitFor();
}

describe.skipIf(!hasChromium)('the status page of an exporter', () => {
  it.each(['pterodactyl', 'calagopus'] as const)(
    'loads below the path of a proxy, requests nothing else, and follows its servers and a restart: %s',
    async (kind) => {
      const clock = fastClock(20);
      const panel = await simulated({ clock, panel: kind });
      let exporter = await startExporter({ yaml: configFor(panel), clock });
      onTestFinished(() => exporter.stop());
      const { origin, port } = new URL(exporter.url);
      const addresses: string[] = [];
      const page = await open('about:blank');
      await page.route('**/*', async (route) => {
        const { href, pathname, search } = new URL(route.request().url());
        addresses.push(href);
        if (!pathname.startsWith('/below/here/')) return route.abort();
        return route.continue({ url: `${origin}/${pathname.slice('/below/here/'.length)}${search}` });
      });
      await page.goto(`${origin}/below/here/`);
      const badge = row(page, 'survival').locator('.badge');
      await expect.poll(() => badge.textContent()).toBe('running');
      expect(await page.locator('#link').textContent()).toBe('live');
      await page.keyboard.press('/');
      await page.keyboard.type('survival');
      await expect.poll(() => names(page)).toEqual(['survival']);
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await page.locator('.detail .times span:not(:empty)').first().waitFor();
      await expect.poll(() => page.locator('.chart .legend b').first().textContent()).toMatch(/^\d/);
      panel.power('survival', 'stop');
      await expect.poll(() => badge.textContent()).toBe('offline');
      await expect.poll(() => page.locator('.changes .badge').first().textContent()).toBe('offline');
      expect(complaints).toEqual([]);
      await exporter.stop();
      await expect.poll(() => page.locator('#link').textContent()).toMatch(/^no connection since \d/);
      exporter = await startExporter({ yaml: configFor(panel), clock, port: Number(port) });
      await expect.poll(() => page.locator('#link').textContent()).toBe('live');
      expect(addresses.filter((address) => !address.startsWith(`${origin}/below/here/`))).toEqual([]);
      // The browser logs the lost connection.
      complaints.length = 0;
    },
  );

  it('refers to the JSON without scripts', async () => {
    const { url } = await scripted();
    const page = await open(url, { javaScriptEnabled: false });
    expect(await page.locator('noscript').textContent()).toContain('This page requires JavaScript.');
    expect(await page.locator('noscript a').getAttribute('href')).toBe('api/v1/servers');
  });
});

/** The texts of badges and problems that are cut off or exceed their row. */
const CUT = `[...document.querySelectorAll('tr.server .badge, tr.server .cause, tr.server .since, tr.server .action')]
  .filter((part) => part.textContent !== '')
  .filter((part) => {
    const [own, row] = [part.getBoundingClientRect(), part.closest('tr').getBoundingClientRect()];
    return part.scrollWidth > part.clientWidth + 1 || part.scrollHeight > part.clientHeight + 1
      || own.right > row.right || own.bottom > row.bottom || own.left < row.left || own.top < row.top;
  })
  .map((part) => part.textContent)`;

/** Pairs of texts that overlap. */
const OVERLAPS = `(() => {
  const texts = [...document.querySelectorAll('header *, main *, footer *')]
    .filter((part) => part.children.length === 0 && part.textContent.trim() !== '')
    .filter((part) => part.checkVisibility() && !part.closest('.unseen, svg, option'))
    .map((part) => {
      const range = document.createRange();
      range.selectNodeContents(part);
      return { text: part.textContent, at: range.getBoundingClientRect() };
    });
  return texts.flatMap((one, index) => texts.slice(index + 1)
    .filter(({ at }) => Math.min(one.at.right, at.right) - Math.max(one.at.left, at.left) > 1
      && Math.min(one.at.bottom, at.bottom) - Math.max(one.at.top, at.top) > 3)
    .map(({ text }) => one.text + ' / ' + text));
})()`;

/** A server that its node restarted after a crash, with and without another problem. */
const RESTARTED = [
  running('restarted', { unwanted_stops: [crash(30, 1)], last_stop: crash(30, 1) }),
  running('hot-too', {
    unwanted_stops: [crash(30, 1)],
    last_stop: crash(30, 1),
    cpu_usage_cores: 1.99,
    cpu_saturated_share: 1,
  }),
];

describe.skipIf(!hasChromium)('the layout', () => {
  it('clips nothing at any width; below 1,000 px servers are cards', async () => {
    const { page } = await shown([...URGENT_FLEET, ...RESTARTED]);
    const heading = page.locator('thead');
    await page.setViewportSize({ width: 999, height: 900 });
    expect(await heading.isVisible()).toBe(false);
    await page.setViewportSize({ width: 1_000, height: 900 });
    expect(await heading.isVisible()).toBe(true);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      for (const column of ['problem', 'disk', 'state']) {
        expect(await row(page, 'broken').locator(`td.${column}`).isVisible()).toBe(true);
      }
      for (const name of ['restarted', 'hot-too']) {
        expect(await row(page, name).locator('.since').isVisible()).toBe(true);
      }
      expect(await page.evaluate(CUT)).toEqual([]);
      expect(await page.evaluate(OVERLAPS)).toEqual([]);
      expect(await pageWidth(page)).toBe(width);
    }
  });

  it('takes less than 200 pixels above the servers, on a phone with problems less than 230', async () => {
    const { page } = await shown();
    for (const width of [390, 768, 1_280, 1_600]) {
      await page.setViewportSize({ width, height: 900 });
      await page.evaluate('scrollTo(0, 0)');
      const problems = (await page.locator('.notices').boundingBox())?.height ?? 0;
      const top = (await page.locator('tr.server').first().boundingBox())?.y ?? Number.NaN;
      expect(top - problems, String(width)).toBeLessThan(width < 400 ? 230 : 200);
    }
  });

  it('makes a card higher than one without a problem, and the keyboard still reaches the last card', async () => {
    const { page } = await shown();
    await page.setViewportSize({ width: 390, height: 400 });
    await row(page, 'broken').focus();
    const rowHeight = async (name: string) => (await row(page, name).boundingBox())?.height ?? Number.NaN;
    expect(await rowHeight('spare')).toBeLessThan(await rowHeight('broken'));
    await page.keyboard.press('End');
    await painted(page);
    const last = page.locator('tr.server:focus');
    const { y, height } = (await last.boundingBox()) ?? { y: Number.NaN, height: Number.NaN };
    expect(await last.evaluate((shown) => shown.nextElementSibling)).toBeNull();
    expect([y >= 0, Math.floor(y + height) <= 400]).toEqual([true, true]);
  });

  it('fits a phone: nothing is wider than the screen, a list changes the order, and a tap opens a row', async () => {
    const phone = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true };
    const { page } = await shown(undefined, phone);
    expect(await pageWidth(page)).toBe(360);
    await page.getByRole('combobox', { name: 'Sort' }).selectOption({ label: 'Sort: server' });
    expect((await names(page))[0]).toBe('broken');
    await row(page, 'calm').tap();
    await page.locator('.detail').waitFor();
    expect(await pageWidth(page)).toBe(360);
  });

  it('keeps an open row where it is on the screen when servers change places, with the focus', async () => {
    const { exporter, page } = await shown();
    await openRow(page, 'calm');
    await page.evaluate('scrollBy(0, 200)');
    await row(page, 'calm').focus();
    await painted(page);
    const top = async () => Math.round((await row(page, 'calm').boundingBox())?.y ?? Number.NaN);
    const before = await top();
    await exporter.show(
      URGENT_FLEET.map((one) => (one.target.name === 'forgotten' ? running('forgotten') : one)),
    );
    await expect.poll(async () => (await names(page)).indexOf('calm')).toBe(URGENT.length - 1);
    await painted(page);
    expect(Math.abs((await top()) - before)).toBeLessThan(3);
    expect(await focused(page)).toBe('calm');
    await exporter.show(URGENT_FLEET);
    await expect.poll(() => names(page)).toEqual([...URGENT, ...NEUTRAL]);
    await painted(page);
    expect(Math.abs((await top()) - before)).toBeLessThan(3);
  });

  it('moves no column with the first problem, and keeps a suspended card as low as its contents', async () => {
    const healthy = Array.from({ length: 8 }, (_, at) => running(`server-${at}`));
    const failed = healthy.map((one, at) => (at < 6 ? off(one.target.name) : one));
    const { exporter, page } = await shown(healthy);
    const lefts = () =>
      page.evaluate<number[]>(
        `[...document.querySelectorAll('th')].map((th) => th.getBoundingClientRect().left)`,
      );
    const before = await lefts();
    await exporter.show(failed);
    await page.locator('tr.group').waitFor();
    expect(await lefts()).toEqual(before);
    const phone = await shown(URGENT_FLEET, { viewport: { width: 390, height: 800 } });
    const { height = Number.NaN } = (await row(phone.page, 'old-season').boundingBox()) ?? {};
    expect(height).toBeLessThan(90);
  });

  it('isolates the direction of a name', async () => {
    const { page } = await shown();
    const direction = `getComputedStyle(document.querySelector('tr.server .name')).unicodeBidi`;
    expect(await page.evaluate<string>(direction)).toBe('isolate');
  });
});

describe.skipIf(!hasChromium)('the colors', () => {
  const [light, dark] = ['rgb(244, 246, 249)', 'rgb(14, 19, 26)'];
  const ground = (page: Page) => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');

  it('are dark, with the charts, if the system is, or if the user chooses it', async () => {
    expect(await ground((await shown(undefined, { colorScheme: 'light' })).page)).toBe(light);
    const { page } = await shown(undefined, { colorScheme: 'dark' });
    expect(await ground(page)).toBe(dark);
    await page.getByRole('button', { name: 'Theme: system' }).click();
    expect(await ground(page)).toBe(light);
    await page.reload();
    expect(await ground(page)).toBe(light);
    await openRow(page, 'calm');
    const line = () =>
      page.evaluate<string>(`getComputedStyle(document.querySelector('.chart .used')).stroke`);
    await expect.poll(line).toBe('rgb(37, 99, 235)');
    await page.getByRole('button', { name: 'Theme: light' }).click();
    expect(await ground(page)).toBe(dark);
    await expect.poll(line).toBe('rgb(110, 160, 255)');
  });
});

describe.skipIf(!hasChromium)('5,000 servers', () => {
  it('are drawn only near the viewport, scroll to the last, and sort', async () => {
    const { page } = await shown(manyRunning(5_000));
    expect(await page.locator('.total strong').textContent()).toBe('5,000');
    await page.evaluate('scrollTo(0, document.body.scrollHeight)');
    await expect.poll(() => names(page)).toContain('server-5000');
    expect(await page.locator('tr.server').count()).toBe(5_000);
    expect(await page.locator('tr.server .badge').count()).toBeLessThan(MAX_DRAWN);
    const height = await page.evaluate<number>(`document.querySelector('table').offsetHeight`);
    expect(height).toBeGreaterThan(5_000 * 58);
    await page.getByRole('searchbox').fill('server-4321');
    await expect.poll(() => names(page)).toEqual(['server-4321']);
    await page.getByRole('searchbox').fill('');
    await page.evaluate('scrollTo(0, 0)');
    await page.locator('th.who button').click();
    await page.locator('th.who button').click();
    await expect.poll(async () => (await names(page))[0]).toBe('server-5000');
    await page.locator('tr.server').first().focus();
    await page.keyboard.press('End');
    await expect.poll(() => focused(page)).toBe('server-1');
  });
});

/** axe's findings on the current page, in both themes and with these widths. */
async function violations(page: Page, widths: readonly number[] = WIDTHS): Promise<readonly string[]> {
  const found: string[] = [];
  await page.evaluate(axe.source);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      const result = await page.evaluate<axe.AxeResults>('axe.run()');
      expect(result.passes.length).toBeGreaterThan(10);
      for (const { id, nodes } of result.violations) {
        found.push(`${colorScheme} ${width} ${id}: ${nodes.map(({ html }) => html).join(' ')}`);
      }
    }
  }
  return found;
}

describe.skipIf(!hasChromium)('axe finds no violation', () => {
  it('in a fleet with problems and an open row', async () => {
    const { page } = await shown([...URGENT_FLEET, ...RESTARTED]);
    await page.getByRole('button', { name: 'Details' }).click();
    await page.locator('.counts .tile[data-show="attention:any"]').click();
    await openRow(page, 'broken');
    await page.locator('.changes li').first().waitFor();
    // Makes the list so small that it scrolls.
    await page.evaluate(`document.querySelector('.changes').style.maxHeight = '2rem'`);
    expect(await violations(page)).toEqual([]);
  });

  it('if no server matches', async () => {
    const { page } = await shown();
    await page.getByRole('searchbox').fill('nobody');
    await page.getByText('No server matches.').waitFor();
    expect(await violations(page, [375, 768, 1_280])).toEqual([]);
  });

  it('if there are no servers', async () => {
    const { page } = await shown([]);
    await page.getByText('No servers to monitor.').waitFor();
    expect(await violations(page, [375, 768, 1_280])).toEqual([]);
  });
});
