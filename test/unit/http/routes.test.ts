import { describe, expect, it, vi } from 'vitest';
import { renderBody } from '../../../src/metrics/rendered-body.ts';
import { deferred } from '../../support/deferred.ts';
import { repeatedly } from '../../support/eventually.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { fleetReading, streamingReading } from '../../support/readings.ts';
import { exporterRoutes } from '../../support/routes.ts';

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
