import { describe, expect, it } from 'vitest';
import { isFromAnotherSite } from '../../../src/http/routes.ts';
import { renderBody } from '../../../src/metrics/rendered-body.ts';
import { deferred } from '../../support/deferred.ts';
import { collectingLogger } from '../../support/logger.ts';
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
    '%s is answered after a rest of 30 ms, however often it is requested',
    async (path) => {
      const text = deferred<string>();
      const { routes, board } = exporterRoutes({
        fleet: fleetReading([streamingReading()]),
        clock: new ManualClock(),
        logger: collectingLogger(),
        scrape: (encoding) => renderBody([text.promise], encoding, 'scrape'),
      });
      const scrape = routes.request('/metrics', {}, {});
      for (let turn = 0; turn < 2; turn += 1) {
        const requestedAt = performance.now();
        await routes.request(path, {}, {});
        // A timer may fire a millisecond early.
        expect(performance.now() - requestedAt).toBeGreaterThan(28);
      }
      text.resolve('# the scrape\n');
      expect(await (await scrape).text()).toBe('# the scrape\n');
      board.stop();
    },
  );
});
