/** A call to a panel, with the facts that the scheduler uses. */
import type { Path, Subject } from '../subjects.ts';

/** A waiting, running or ended call. */
export interface Call {
  readonly path: Path;
  /** `NO_SERVER` if it concerns no server. */
  readonly server: string;
  /** The server's node, if it is known. */
  readonly node: () => string | undefined;
  /**
   * In monotonic milliseconds. Of the calls that may start, the one with the earliest deadline
   * starts first.
   */
  readonly deadline: number;
  /** The subject with an outage that this call tries. A call that tries the panel is a canary. */
  readonly tries: () => Subject | undefined;
  /** Whether its server failed there before, so that it will probably fail again. */
  readonly isRetry?: (() => boolean) | undefined;
  /**
   * Whether it renews the token of a streaming socket, so that an outage of the node doesn't hold
   * it.
   */
  readonly isRenewal?: boolean | undefined;
}

/** A call that has started. Instants are monotonic milliseconds. */
export interface Started {
  readonly call: Call;
  readonly startedAt: number;
}

export const isCanary = (call: Call): boolean => call.tries() === 'panel';

/** Does the call open or keep a server's socket? */
export const isConnect = ({ path }: Pick<Call, 'path'>): boolean => path === 'websocket';
