/** A call to a panel as the scheduler knows it, before, while and after it runs. */
import type { Path, Subject } from '../subjects.ts';

/** A call that waits, runs or ran. */
export interface Call {
  readonly path: Path;
  /** `NO_SERVER` if it concerns none. */
  readonly server: string;
  /** The server's node, if that is known by now. */
  readonly node: () => string | undefined;
  /**
   * Monotonic milliseconds. Of the calls that may start, the one with the earliest deadline starts
   * first.
   */
  readonly deadline: number;
  /**
   * The subject that it tries now, because that has an outage; a call that tries the panel is a
   * canary.
   */
  readonly tries: () => Subject | undefined;
  /** Its server failed there before, so it probably fails again. */
  readonly isRetry?: (() => boolean) | undefined;
  /** Renews the token of a streaming socket, so an outage of the node does not hold it. */
  readonly isRenewal?: boolean | undefined;
}

/** A call that started; instants are monotonic milliseconds. */
export interface Started {
  readonly call: Call;
  readonly startedAt: number;
}

export const isCanary = (call: Call): boolean => call.tries() === 'panel';

/** A call that gets a socket for a server, or keeps one. */
export const isConnect = ({ path }: Pick<Call, 'path'>): boolean => path === 'websocket';
