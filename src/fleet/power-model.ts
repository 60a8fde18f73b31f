// A server's power as data: observations, and the state derived from them.

import { NEVER } from '../domain/clock.ts';
import type { ServerState } from '../domain/power-states.ts';
import type { SampleSource } from '../domain/sample.ts';
import { type LastStop, NO_STOPS } from '../domain/stops.ts';
import type { DaemonNotice } from '../panel/socket-codec.ts';

/** A state in a `status` event or a sample. */
export interface StateObservation {
  readonly seen: 'state';
  readonly at: number;
  readonly state: ServerState;
  readonly source: SampleSource | 'status';
  /** The earliest instant at which the sample can have been measured. */
  readonly measuredFrom?: number;
  /** The uptime in a sample; NaN if it has none. */
  readonly uptimeMs?: number;
  /** Whether the uptime belongs to a different run than the one before. */
  readonly restarted?: boolean;
}

/** An observation of one server's power. Instants are monotonic milliseconds. */
export type Observation =
  | StateObservation
  | { readonly seen: 'notice'; readonly at: number; readonly notice: DaemonNotice }
  /**
   * Events may have been missed: the next state is not a transition, and no notice explains the
   * latest stop.
   */
  | { readonly seen: 'gap' }
  | { readonly seen: 'time'; readonly at: number };

/** A stop, with the facts about its reason. */
export interface Stop extends LastStop {
  /** The number of starts before it. */
  readonly run: number;
  /**
   * Whether the stop itself was seen on an uninterrupted socket, or only its result, after a gap or
   * in a poll.
   */
  readonly seen: 'happening' | 'after a gap' | 'by a poll';
  /** The kinds of notices that the daemon printed about it, and the time of the last. */
  readonly notices: readonly DaemonNotice['kind'][];
  readonly noticedAt: number;
}

/** The state before any observation. */
export const NOTHING_SEEN = {
  /** The latest state that was sent; `unknown` if the exporter doesn't know it. */
  state: 'unknown' as ServerState,
  /** The latest known state, when it began, and the one before it. */
  known: 'unknown' as ServerState,
  since: NEVER,
  before: 'unknown' as ServerState,
  /**
   * Whether the known state was seen on the current socket, so that the next one is a transition.
   */
  isUnbroken: false,
  /**
   * Whether all of this is from before the exporter's restart, and no sample has confirmed or
   * changed it yet.
   */
  isRestored: false,
  /** The states that `status` events ended, and that haven't begun again. */
  ended: [] as readonly ServerState[],
  statusAt: NEVER,
  starts: 0,
  startedAt: NEVER,
  /**
   * Whether the last start was seen as a state, but not yet in an uptime: the daemon may first
   * download an image for minutes.
   */
  awaitsUptime: false,
  /** The earliest instant at which the server was last seen off. */
  offSeenFrom: NEVER,
  /** Whether the server was seen off, and the start that ends this hasn't been counted yet. */
  owesStart: false,
  stops: NO_STOPS,
  lastStop: undefined as Stop | undefined,
  /**
   * The stops that the daemon may still explain, in order. A server that is restarted at once can
   * stop again before the daemon explains the first stop.
   */
  pending: [] as readonly Stop[],
  /** The stops that were decided by the latest observations, in order. */
  decided: [] as readonly Stop[],
  /** The latest exit code from the daemon. */
  lastExitCode: undefined as number | undefined,
  /** Whether the daemon reported that it won't start the server again. False once it starts. */
  isRestartAborted: false,
  diskFullAt: NEVER,
  /**
   * Should the server be running? True from when it runs until someone stops it; undefined while
   * unknown.
   */
  isExpected: undefined as boolean | undefined,
  /** When it exited by itself. The node may restart it. */
  exitedAt: Number.NaN,
};

/**
 * The conclusions from all observations: a server's state, its starts, its stops by reason, and
 * whether it should be running.
 */
export type Power = Readonly<typeof NOTHING_SEEN>;
