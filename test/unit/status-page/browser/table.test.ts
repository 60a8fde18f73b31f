import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { serverReading } from '../../../support/readings.ts';
import { crash, NEUTRAL, running, URGENT, URGENT_FLEET } from '../../../support/urgent-fleet.ts';
import { PageWindow } from './page-window.ts';

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const HOSTILE = `<img src=x onerror="alert(1)">' &amp; <b>bold</b> \u202egnp.exe`;

describe('the order', () => {
  it('begins with problems, by urgency', () => {
    expect(PageWindow.live({ servers: URGENT_FLEET }).names).toEqual([...URGENT, ...NEUTRAL]);
  });

  it('is that of a column, in both directions and not at all, and the head shows it', async () => {
    const configured = ['b', 'c', 'a'];
    const page = PageWindow.live({ servers: configured.map((name) => running(name)) });
    const heading = page.one('th.who');
    const click = async () => {
      await page.click(page.one('th.who button'));
      return [page.names, heading.getAttribute('aria-sort')];
    };
    expect(await click()).toEqual([['a', 'b', 'c'], 'ascending']);
    expect(await click()).toEqual([['c', 'b', 'a'], 'descending']);
    expect(await click()).toEqual([configured, null]);
  });

  it('can be chosen from a list, and reversed, where the table has no head', async () => {
    const page = PageWindow.live({ servers: ['b', 'a'].map((name) => running(name)) });
    const list = page.one('.sort') as HTMLSelectElement;
    list.value = 'name';
    list.dispatchEvent(new page.window.Event('change') as unknown as Event);
    expect(page.names).toEqual(['a', 'b']);
    await page.click(page.one('.turn'));
    expect([page.names, page.query]).toEqual([['b', 'a'], '?sort=-name']);
  });
});

