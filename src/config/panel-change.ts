import { isDeepStrictEqual } from 'node:util';
import type { PanelConfig } from './config.ts';

/** What a panel takes on while it runs. A setting that is not named here has the panel built anew. */
const LIVE: ReadonlySet<string> = new Set<keyof PanelConfig>([
  'apiKey',
  'apiKeySource',
  'pollIntervalMs',
  'stalenessMs',
  'listing',
  'backups',
  'servers',
]);

/** May the panel go on with its connections, its budget and its sockets? */
export function isSameConnection(before: PanelConfig, after: PanelConfig): boolean {
  return isDeepStrictEqual(connectionOf(before), connectionOf(after));
}

/** Are key, intervals, discovery and backups the same? */
export function isSameSettings(before: PanelConfig, after: PanelConfig): boolean {
  return (
    isSameKey(before, after) &&
    before.pollIntervalMs === after.pollIntervalMs &&
    before.stalenessMs === after.stalenessMs &&
    isDeepStrictEqual([before.listing, before.backups], [after.listing, after.backups])
  );
}

export function isSameKey(before: PanelConfig, after: PanelConfig): boolean {
  return before.apiKey.reveal() === after.apiKey.reveal();
}

function connectionOf(panel: PanelConfig): object {
  const settings = Object.entries(panel).filter(([key]) => !LIVE.has(key));
  // A secret keeps its text from comparisons, too.
  return { ...Object.fromEntries(settings), tlsKey: panel.tls?.key?.reveal() };
}
