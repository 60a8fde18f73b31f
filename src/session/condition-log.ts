import type { CollectionStatus } from '../domain/collection.ts';
import type { Logger } from '../domain/log.ts';
import type { ServerTarget } from '../domain/server.ts';

/** What tells a server's lines in the log from those of others. */
export interface LogSubject {
  readonly panel: string;
  readonly server: string;
}

export function subjectOf({ panel, name }: ServerTarget): LogSubject {
  return { panel, server: name };
}

/**
 * Logs one line for a change of a server's condition. A trouble that was told already, once for the whole panel, is left to
 * those who look for it.
 */
export function tellCondition(
  log: Logger,
  subject: CollectionStatus & LogSubject,
  toldAlready: boolean,
): void {
  const { server, condition } = subject;
  if (condition === 'blocked' && !toldAlready) {
    log.warn(subject, `server ${server} is blocked: ${subject.blocked ?? 'unknown'}`);
  } else if (condition === 'failing' && !toldAlready) {
    log.warn(subject, `server ${server} can't be observed for now`);
  } else if (condition === 'streaming' || condition === 'polling') {
    log.info(subject, `server ${server} is ${condition === 'polling' ? 'polled' : condition}`);
  } else {
    log.debug(subject, `server ${server} is ${condition}`);
  }
}
