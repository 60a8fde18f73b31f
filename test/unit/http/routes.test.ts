import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { renderBody } from '../../../src/metrics/rendered-body.ts';
import { deferred } from '../../support/deferred.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { nextTurn } from '../../support/next-turn.ts';
import { fleetReading, streamingReading } from '../../support/readings.ts';
import { exporterRoutes } from '../../support/routes.ts';

describe('while a scrape is rendered', () => {
  let text: ReturnType<typeof deferred<string>>;
  let exporter: ReturnType<typeof exporterRoutes>;
  let scrape: Promise<Response>;

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    text = deferred<string>();
    exporter = exporterRoutes({
      fleet: fleetReading([streamingReading()]),
      clock: new ManualClock(),
      scrape: (encoding) => renderBody([text.promise], encoding, 'scrape'),
    });
    scrape = Promise.resolve(exporter.routes.request('/metrics', {}, {}));
    await turns();
  });

  afterEach(async () => {
    text.resolve('# the scrape\n');
    expect(await (await scrape).text()).toBe('# the scrape\n');
    exporter.board.stop();
    vi.useRealTimers();
  });

  /** Requests a path five times at once. */
  function requestOften(path: string) {
    const answered = vi.fn<() => void>();
    const all = Array.from({ length: 5 }, async () => {
      await exporter.routes.request(path, {}, {});
      answered();
    });
    return { answered, all: Promise.all(all) };
  }

  it.each(['/', '/-/healthy', '/api/v1/history?server=main/1a7ce997', '/nowhere'])(
    '%s is answered after it, however often it is requested',
    async (path) => {
      const { answered, all } = requestOften(path);
      vi.advanceTimersByTime(19);
      await turns();
      expect(answered).not.toHaveBeenCalled();
      text.resolve('# the scrape\n');
      await all;
    },
  );

  it.each(['/-/healthy', '/-/ready', '/nowhere'])('%s waits 20 ms at most', async (path) => {
    const { answered, all } = requestOften(path);
    await turns();
    vi.advanceTimersByTime(20);
    await all;
    expect(answered).toHaveBeenCalledTimes(5);
  });
});

/** Resolves after a few turns of the event loop. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
}
