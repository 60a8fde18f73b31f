import type { CauseCode } from '../../../src/domain/problems.ts';

/** A fault of the whole process, tested with the built program. */
export interface ProcessRow {
  readonly name: string;
  readonly cause: CauseCode;
  /** How many file descriptors the process may have during the fault; some 20 are Node's own. */
  readonly during: number;
  readonly after: number;
}

export const DESCRIPTORS_ROW: ProcessRow = {
  name: 'a process that runs out of file descriptors keeps running, reports it, and recovers',
  cause: 'descriptors',
  during: 40,
  after: 1_024,
};
