import { setTimeout as delay } from 'node:timers/promises';
import { startSimulator } from '../../src/simulator/index.ts';
import { watchProcess } from './process-usage.ts';

export interface PanelOptions {
  readonly servers: number;
  /** None that a client here would meet, unless said. */
  readonly rateLimitPerMinute?: number;
  /** PEM certificate and key; plain without them. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

/** Where a client finds the panel, and what there is on it. */
export interface PanelAddress {
  readonly url: string;
  readonly controlUrl: string;
  readonly apiKey: string;
  readonly servers: readonly { readonly uuid: string; readonly name: string }[];
}

export type PanelProgram = Awaited<ReturnType<typeof start>>;

/** No client here is meant to meet it. */
const NO_LIMIT_PER_MINUTE = 1_000_000_000;

const DRAIN_DEADLINE_MS = 60_000;

/** The panel: running servers, one `stats` frame a second each, to every socket that is authenticated. */
export async function start({ servers, tls, rateLimitPerMinute }: PanelOptions) {
  const panel = await startSimulator({
    servers,
    rateLimitPerMinute: rateLimitPerMinute ?? NO_LIMIT_PER_MINUTE,
    websocketLimitPerMinute: rateLimitPerMinute === undefined ? 0 : 5,
    ...(tls !== undefined && { tls }),
  });
  return {
    address: (): PanelAddress => ({
      url: panel.url,
      controlUrl: panel.controlUrl,
      apiKey: panel.apiKey,
      servers: panel.servers.map(({ uuid, name }) => ({ uuid, name })),
    }),
    watch: watchProcess,
    /** Resolves when the last client's sockets are gone, so that burying them isn't measured with the next. */
    drained: async (): Promise<void> => {
      const deadline = performance.now() + DRAIN_DEADLINE_MS;
      while (panel.record.openSockets > 0) {
        if (performance.now() > deadline) throw new Error('the last client’s sockets did not close');
        await delay(100);
      }
    },
  };
}
