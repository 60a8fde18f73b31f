/** A call for a trial, as the panel's health requests it. */
import type { Path, Subject } from '../subjects.ts';

/** A call that no session requested. */
export interface TrialCall {
  readonly path: Path;
  /** The servers that may be asked, the best first. */
  readonly servers: Iterable<string>;
  readonly tries: Subject;
  /** Whether to make a call only if a server's own limit has room for it now. */
  readonly needsRoom: boolean;
}

/**
 * A running trial: the server, and an `end` that resolves once it has tried, with the error of its
 * call if that failed.
 */
export interface RunningTrial {
  readonly server: string;
  readonly end: Promise<unknown>;
}

/** Makes the call for the first server that may be asked now; undefined if there is none. */
export type Enqueue = (call: TrialCall, signal: AbortSignal) => RunningTrial | undefined;
