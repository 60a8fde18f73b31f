// A server's power as data: the observations, and the state that follows from them.

import type { ServerState } from '../domain/power-states.ts';
import type { SampleSource } from '../domain/sample.ts';
import { type LastStop, NO_STOPS } from '../domain/stops.ts';
import { NEVER } from '../domain/time.ts';
import type { DaemonNotice } from '../panel/socket-codec.ts';

/** A state as a `status` event or a sample shows it. */
export interface StateSeen {
  readonly seen: 'state';
  readonly at: number;
  readonly state: ServerState;
  readonly source: SampleSource | 'status';
  /** The earliest instant at which a sample can have been measured. */
  readonly measuredFrom?: number;
  /** The uptime in a sample; NaN if it has none. */
  readonly uptimeMs?: number;
  /** The uptime is that of another run than the one before. */
  readonly restarted?: boolean;
}

/** Something seen of one server's power. Instants are monotonic milliseconds. */
export type Seen =
  | StateSeen
  | { readonly seen: 'notice'; readonly at: number; readonly notice: DaemonNotice }
  /**
   * Events may have been missed until now: the next state is not a transition, and nothing further
   * explains the latest stop.
   */
  | { readonly seen: 'gap' }
  | { readonly seen: 'time'; readonly at: number };

/** A stop, with the facts about its reason. */
export interface Stop extends LastStop {
  /** The number of starts seen before it. */
  readonly run: number;
  /**
   * Whether the stop itself was seen on an uninterrupted socket, or only that the server is off,
   * after a gap or by a poll.
   */
  readonly seen: 'happening' | 'after a gap' | 'by a poll';
  /** The kinds of notices that the daemon printed about it, and when it last did. */
  readonly notices: readonly DaemonNotice['kind'][];
  readonly noticedAt: number;
}

/** Before anything was seen. */
export const NOTHING_SEEN = {
  /** The latest state that was sent: `unknown` if it wasn't understood. */
  state: 'unknown' as ServerState,
  /** The latest known state, when it began, and the one before it. */
  known: 'unknown' as ServerState,
  since: NEVER,
  before: 'unknown' as ServerState,
  /** The known state was seen on the current socket, so that the next one is a transition. */
  isUnbroken: false,
  /**
   * All of this is from before a restart of the exporter: no sample has confirmed or changed it
   * yet.
   */
  isRestored: false,
  /** The states that `status` events ended and that haven't begun again since. */
  ended: [] as readonly ServerState[],
  statusAt: NEVER,
  starts: 0,
  startedAt: NEVER,
  /**
   * The last start was seen as a state, and no uptime has revealed yet when the server's process
   * began: before that, a daemon may download its image for minutes.
   */
  awaitsUptime: false,
  /** The earliest instant at which the server was last seen off. */
  offSeenFrom: NEVER,
  /** The server was seen off, and the start that ends this has not been counted yet. */
  owesStart: false,
  stops: NO_STOPS,
  lastStop: undefined as Stop | undefined,
  /**
   * The stops that the daemon may still explain, in order: a server that is restarted at once can
   * stop again before its notices came.
   */
  pending: [] as readonly Stop[],
  /** The stops that the latest observations decided, in order. */
  decided: [] as readonly Stop[],
  /** The latest exit code that the daemon reported. */
  lastExitCode: undefined as number | undefined,
  /** The daemon reported that it won't start the server again, and it hasn't started since. */
  isRestartAborted: false,
  diskFullAt: NEVER,
  /**
   * Should the server be running? True from when it runs until someone stops it; undefined while
   * unknown.
   */
  isExpected: undefined as boolean | undefined,
  /** When it exited by itself; the node may restart it. */
  exitedAt: Number.NaN,
};

/**
 * The conclusions from the observations so far: a server's state, its starts, its stops by reason,
 * and whether it should be running.
 */
export type Power = Readonly<typeof NOTHING_SEEN>;
