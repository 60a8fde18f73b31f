// Logs when a server's queries begin to fail, and when they work again.

import { withRemedy } from '../diagnosis/causes.ts';
import type { Logger } from '../domain/logger.ts';
import type { Problem } from '../domain/problems.ts';
import { serverFields } from './server-events.ts';
import type { ServerRecord } from './server-record.ts';

/** The part of a record that a line needs. */
type LoggedServer = Pick<ServerRecord, 'target' | 'node'>;

export class QueryLog {
  readonly #log: Logger;
  /** Servers with a logged failure and no response since. */
  readonly #failing = new WeakSet<LoggedServer>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Logs the first failure, and the first response after it. */
  queried(server: LoggedServer, problem: Problem | undefined): void {
    const { name } = server.target;
    const subject = serverFields(server.target, server.node);
    if (problem === undefined) {
      if (!this.#failing.delete(server)) return;
      this.#log.info({ ...subject, event: 'query_answered' }, `server ${name} responds to queries again`);
      return;
    }
    const { cause, detail } = problem;
    const fields = { ...subject, event: 'query_failed', cause, detail };
    const isQuiet = this.#failing.has(server) || cause === 'query_never_answered';
    const level = isQuiet ? 'debug' : 'warn';
    if (!isQuiet) this.#failing.add(server);
    this.#log[level](fields, `server ${name} is running, but can't be queried: ${withRemedy(problem)}`);
  }
}
