import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CPU_SATURATED_SHARE, SATURATED_WINDOW_SECONDS } from '../../src/domain/problems.ts';
import type { Simulator } from '../../src/simulator/api.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { eventually, LONGEST_WAIT_MS } from '../support/eventually.ts';
import { configFor, type ExporterUnderTest, fastClock, startExporter } from '../support/exporter.ts';
import { TestTime } from '../support/test-time.ts';

/** A second of the page passes in a tenth of one. */
const SPEED = 10;

/** The speed at which a server stays at its limit for minutes, before any page is open. */
const WAITING_SPEED = 100;

const GIB = 2 ** 30;
const WIDTHS = [375, 768, 1_000, 1_280];

/** In the order of the configuration, which differs from the page's. */
const SERVERS = [
  { name: 'calm', profile: 'steady' },
  { name: 'spare', profile: 'offline' },
  { name: 'old-season', profile: 'suspended' },
  { name: 'full', profile: 'steady', limits: { disk: 10 * 1_024 } },
  { name: 'hot', profile: 'steady', limits: { cpu: 200 } },
  { name: 'lost', profile: 'steady' },
  { name: 'forgotten', profile: 'offline' },
  { name: 'broken', profile: 'steady' },
] as const;

const URGENT = ['broken', 'forgotten', 'lost', 'hot', 'full'];
const NEUTRAL = ['calm', 'spare', 'old-season'];

let browser: Browser;
let panel: Simulator;
let exporter: ExporterUnderTest;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  if (!hasChromium) return;
  const time = new TestTime(SPEED);
  const clock = time.clock();
  browser = await launchChromium();
  panel = await startSimulator({ clock, servers: SERVERS });
  panel.pin('full', { diskBytes: 9.7 * GIB });
  panel.pin('hot', { cpuAbsolute: 199 });
  panel.setNodeDown('lost', true);
  const yaml = configFor(panel).replace('name: "spare"', 'name: "spare", expect: any');
  exporter = await startExporter({ yaml, clock });
  const isOff = { server: 'broken', reason: 'crashed' };
  await exporter.until('gameserver_collection_up', { server: 'broken' }, 1);
  // The node restarts it once, and gives up when it crashes again within a minute.
  panel.crash('broken', { code: 139 });
  await exporter.until('gameserver_stops_total', isOff, 1);
  await exporter.until('gameserver_state', { server: 'broken', state: 'running' }, 1);
  panel.crash('broken', { code: 139 });
  await exporter.until('gameserver_stops_total', isOff, 2);
  await exporter.until('gameserver_automatic_restart_aborted', { server: 'broken' }, 1);
  time.speed = WAITING_SPEED;
  await eventually(async () => {
    const seconds = await exporter.value('gameserver_cpu_saturated_seconds_total', { server: 'hot' });
    expect(seconds).toBeGreaterThan(CPU_SATURATED_SHARE * SATURATED_WINDOW_SECONDS);
  });
  time.speed = SPEED;
});

afterAll(async () => {
  if (!hasChromium) return;
  await browser.close();
  await exporter.stop();
  await panel.stop();
});

beforeEach(async () => {
  if (!hasChromium) return;
  complaints = [];
  page = await openPage(exporter.url);
});

afterEach(async () => {
  if (!hasChromium) return;
  await page.context().close();
  expect(complaints).toEqual([]);
});

async function openPage(address: string): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width: 1_280, height: 900 },
    timezoneId: 'Asia/Tokyo',
    locale: 'en-GB',
  });
  const opened = await context.newPage();
  opened.setDefaultTimeout(LONGEST_WAIT_MS);
  opened.on('console', (message) => complaints.push(message.text()));
  opened.on('pageerror', (error) => complaints.push(error.message));
  await opened.goto(address);
  await opened.locator('#link[data-link=live]').waitFor();
  return opened;
}

const names = () => page.locator('tr.server .name').allTextContents();
const row = (name: string) =>
  page.locator('tr.server').filter({ has: page.locator(`.name:text-is("${name}")`) });
/** A count: one of those that are always shown, or one of the details. */
const tile = (kind: string, word: string, where = '.counts') =>
  page.locator(`${where} .tile[data-show="${kind}:${word}"]`);
const openDetails = () => page.getByRole('button', { name: 'Details' }).click();
const query = () => new URL(page.url()).search;
const untilUrgent = async () => {
  await expect.poll(names).toEqual([...URGENT, ...NEUTRAL]);
};

