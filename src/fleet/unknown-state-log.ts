// Logs states of servers that the exporter doesn't know.

import type { Logger } from '../domain/logger.ts';
import type { ServerReading } from '../domain/reading.ts';
import { printable } from '../text/printable.ts';
import { serverFields } from './server-events.ts';

/**
 * The maximum number of unknown states that are logged for a panel, which may invent any number.
 */
const MAX_UNKNOWN_STATES = 10;

/** Logs each unknown state once per panel. */
export function unknownStateLog(log: Logger) {
  const seen = new Set<string>();
  return ({ target, node }: Pick<ServerReading, 'target' | 'node'>, text: string): void => {
    const state = printable(text);
    if (seen.has(state) || seen.size >= MAX_UNKNOWN_STATES) return;
    seen.add(state);
    const shown = `unknown state "${state}", shown as unknown; its data is shown as usual`;
    log.warn({ ...serverFields(target, node), state }, `server ${target.name}: ${shown}`);
  };
}
