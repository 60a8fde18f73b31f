import type { PanelTelemetry } from '../../../src/domain/telemetry.ts';
import type { PanelApiOptions } from '../../../src/panel/panel-api.ts';
import { LONGEST_WAIT_MS } from '../../support/eventually.ts';
import { ManualClock } from '../../support/manual-clock.ts';

export const KEY = 'ptlc_0123456789abcdefSECRET';

/** Telemetry that records calls and invalid responses. */
export function collectingTelemetry(): PanelTelemetry & { readonly calls: string[]; readonly bad: string[] } {
  const calls: string[] = [];
  const bad: string[] = [];
  return {
    calls,
    bad,
    message: () => {},
    badMessage: (kind) => bad.push(kind),
    reconnect: () => {},
    request: (endpoint, status, seconds) => {
      calls.push(`${endpoint} ${status}${seconds >= 0 ? '' : ' negative'}`);
    },
  };
}

/**
 * Options for a panel at this address. Deadlines are never reached, because the clock stands still.
 */
export function apiOptions(baseUrl: string, more: Partial<PanelApiOptions> = {}): PanelApiOptions {
  return {
    panel: 'main',
    baseUrl,
    apiKey: () => KEY,
    requestTimeoutMs: LONGEST_WAIT_MS,
    connectTimeoutMs: LONGEST_WAIT_MS,
    userAgent: 'gameserver-exporter/1.2.3',
    telemetry: collectingTelemetry(),
    clock: new ManualClock(),
    ...more,
  };
}