describe.skipIf(!hasChromium)('problems', () => {
  it('come first and are counted, and every count is a filter', async () => {
    await untilUrgent();
    const warnings = tile('attention', 'warning', '.summary');
    expect(await warnings.textContent()).toBe('2warnings');
    expect(await warnings.getAttribute('aria-pressed')).toBe('false');
    await warnings.click();
    expect([await names(), await warnings.getAttribute('aria-pressed')]).toEqual([['hot', 'full'], 'true']);
    await openDetails();
    expect(await page.locator('.counts h3').allTextContents()).toEqual(['Problems', 'States', 'Monitoring']);
    for (const [found, text, shown] of [
      [tile('attention', 'down', '.summary'), '2down', ['broken', 'forgotten']],
      [tile('attention', 'no_data', '.summary'), '1no data', ['lost']],
      [tile('attention', 'any'), '5problems', URGENT],
      [tile('attention', 'gave_up'), '1restart aborted', ['broken']],
      [tile('attention', 'off'), '1off, but expected to run', ['forgotten']],
      [tile('attention', 'cpu_saturated'), '1CPU at its limit', ['hot']],
      [tile('attention', 'disk_nearly_full'), '1disk nearly full', ['full']],
      [tile('state', 'offline'), '3offline', ['broken', 'forgotten', 'spare']],
      [tile('condition', 'blocked'), '1blocked', ['old-season']],
      [page.locator('.total'), '8servers', [...URGENT, ...NEUTRAL]],
    ] as const) {
      await found.click();
      expect([await found.textContent(), await names()]).toEqual([text, shown]);
      expect(await found.getAttribute('aria-pressed')).toBe('true');
    }
    await page.locator('.panel').getByRole('button', { name: '8 servers' }).click();
    expect(query()).toBe('?show=panel%3Amain');
    expect(await page.title()).toBe('(5) 3/8 running · Game servers');
  });

  it('have cause and action in the row, method and address in the opened one', async () => {
    await untilUrgent();
    expect(await row('broken').locator('td.trouble').textContent()).toMatch(
      /^Restart aborted, exit 139\d+ (s|min) agoCheck its console for the cause\. Then start it\.$/,
    );
    const lost = await row('lost').locator('td.trouble').textContent();
    expect(lost).not.toMatch(/https?:|wss?:|\d{3}\.\d/);
    await row('lost').click();
    await expect.poll(() => page.locator('.detail .observed').textContent()).toMatch(/\S+ \S+/);
  });

  it('show in the row why a server that should run is off', async () => {
    await untilUrgent();
    expect(await row('forgotten').locator('td.trouble').textContent()).toBe(
      'Off, but expected to runThe exporter did not see it stop. Start it, or set expect: any if it is allowed to be off.',
    );
    expect(await row('forgotten').locator('svg.strip title').textContent()).toMatch(
      /^Last two hours: down \d+ (s|min), no data/,
    );
  });

  it('have columns only for what servers have, with units', async () => {
    await untilUrgent();
    const columns = await page.locator('th').allTextContents();
    expect(columns).toEqual([
      'Server',
      'State',
      'Last two hours',
      'Problem',
      'CPU',
      'Memory',
      'Disk',
      'Network',
    ]);
    expect(await row('hot').locator('td.cpu .main').textContent()).toBe('1.99 cores');
  });

  it('exclude servers that are suspended, or off as expected', async () => {
    await untilUrgent();
    for (const name of NEUTRAL) expect(await row(name).getAttribute('data-attention')).toBeNull();
    expect(await row('spare').locator('.badge').getAttribute('data-state')).toBe('offline');
    expect(await row('old-season').locator('.badge').getAttribute('data-state')).toBe('unknown');
    expect(await row('old-season').locator('td.state').textContent()).toBe('no datasuspended');
    expect(await row('broken').locator('.badge').getAttribute('data-state')).toBe('down');
  });

  it('are visible on a phone too, with the disk; below 1,000 px servers are cards, and nothing is clipped', async () => {
    await untilUrgent();
    const heading = page.locator('thead');
    await page.setViewportSize({ width: 1_000, height: 900 });
    expect(await heading.isVisible()).toBe(true);
    await page.setViewportSize({ width: 999, height: 900 });
    expect(await heading.isVisible()).toBe(false);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      for (const column of ['trouble', 'disk', 'state']) {
        expect(await row('broken').locator(`td.${column}`).isVisible()).toBe(true);
      }
      expect(await page.evaluate(CUT)).toEqual([]);
      expect(await page.evaluate(OVERLAPS)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    }
  });

  it('make a card higher than one without a problem, and the keyboard still reaches the last card', async () => {
    await untilUrgent();
    await page.setViewportSize({ width: 390, height: 400 });
    await row('broken').focus();
    const heightOf = async (name: string) => (await row(name).boundingBox())?.height ?? Number.NaN;
    expect(await heightOf('spare')).toBeLessThan(await heightOf('broken'));
    await page.keyboard.press('End');
    const last = page.locator('tr.server:focus');
    const { y, height } = (await last.boundingBox()) ?? { y: Number.NaN, height: Number.NaN };
    expect(await last.evaluate((shown) => shown.nextElementSibling)).toBeNull();
    expect([y >= 0, Math.floor(y + height) <= 400]).toEqual([true, true]);
  });
});

