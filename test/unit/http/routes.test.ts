import { describe, expect, it, vi } from 'vitest';
import { renderBody } from '../../../src/metrics/rendered-body.ts';
import { deferred } from '../../support/deferred.ts';
import { repeatedly } from '../../support/eventually.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { fleetReading, streamingReading } from '../../support/readings.ts';
import { exporterRoutes } from '../../support/routes.ts';

describe('while a scrape is rendered', () => {
  it.each(['/', '/-/healthy', '/api/v1/history?server=main/1a7ce997', '/nowhere'])(
    '%s is answered after it, however often it is requested',
    async (path) => {
      const text = deferred<string>();
      const { routes, board } = exporterRoutes({
        fleet: fleetReading([streamingReading()]),
        clock: new ManualClock(),
        scrape: (encoding) => renderBody([text.promise], encoding, 'scrape'),
      });
      const scrape = routes.request('/metrics', {}, {});
      const answered = vi.fn<() => void>();
      const loops = Array.from({ length: 5 }, async () => {
        await routes.request(path, {}, {});
        answered();
      });
      // Timers fire in the order of their due times, and the longest rest is due later.
      await passed(50);
      expect(answered).not.toHaveBeenCalled();
      text.resolve('# the scrape\n');
      expect(await (await scrape).text()).toBe('# the scrape\n');
      await Promise.all(loops);
      board.stop();
    },
  );
});

/** Resolves after this many real milliseconds. */
function passed(afterMs: number): Promise<void> {
  return new Promise((resolve) => {
    const end = repeatedly(() => {
      end();
      resolve();
    }, afterMs);
  });
}
