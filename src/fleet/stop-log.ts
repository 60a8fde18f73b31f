// Logs the stops of servers that are problems.

import type { Logger } from '../domain/logger.ts';
import type { ServerReading } from '../domain/reading.ts';
import type { Stop } from './power-model.ts';
import { type ServerEvent, serverFields } from './server-events.ts';

/** Logs a stop that is a problem. */
export function logStop(
  log: Logger,
  { target, node }: Pick<ServerReading, 'target' | 'node'>,
  stop: Stop,
): void {
  const { reason, exitCode, notices: said } = stop;
  const isCrash = reason === 'crashed' || reason === 'out_of_memory';
  const code = exitCode === undefined ? [] : [`exit code ${exitCode}`];
  const facts = reason === 'out_of_memory' ? [...code, 'out of memory'] : code;
  const why = facts.length === 0 ? '' : ` (${facts.join(', ')})`;
  const warn = (event: ServerEvent, text: string) =>
    log.warn({ ...serverFields(target, node), event, exitCode }, `server ${target.name} ${text}`);
  if (reason === 'disk_full') warn(reason, 'was stopped by its node: disk limit exceeded');
  // A separate event: otherwise, a summary would hide it among many crashes.
  else if (said.includes('restart aborted')) {
    warn('gave_up', `${isCrash ? 'crashed' : 'stopped by itself'}${why}; the node gave up restarting it`);
  } else if (said.includes('restart disabled')) {
    warn('gave_up', 'stopped by itself; crash detection is disabled, so the node does not restart it');
  } else if (isCrash) warn(reason, `crashed${why}; the node is restarting it`);
}
