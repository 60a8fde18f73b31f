// The causes that concern the exporter or its machine.
import type { CauseCodes } from '../domain/problems.ts';
import { type Cause, causes, PASSING_ERROR, PASSING_WARNING } from './cause-table.ts';

export const EXPORTER_CAUSES = {
  ...causes('exporter', PASSING_ERROR, {
    descriptors: [
      'out of file descriptors',
      'The limit on open files is too low: each console socket takes a file descriptor, and some are reserved for scrapes and API calls.',
      'Raise the limit on open files (`ulimit -n`, or `LimitNOFILE=` in a unit).',
    ],
  }),
  ...causes('exporter', PASSING_WARNING, {
    unexpected: [
      'unexpected error',
      'This is most likely a bug in the exporter.',
      'Please report it together with the message.',
    ],
  }),
} satisfies Readonly<Record<CauseCodes['exporter'], Cause>>;