/** The texts of badges and problems that don't fit their place, or exceed their row. */
const CUT = `[...document.querySelectorAll('tr.server .badge, tr.server .cause, tr.server .since, tr.server .words')]
  .filter((part) => part.textContent !== '')
  .filter((part) => {
    const [own, row] = [part.getBoundingClientRect(), part.closest('tr').getBoundingClientRect()];
    return part.scrollWidth > part.clientWidth + 1 || part.scrollHeight > part.clientHeight + 1
      || own.right > row.right || own.bottom > row.bottom || own.left < row.left || own.top < row.top;
  })
  .map((part) => part.textContent)`;

/** Pairs of texts of which one lies on the other. */
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

describe.skipIf(!hasChromium)('the page above its servers', () => {
  it('takes less than 200 pixels, on a phone with problems less than 230', async () => {
    await untilUrgent();
    for (const width of [390, 768, 1_280, 1_600]) {
      await page.setViewportSize({ width, height: 900 });
      await page.evaluate('scrollTo(0, 0)');
      const problems = (await page.locator('.notices').boundingBox())?.height ?? 0;
      const top = (await page.locator('tr.server').first().boundingBox())?.y ?? Number.NaN;
      expect(top - problems, String(width)).toBeLessThan(width < 400 ? 230 : 200);
    }
  });
});

describe.skipIf(!hasChromium)('a crash after which the node restarted the server', () => {
  it('leaves a neutral note in the row that the search finds, next to other problems too', async () => {
    await untilUrgent();
    for (const name of ['calm', 'hot']) {
      panel.crash(name, { code: 1 });
      await exporter.until('gameserver_stops_total', { server: name, reason: 'crashed' }, 1);
      await exporter.until('gameserver_state', { server: name, state: 'running' }, 1);
    }
    await untilUrgent();
    const trace = row('calm').locator('td.trouble');
    await expect.poll(() => trace.textContent()).toMatch(/^Crashed, exit code 1\d+ (s|min) ago$/);
    expect(await trace.locator('.what').getAttribute('data-severity')).toBe('fact');
    expect(await row('calm').getAttribute('data-attention')).toBeNull();
    expect(await tile('attention', 'any').textContent()).toBe('5problems');
    await expect
      .poll(() => row('hot').locator('td.trouble').textContent())
      .toMatch(/^CPU at its limitcrashed \d+ (s|min) agoRaise its CPU limit/);
    for (const name of ['calm', 'hot']) {
      expect(await row(name).locator('.since').getAttribute('title')).toMatch(/GMT\+9$/);
    }
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      for (const name of ['calm', 'hot']) expect(await row(name).locator('.since').isVisible()).toBe(true);
      expect(await page.evaluate(CUT)).toEqual([]);
    }
    await page.getByRole('searchbox').fill('crashed');
    await expect.poll(names).toEqual(['broken', 'hot', 'calm']);
    expect(await violations([375, 768, 1_280])).toEqual([]);
  });
});

describe.skipIf(!hasChromium)('an open row', () => {
  it('has stop reasons, exit codes, uptime, starts, and a link to the server in the panel', async () => {
    await untilUrgent();
    await row('broken').click();
    const facts = page.locator('.facts');
    await expect.poll(() => facts.textContent()).toMatch(/Stops2 crashed/);
    expect(await facts.textContent()).toMatch(/Last stopcrashed, exit code 139\d+ (s|min) ago/);
    expect(await facts.textContent()).toMatch(/Starts1/);
    const crash = page.locator('.changes li').first();
    expect(await crash.locator('.badge').getAttribute('data-state')).toBe('down');
    expect(await crash.textContent()).toMatch(/^offlinecrashed, exit code 139/);
    const link = page.getByRole('link', { name: 'Open in the panel' });
    const { identifier } = panel.server('broken');
    expect(await link.getAttribute('href')).toBe(`${panel.url}/server/${identifier}`);
    expect(await link.getAttribute('rel')).toBe('noopener noreferrer');
    await row('calm').click();
    await expect.poll(() => facts.textContent()).toMatch(/Uptime\d+ (s|min|h|d)/);
  });

  it("shows times in the viewer's zone on hover, and sizes in KiB and MiB", async () => {
    await row('broken').click();
    const time = page.locator('.changes time').first();
    await expect.poll(() => time.getAttribute('datetime')).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    const instant = await time.getAttribute('datetime');
    const shown = await page.evaluate<string>(
      `new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' }).format(new Date('${instant}'))`,
    );
    expect(shown).toContain('GMT+9');
    expect(await time.getAttribute('title')).toBe(shown);
    await expect.poll(() => row('calm').locator('td.network').textContent()).toMatch(/KiB\/s.*KiB\/s/);
  });
});

