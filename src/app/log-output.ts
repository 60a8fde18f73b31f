// Writes log lines to standard error, and never blocks or stops the program.

import { pino } from 'pino';
import { MIB } from '../domain/units.ts';

const STANDARD_ERROR = 2;

/** The maximum backlog for a slow reader or a full disk; anything beyond it is dropped. */
const MAX_BACKLOG_BYTES = MIB;

/** How often a backlog is written again while nothing is logged. */
const RETRY_MS = 1_000;

interface LogOutput {
  readonly write: (line: string) => void;
  readonly droppedLines: () => number;
}

/** Writes lines at once and in order. A failure to write never stops the program. */
export function openOutput(): LogOutput {
  let dropped = 0;
  let hasReader = true;
  const destination = pino.destination({
    dest: STANDARD_ERROR,
    sync: true,
    maxLength: MAX_BACKLOG_BYTES,
    // Without a minimum, pino sets up no periodic flush. Every line is longer than this.
    minLength: 1,
    periodicFlush: RETRY_MS,
    // Trying again at once would block the program until the reader has caught up.
    retryEAGAIN: () => false,
  });
  destination.on('drop', () => {
    dropped += 1;
  });
  // pino closes a pipe without a reader, and keeps the line after any other error.
  destination.on('error', ({ code }: NodeJS.ErrnoException) => {
    hasReader &&= code !== 'EPIPE';
  });
  return {
    write: (line) => {
      if (hasReader) destination.write(line);
      if (!hasReader) dropped += 1;
    },
    droppedLines: () => dropped,
  };
}
