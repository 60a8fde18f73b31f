// The state of a server that survives a restart of the exporter, as plain data.

import type { ServerState } from './power-states.ts';
import type { SampleSource } from './sample.ts';
import type { StopReason } from './stops.ts';

/** A stop, by its age. */
export interface KeptStop {
  readonly ago: number;
  readonly reason: StopReason;
  readonly exitCode?: number | undefined;
  /** Whether it happened while the exporter was not running. */
  readonly whileDown?: true | undefined;
}

/**
 * A server's power, with the names of `Power` and with ages for instants. Absent values are
 * unknown.
 */
export interface KeptPower {
  readonly state: ServerState;
  readonly sinceAgo: number;
  readonly startedAgo?: number | undefined;
  readonly offSeenFromAgo?: number | undefined;
  readonly exitedAgo?: number | undefined;
  readonly diskFullAgo?: number | undefined;
  readonly owesStart?: true | undefined;
  readonly isExpected?: boolean | undefined;
  readonly isRestartAborted?: true | undefined;
  readonly lastExitCode?: number | undefined;
  readonly lastStop?: KeptStop | undefined;
}

/** The uptime in a server's newest sample. */
export interface KeptUptime {
  readonly uptimeMs: number;
  readonly source: SampleSource;
  readonly receivedAgo: number;
  readonly measuredFromAgo: number;
}

/** The states of a server in the last two hours. */
export interface KeptStrip {
  /** When the newest step began. */
  readonly ago: number;
  /** The steps, in the format of the server's history. */
  readonly steps: string;
}

/** The kept state of one server. Ages are whole milliseconds before `seenAt`. */
export interface KeptServer {
  readonly panel: string;
  /** The UUID, or the configured id while that is unknown. */
  readonly id: string;
  /** When this state was current, in Unix milliseconds. */
  readonly seenAt: number;
  readonly power?: KeptPower | undefined;
  readonly uptime?: KeptUptime | undefined;
  /** The stops of the last hour, oldest first. */
  readonly unwantedStops?: readonly KeptStop[] | undefined;
  readonly strip?: KeptStrip | undefined;
}