describe.skipIf(!hasChromium)('when servers change places', () => {
  it('the open row keeps its position on the screen, and its row keeps the keyboard focus', async () => {
    await untilUrgent();
    await row('calm').click();
    await page.locator('.detail .times span:not(:empty)').first().waitFor();
    await page.evaluate('scrollBy(0, 200)');
    await row('calm').focus();
    const top = async () => Math.round((await row('calm').boundingBox())?.y ?? Number.NaN);
    const before = await top();
    panel.power('forgotten', 'start');
    await expect.poll(async () => (await names()).indexOf('calm')).toBe(URGENT.length - 1);
    expect(Math.abs((await top()) - before)).toBeLessThan(3);
    expect(await page.evaluate(`document.activeElement.querySelector('.name')?.textContent`)).toBe('calm');
    panel.power('forgotten', 'stop');
    await untilUrgent();
    expect(Math.abs((await top()) - before)).toBeLessThan(3);
  });
});

describe.skipIf(!hasChromium)('the address', () => {
  it('keeps filter, search, sort and open row after a reload, and back and forward', async () => {
    await untilUrgent();
    await openDetails();
    await tile('attention', 'any').click();
    await page.locator('th.cpu').getByRole('button').click();
    await page.getByRole('searchbox').fill('lost');
    await row('lost').click();
    const { identifier } = panel.server('lost');
    const all = `?show=attention%3Aany&sort=-cpu&q=lost&open=main%2F${identifier}`;
    expect(query()).toBe(all);
    await page.reload();
    await page.locator('tr.details').waitFor();
    expect(await page.getByRole('searchbox').inputValue()).toBe('lost');
    expect(await page.locator('th.cpu').getAttribute('aria-sort')).toBe('descending');
    await expect.poll(names).toEqual(['lost']);
    expect(await row('lost').getAttribute('aria-expanded')).toBe('true');
    await page.goBack();
    await expect.poll(() => page.locator('tr.details').count()).toBe(0);
    await page.goBack();
    await expect.poll(() => page.locator('th.cpu').getAttribute('aria-sort')).toBeNull();
    await page.goBack();
    await expect.poll(names).toHaveLength(SERVERS.length);
    expect(query()).toBe('');
    for (let step = 0; step < 3; step += 1) await page.goForward();
    await expect.poll(() => row('lost').getAttribute('aria-expanded')).toBe('true');
    expect(query()).toBe(all);
  });

  it('with filters that match nothing shows that no server matches, and a link to show all', async () => {
    await page.goto(`${exporter.url}/?q=nobody&show=state%3Arunning`);
    const none = page.getByText('No server matches.');
    await none.waitFor();
    await page.getByRole('button', { name: 'Show all servers' }).click();
    await expect.poll(names).toHaveLength(SERVERS.length);
    expect([await none.isVisible(), query()]).toEqual([false, '']);
  });
});

/** What axe finds in the current page, in both themes and these widths. */
async function violations(widths: readonly number[] = WIDTHS): Promise<readonly string[]> {
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
    await untilUrgent();
    await openDetails();
    await tile('attention', 'any').click();
    await row('broken').click();
    await page.locator('.detail .times span:not(:empty)').first().waitFor();
    await page.locator('.changes li').first().waitFor();
    // Enough changes to make the list scroll.
    await page.evaluate(`document.querySelector('.changes').style.maxHeight = '2rem'`);
    expect(await violations()).toEqual([]);
  });

  it('if no server matches', async () => {
    await page.getByRole('searchbox').fill('nobody');
    await page.getByText('No server matches.').waitFor();
    expect(await violations([375, 768, 1_280])).toEqual([]);
  });

  it('if there are no servers', async () => {
    const empty = await startSimulator({ clock: fastClock(SPEED), servers: [] });
    const yaml = `panels: [{ name: main, url: "${empty.url}", api_key: "${empty.apiKey}", discover: {} }]`;
    const other = await startExporter({ yaml, clock: fastClock(SPEED) });
    try {
      await page.goto(other.url);
      await page.getByText('No servers to monitor. Check').waitFor();
      expect(await violations([375, 768, 1_280])).toEqual([]);
    } finally {
      // The page would complain that its connection is lost.
      await page.goto('about:blank');
      await other.stop();
      await empty.stop();
    }
  });
});
