// A process without file descriptors.
import type { CauseCode } from '../../../src/domain/problems.ts';

/** A fault of the whole process, with the built program. */
export interface ProcessRow {
  readonly name: string;
  readonly cause: CauseCode;
  /** The number of file descriptors during the fault. Node.js itself uses about 20. */
  readonly during: number;
  readonly after: number;
}

export const DESCRIPTORS_ROW: ProcessRow = {
  name: 'a process that runs out of file descriptors keeps running, reports it, and recovers',
  cause: 'descriptors',
  during: 40,
  after: 1_024,
};
