// The visible effects of a fault in the metrics.
import { expect } from 'vitest';
import type { ServerState } from '../../src/domain/power-states.ts';
import type { BlockedReason } from '../../src/domain/server.ts';
import { CONDITIONS, type Condition } from '../../src/domain/snapshot.ts';
import { TARGET } from './fault-stage.ts';
import type { Scraped } from './scrape-watch.ts';

/** The metrics of the affected server and its panel. */
export interface Picture {
  readonly up: 0 | 1;
  readonly streaming: 0 | 1;
  readonly state: ServerState;
  readonly blocked: BlockedReason | 'no';
  /** Whether the server has gauges of its resource usage. */
  readonly gauges: boolean;
  readonly panelUp: 0 | 1;
  /** The condition of the panel's servers that don't stream. */
  readonly condition: Condition | 'mixed';
}

export const STREAMING: Picture = {
  condition: 'streaming',
  up: 1,
  streaming: 1,
  state: 'running',
  blocked: 'no',
  gauges: true,
  panelUp: 1,
};

/** Only polled. */
export const POLLED: Picture = { ...STREAMING, streaming: 0, condition: 'polling' };

/** Without fresh data, and without the older values. */
export const DARK: Picture = {
  ...POLLED,
  condition: 'failing',
  up: 0,
  state: 'unknown',
  gauges: false,
};

/** Without fresh data, for a reason that a person has to resolve. */
export const blocked = (reason: BlockedReason): Picture => ({
  ...DARK,
  condition: 'blocked',
  blocked: reason,
});

/** The picture in a scrape. */
export function pictureOf(scraped: Scraped): Picture {
  const server = { server: TARGET };
  const one = (name: string) => scraped.value(name, server) as 0 | 1;
  const state = scraped.series('gameserver_state', server).find(({ value }) => value === 1);
  const [reason] = scraped.series('gameserver_blocked', server);
  const conditions = CONDITIONS.filter((condition) => {
    const labels = { panel: 'main', condition };
    return condition !== 'streaming' && scraped.value('gameserver_exporter_servers', labels) !== 0;
  });
  return {
    condition: conditions.length > 1 ? 'mixed' : (conditions[0] ?? 'streaming'),
    up: one('gameserver_collection_up'),
    streaming: one('gameserver_collection_streaming'),
    state: state?.labels['state'] as ServerState,
    blocked: (reason?.labels['reason'] ?? 'no') as BlockedReason | 'no',
    gauges: one('gameserver_memory_usage_bytes') !== undefined,
    panelUp: scraped.value('gameserver_panel_up', { panel: 'main' }) as 0 | 1,
  };
}

/** Asserts that these servers stream and have fresh samples. */
export function expectStreaming(scraped: Scraped, servers: readonly string[]): void {
  for (const server of servers) {
    expect(scraped.value('gameserver_collection_streaming', { server }), server).toBe(1);
    expect(scraped.value('gameserver_collection_up', { server }), server).toBe(1);
  }
}
