// The ports of a session, which the panel's fleet provides.

import type { ServerState } from '../domain/power-states.ts';
import type { Problem } from '../domain/problems.ts';
import type { Sample } from '../domain/sample.ts';
import type { ServerTarget } from '../domain/server.ts';
import type { CollectionStatus, SocketState } from '../domain/snapshot.ts';
import type { PanelTelemetry } from '../domain/telemetry.ts';
import type { Clock } from '../domain/time.ts';
import type { PanelGateway } from '../panel/gateway.ts';
import type { DaemonNotice, SocketCodec } from '../panel/socket-codec.ts';
import type { InTurn } from './connect-pacer.ts';
import type { HandshakeRoom } from './handshake-room.ts';
import type { SocketTimeouts } from './machine-steps.ts';
import type { ConsoleSocket, SocketListener } from './socket.ts';
import type { Surroundings } from './surroundings.ts';

/** A panel's settings for console sockets. */
export interface SessionSettings extends SocketTimeouts {
  /** Sent as `Origin`; mentioned when an upgrade is refused. */
  readonly origin: string;
}

/** How a panel's console sockets are opened, and to which addresses. */
export interface SocketAccess {
  /** The codec of the messages on its sockets. */
  readonly codec: SocketCodec;
  /** Calls back when it is this panel's turn to open a socket. */
  readonly inTurn: InTurn;
  readonly handshakes: HandshakeRoom;
  readonly openSocket: (url: string, listener: SocketListener) => ConsoleSocket;
  /**
   * Why the exporter may not connect to this address, which the panel gave; undefined if it may.
   */
  readonly addressProblem: (url: string) => Problem | undefined;
  /** Is this address, of the panel or of a socket, reached through a proxy? */
  readonly isProxied: (url: string) => boolean;
}

/** Stores a session's findings: one server's entry in the fleet. */
export interface SessionRecord {
  readonly target: ServerTarget;
  /** Included in the log, if known. */
  readonly node?: string | undefined;
  readonly sampledAt: number | undefined;
  /**
   * Events may have been missed until now, so the next state is not a transition: a new socket
   * begins, or the node withheld events from the open one because it no longer accepts the token.
   */
  interrupted(): void;
  /** The sample is valid only during the call. */
  socketSample(sample: Sample, now: number): void;
  stateHint(state: ServerState, now: number): void;
  consoleLines: number;
  /** Has the server just stopped, so that the daemon may explain it on the console? */
  readonly awaitsNotice: boolean;
  daemonNotice(notice: DaemonNotice, now: number): void;
  /** The host and port that the panel gives for the server's socket. */
  socketHost: string | undefined;
  pollSample(sample: Sample, requestedAt: number, now: number): void;
  /** From now on, a polled sample is stale after this many milliseconds. */
  setPolledStaleness(stalenessMs: number): void;
  setCollection(status: CollectionStatus, socket: SocketState): void;
}

/** How a server's condition changed. */
export interface ConditionChange {
  readonly before: CollectionStatus;
  readonly now: CollectionStatus;
  /** The server's socket has been open before. */
  readonly hasStreamed: boolean;
}

/** Logs the changes of servers. */
export interface SessionLog {
  conditionChanged(record: SessionRecord, change: ConditionChange): void;
  /** The panel gives another host and port for the server's socket than before. */
  socketMoved(record: SessionRecord, from: string, to: string): void;
}

/** The context that all sessions of a panel share. */
export interface SessionContext {
  readonly sockets: SocketAccess;
  readonly clock: Clock;
  readonly log: SessionLog;
  readonly random: () => number;
  readonly panel: Pick<
    PanelGateway,
    | 'credentials'
    | 'delaysToken'
    | 'resources'
    | 'isCurrent'
    | 'tokenOutdated'
    | 'socketEnded'
    | 'declineTrial'
    | 'reclassify'
  >;
  readonly telemetry: PanelTelemetry;
  readonly settings: SessionSettings;
  /** The node reported that a backup of the server completed. */
  readonly backupCompleted?: (record: SessionRecord) => void;
  /** Called after a server's condition was shown: it, and the server's node, may have changed. */
  readonly shown?: (record: SessionRecord) => void;
  /** The present surroundings of this server's session. */
  readonly surroundings: (record: SessionRecord, isRunning: boolean) => Surroundings;
}
