// Reports exceptions of the exporter's own code, each place once in the log.

import type { Logger } from '../domain/logger.ts';

/** The maximum number of remembered places. Exceptions at further places are only counted. */
const MAX_PLACES = 100;

/** Receives exceptions of the exporter's own code. */
export class InternalErrorLog {
  readonly #log: Logger;
  readonly #count: () => void;
  /** The places at which the logged exceptions were thrown. */
  readonly #places = new Set<string>();

  constructor(log: Logger, count: () => void) {
    this.#log = log;
    this.#count = count;
  }

  /** Never throws. */
  readonly receive = (error: unknown): void => {
    this.#count();
    const place = callStack(error);
    if (this.#places.has(place) || this.#places.size >= MAX_PLACES) return;
    this.#places.add(place);
    this.#log.error(
      { err: error, cause: 'unexpected' },
      'internal error: please report it with this stack; repetitions are only counted (gameserver_exporter_internal_errors_total)',
    );
  };
}

/** The stack without the message, which may contain anything. */
function callStack(error: unknown): string {
  const { message = '', stack = '' } = error instanceof Error ? error : {};
  return stack === '' ? typeof error : stack.replace(message, '');
}
