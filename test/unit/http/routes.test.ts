import { Hono } from 'hono';
import { beforeEach, describe, expect, it, test, vi } from 'vitest';
import { HeldBodies, isFromAnotherSite, isReloadHost, type RouteEnv } from '../../../src/http/routes.ts';
import { renderBody } from '../../../src/metrics/rendered-body.ts';
import { deferred } from '../../support/deferred.ts';
import { repeatedly } from '../../support/eventually.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { fleetReading, streamingReading } from '../../support/readings.ts';
import { exporterRoutes } from '../../support/routes.ts';

describe('whether a request comes from another site', () => {
  it.each<[boolean, Readonly<Record<string, string>>]>([
    [false, { Host: 'exporter:10317' }],
    [false, { Host: 'exporter:10317', 'Sec-Fetch-Site': 'same-origin', Origin: 'http://exporter:10317' }],
    [false, { Host: 'exporter:10317', 'Sec-Fetch-Site': 'none' }],
    // A proxy may connect with another host name than the browser.
    [
      false,
      { Host: '127.0.0.1:10317', 'Sec-Fetch-Site': 'same-origin', Origin: 'https://metrics.example.com' },
    ],
    [false, { Host: 'Exporter:10317', Origin: 'http://exporter:10317' }],
    [true, { Host: 'exporter:10317', 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' }],
    [true, { Host: 'exporter:10317', 'Sec-Fetch-Site': 'same-site', Origin: 'http://exporter:80' }],
    [true, { Host: 'exporter:10317', Origin: 'https://evil.example' }],
    [true, { Host: 'exporter:10317', Origin: 'http://exporter:80' }],
    [true, { Host: 'exporter:10317', Origin: 'null' }],
    [true, { Origin: 'https://evil.example' }],
  ])('%s: %j', (expected, headers) => {
    expect(isFromAnotherSite((name) => headers[name])).toBe(expected);
  });
});

describe('while a scrape is rendered', () => {
  it.each(['/', '/-/healthy', '/api/v1/history?server=main/1a7ce997', '/nowhere'])(
    '%s is answered after a rest, however often it is requested',
    async (path) => {
      const text = deferred<string>();
      const { routes, board } = exporterRoutes({
        fleet: fleetReading([streamingReading()]),
        clock: new ManualClock(),
        scrape: (encoding) => renderBody([text.promise], encoding, 'scrape'),
      });
      const scrape = routes.request('/metrics', {}, {});
      for (let turn = 0; turn < 2; turn += 1) {
        // Timers fire in the order of their ends, and the rest lasts longer.
        const passed = vi.fn<() => void>();
        const end = repeatedly(passed, 20);
        await routes.request(path, {}, {});
        end();
        expect(passed).toHaveBeenCalled();
      }
      text.resolve('# the scrape\n');
      expect(await (await scrape).text()).toBe('# the scrape\n');
      board.stop();
    },
  );
});

test.each([
  ['gzip', true],
  ['GZIP', true],
  ['deflate, gzip;q=0.5, br', true],
  ['gzip ; q=1.000', true],
  [undefined, false],
  ['', false],
  ['identity', false],
  ['br', false],
  ['gzipped', false],
  ['gzip;q=0', false],
  ['gzip;q=0.000', false],
  ['gzip;q=0, *', false],
  ['*;q=0', false],
])('a body for Accept-Encoding %j is compressed: %s', async (header, isCompressed) => {
  const bodies = new HeldBodies(100);
  const app = new Hono<RouteEnv>().get('/', (c) =>
    bodies.respond(c, {}, async (encoding) => ({ chunks: [Buffer.from(encoding)], bytes: encoding.length })),
  );
  const init = header === undefined ? {} : { headers: { 'Accept-Encoding': header } };
  const response = await app.request('/', init, {});
  expect(response.headers.get('Content-Encoding')).toBe(isCompressed ? 'gzip' : null);
  expect(await response.text()).toBe(isCompressed ? 'gzip' : 'identity');
});

describe('held bodies', () => {
  let held: HeldBodies;
  let cut: string[];

  beforeEach(() => {
    held = new HeldBodies(100);
    cut = [];
  });

  const body = (bytes: number) => ({ chunks: [], bytes });
  const hold = (of: ReturnType<typeof body>, name: string) => held.hold(of, () => cut.push(name));

  test('are all kept while they fit', () => {
    for (const name of ['a', 'b', 'c', 'd']) hold(body(25), name);
    expect(cut).toEqual([]);
  });

  test('are dropped, oldest first and with all their readers, to make room for the newest', () => {
    const first = body(60);
    hold(first, 'a');
    hold(body(30), 'b');
    hold(first, 'c');
    hold(body(70), 'd');
    expect(cut).toEqual(['a', 'c']);
  });

  test('count once for all their readers', () => {
    const shared = body(100);
    for (let reader = 0; reader < 1_000; reader += 1) hold(shared, `${reader}`);
    expect(cut).toEqual([]);
  });

  test('always include the newest, however large it is', () => {
    hold(body(10), 'a');
    hold(body(1_000), 'b');
    expect(cut).toEqual(['a']);
    hold(body(5), 'c');
    expect(cut).toEqual(['a', 'b']);
  });

  test('free their space once when released', () => {
    const shared = body(100);
    const [release, releaseOther] = [hold(shared, 'a'), hold(shared, 'b')];
    release();
    release();
    releaseOther();
    hold(body(100), 'c');
    expect(cut).toEqual([]);
  });

  test('free no space twice if released after being dropped', () => {
    const release = hold(body(100), 'a');
    hold(body(100), 'b');
    release();
    hold(body(100), 'c');
    expect(cut).toEqual(['a', 'b']);
  });

  test('are held again for new readers after being cut, whenever the cut readers leave', () => {
    const shared = body(60);
    const release = hold(shared, 'a');
    hold(body(100), 'b');
    hold(shared, 'c');
    release();
    hold(body(50), 'd');
    expect(cut).toEqual(['a', 'b', 'c']);
  });
});

it.each([
  ['127.0.0.1:10317', true],
  ['192.0.2.1', true],
  ['[::1]:10317', true],
  ['[2001:db8::1]', true],
  ['localhost:10317', true],
  ['LocalHost', true],
  ['box', true],
  ['Box.:10317', true],
  ['exporter.example.com', true],
  ['evil.example', false],
  ['box.evil.example:10317', false],
  ['localhost.evil.example', false],
  ['127.0.0.1.evil.example', false],
  ['evil.example@127.0.0.1', false],
  ['127.0.0.1:10317:80', false],
  ['', false],
  [undefined, true],
])('a reload with the host %j is allowed: %j', (host, expected) => {
  expect(isReloadHost(host, ['box', 'exporter.example.com'])).toBe(expected);
});