describe('a row', () => {
  it.each([
    ['broken', 'state', /^offline$/],
    [
      'broken',
      'problem',
      /^Restart aborted, exit 13960 s agoCheck its console for the cause\. Then start it\.$/,
    ],
    ['broken', 'cpu', /^–$/],
    [
      'forgotten',
      'problem',
      /^Off, but expected to runThe exporter did not see it stop\. Start it, or set expect: any if it is allowed to be off\.$/,
    ],
    ['lost', 'problem', /^Node unreachableStart the daemon, and open the node's port/],
    ['hot', 'problem', /^CPU at its limitRaise its CPU limit, or reduce its load\.$/],
    ['hot', 'cpu', /^1\.99 cores100 %$/],
    ['full', 'problem', /^Disk 97 % fullDelete files or raise its disk limit\./],
    ['full', 'disk', /^9\.70 GiB97 %$/],
    ['calm', 'state', /^running$/],
    ['calm', 'problem', /^$/],
    ['calm', 'network', /^↓ 2\.0 KiB\/s↑ 4\.0 KiB\/s$/],
    ['spare', 'problem', /^$/],
    ['old-season', 'state', /^no datasuspended$/],
    ['old-season', 'problem', /^$/],
  ])('of %s has %s', (name, column, expected) => {
    expect(PageWindow.live({ servers: URGENT_FLEET }).cell(name, column)).toMatch(expected);
  });

  it('shows no address of a node', () => {
    const page = PageWindow.live({ servers: URGENT_FLEET });
    expect(page.cell('lost', 'problem')).not.toMatch(/https?:|wss?:|\d{3}\.\d/);
  });

  it('has a badge of its state, which is down if it should run', () => {
    const page = PageWindow.live({ servers: URGENT_FLEET });
    const badges = [...URGENT, ...NEUTRAL].map(
      (name) => page.row(name).querySelector<HTMLElement>('.badge')?.dataset['state'],
    );
    expect(badges).toEqual(['down', 'down', 'down', 'running', 'running', 'running', 'offline', 'unknown']);
  });

  it('is marked by its problem, unless it is suspended or may be off', () => {
    const page = PageWindow.live({ servers: URGENT_FLEET });
    const marks = [...URGENT, ...NEUTRAL].map((name) => page.row(name).getAttribute('data-attention'));
    expect(marks).toEqual([
      'gave_up',
      'off',
      'no_data',
      'cpu_saturated',
      'disk_nearly_full',
      null,
      null,
      null,
    ]);
  });

  it('has the last two hours as a strip', () => {
    const page = PageWindow.live({ servers: URGENT_FLEET });
    expect(page.row('forgotten').querySelector('svg.strip title')?.textContent).toBe(
      'Last two hours: down 2 min, no data 116 min',
    );
  });

  it('has columns only for what servers have', () => {
    const page = PageWindow.live({ servers: URGENT_FLEET });
    const shown = ['Server', 'State', 'Last two hours', 'Problem', 'CPU', 'Memory', 'Disk', 'Network'];
    expect(page.texts('th')).toEqual(shown);
    const bare = PageWindow.live({ servers: [serverReading()] });
    expect(bare.texts('th')).toEqual(['Server', 'State', 'Last two hours', 'Problem']);
  });

  it('of a server that the node restarted after a crash has a neutral note, next to other problems too', () => {
    const crashed = { unwanted_stops: [crash(30, 1)], last_stop: crash(30, 1) };
    const page = PageWindow.live({
      servers: [
        running('calm', crashed),
        running('hot', { ...crashed, cpu_usage_cores: 1.99, cpu_saturated_share: 1 }),
      ],
    });
    expect(page.cell('calm', 'problem')).toBe('Crashed, exit code 130 s ago');
    expect(page.row('calm').querySelector<HTMLElement>('.what')?.dataset['severity']).toBe('fact');
    expect(page.row('calm').getAttribute('data-attention')).toBeNull();
    expect(page.text('.counts .tile[data-show="attention:any"]')).toBe('1problem');
    expect(page.cell('hot', 'problem')).toMatch(/^CPU at its limitcrashed 30 s agoRaise its CPU limit/);
  });

  it('of such a server is found by the search', async () => {
    const page = PageWindow.live({
      servers: [...URGENT_FLEET, running('again', { unwanted_stops: [crash(30, 1)] })],
    });
    await page.search('crashed');
    expect(page.names).toEqual(['broken', 'again']);
  });

  it('shows a hostile name as text', async () => {
    const hostile = serverReading({ target: { name: HOSTILE, id: 'x', labels: { game: '<b>' } } });
    const page = PageWindow.live({
      servers: [hostile],
      history: { series: {}, state_changes: [], stops: {} },
    });
    expect(page.names).toEqual([HOSTILE]);
    await page.click(page.row(HOSTILE));
    expect(page.text('.facts')).toContain('game=<b>');
    const own = page.all('.tile b, .chart b');
    expect(page.all('main img, main b, main script').filter((one) => !own.includes(one))).toEqual([]);
    // The text direction of a name doesn't affect the rest of its row.
    expect(page.one('tr.server .name').tagName).toBe('BDI');
  });
});

describe('servers with one cause', () => {
  const lost = Array.from({ length: 11 }, (_, index) =>
    serverReading({
      condition: 'failing',
      expected_running: 1,
      problem: { cause: 'connection', detail: `attempt ${index}` },
      target: { id: `id-${index}`, name: `server-${index}` },
    }),
  );

  it('share a line, which opens and closes, by the keyboard too', async () => {
    const page = PageWindow.live({ servers: [...lost, running('calm')] });
    expect(page.names).toEqual(['11 servers', 'calm']);
    await page.click(page.one('tr.group'));
    expect(page.names).toHaveLength(13);
    page.one('tr.group').focus();
    await page.press('ArrowLeft');
    expect(page.names).toHaveLength(2);
    await page.press('ArrowRight');
    expect(page.names).toHaveLength(13);
  });

  it('are listed one by one if they are searched for', async () => {
    const page = PageWindow.live({ servers: [...lost, running('calm')] });
    await page.click(page.one('.tile[data-show="verdict:no_data"]'));
    expect(page.names).toHaveLength(11);
  });
});

describe('the keyboard', () => {
  it.each([
    ['End', 'z'],
    ['Home', 'a'],
    ['PageDown', 'n'],
    ['PageUp', 'a'],
    ['ArrowDown', 'e'],
    ['ArrowUp', 'c'],
  ])('moves by %s to another row', async (key, expected) => {
    const page = PageWindow.live({
      servers: Array.from('abcdefghijklmnopqrstuvwxyz').map((name) => running(name)),
    });
    page.row('d').focus();
    expect([await page.press(key), page.focused]).toEqual([false, expected]);
  });

  it('reaches one row by the Tab key: the one that had the focus last', async () => {
    const page = PageWindow.live({ servers: ['a', 'b', 'c'].map((name) => running(name)) });
    const reached = () =>
      page.all('tr.server[tabindex="0"]').map((row) => row.querySelector('.name')?.textContent);
    expect(reached()).toEqual(['a']);
    page.row('a').focus();
    await page.press('ArrowDown');
    expect(reached()).toEqual(['b']);
  });
});
