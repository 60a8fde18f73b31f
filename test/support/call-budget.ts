// A check of the number of calls that a panel received.
import { expect } from 'vitest';
import type { CallRecord } from '../../src/simulator/recorder.ts';
import { busiestMinute } from './busiest-minute.ts';
import type { Scene } from './fault-scene.ts';

/** The maximum number of token requests per minute and server. */
const TOKENS_PER_MINUTE = 2;

const CALLS_PER_MINUTE = 60;

/**
 * Asserts that the panel never received more calls than the exporter's limits, in total and per
 * server.
 */
export function expectWithinBudget({ panel, elsewhere }: Pick<Scene, 'panel' | 'elsewhere'>): void {
  const { calls, counters } = panel.record;
  expect(mostInMinute(calls), 'calls in one minute').toBeLessThanOrEqual(CALLS_PER_MINUTE);
  for (const { uuid, name } of panel.servers) {
    const own = calls.filter(({ endpoint, server }) => endpoint === 'websocket' && server === uuid);
    expect(mostInMinute(own), `tokens of ${name} in one minute`).toBeLessThanOrEqual(TOKENS_PER_MINUTE);
  }
  expect(counters).toMatchObject({ panelLimited: 0, websocketLimited: 0, wouldHaveCrashed: 0 });
  expect(elsewhere.record.counters).toMatchObject({ panelLimited: 0, websocketLimited: 0 });
}

const mostInMinute = (calls: readonly CallRecord[]) => busiestMinute(calls.map(({ at }) => at));
