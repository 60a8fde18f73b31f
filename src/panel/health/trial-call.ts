/** A call that a trial needs, as the panel's health asks for it. */
import type { Path, Subject } from '../subjects.ts';

/** A call that no session asked for. */
export interface TrialCall {
  readonly path: Path;
  /** The servers that may be asked, the best first. */
  readonly servers: Iterable<string>;
  readonly tries: Subject;
  /** No call is made unless a server's own limit has room for it now. */
  readonly needsRoom: boolean;
}

/**
 * A server tries a subject; `end` resolves once it has, with the error of its call if it failed.
 */
export interface Trying {
  readonly server: string;
  readonly end: Promise<unknown>;
}

/** Makes the call for the first server that may be asked now; undefined if there is none. */
export type Enqueue = (call: TrialCall, signal: AbortSignal) => Trying | undefined;
