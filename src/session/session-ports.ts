// The ports of a session, which the panel's fleet provides.

import type { Clock } from '../domain/clock.ts';
import type { ServerState } from '../domain/power-states.ts';
import type { Problem } from '../domain/problems.ts';
import type { Sample } from '../domain/sample.ts';
import type { ServerTarget } from '../domain/server.ts';
import type { CollectionStatus, SocketState } from '../domain/snapshot.ts';
import type { PanelTelemetry } from '../domain/telemetry.ts';
import type { PanelGateway } from '../panel/gateway.ts';
import type { DaemonNotice, SocketCodec } from '../panel/socket-codec.ts';
import type { InTurn } from './connect-pacer.ts';
import type { HandshakeRoom } from './handshake-room.ts';
import type { SocketTimeouts } from './machine-steps.ts';
import type { ConsoleSocket, SocketListener } from './socket.ts';
import type { Surroundings } from './surroundings.ts';

/** A panel's settings for console sockets. */
export interface SessionSettings extends SocketTimeouts {
  /** The `Origin` that is sent. It is part of the message when an upgrade is refused. */
  readonly origin: string;
}

/** How to open a panel's console sockets, and to which addresses. */
export interface SocketAccess {
  /** The codec of the messages on its sockets. */
  readonly codec: SocketCodec;
  /** Calls back in this panel's turn to open a socket. */
  readonly inTurn: InTurn;
  readonly handshakes: HandshakeRoom;
  readonly openSocket: (url: string, listener: SocketListener) => ConsoleSocket;
  /** Why the exporter may not connect to this address from the panel; undefined if it may. */
  readonly addressProblem: (url: string) => Problem | undefined;
  /** Is there a proxy to this address of the panel or a socket? */
  readonly isProxied: (url: string) => boolean;
}

/** The findings of a session about its server. */
export interface SessionRecord {
  readonly target: ServerTarget;
  /** The server's node, for the log. */
  readonly node?: string | undefined;
  readonly sampledAt: number | undefined;
  /**
   * Notes that events may have been missed, so that the next state is not a transition: a new
   * socket begins, or the node withheld events because it no longer accepts the token.
   */
  interrupted(): void;
  /** The sample is valid only during the call. */
  socketSample(sample: Sample, now: number): void;
  stateHint(state: ServerState, now: number): void;
  consoleLines: number;
  /** Has the server just stopped, so that the daemon may explain it on the console? */
  readonly awaitsNotice: boolean;
  daemonNotice(notice: DaemonNotice, now: number): void;
  /** The host and port in the panel's address for the server's socket. */
  socketHost: string | undefined;
  pollSample(sample: Sample, requestedAt: number, now: number): void;
  /** Sets after how many milliseconds a polled sample is stale. */
  setPolledStaleness(stalenessMs: number): void;
  setCollection(status: CollectionStatus, socket: SocketState): void;
}

/** A change of a server's condition. */
export interface ConditionChange {
  readonly before: CollectionStatus;
  readonly now: CollectionStatus;
  /** Whether the server's socket has been open before. */
  readonly hasStreamed: boolean;
}

/** Logs changes of servers. */
export interface SessionLog {
  conditionChanged(record: SessionRecord, change: ConditionChange): void;
  /** Logs that the panel now gives another host and port for the server's socket. */
  socketMoved(record: SessionRecord, from: string, to: string): void;
}

/** The context of all sessions of a panel. */
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
  /** Called when the node reported that a backup of the server was completed. */
  readonly backupCompleted?: (record: SessionRecord) => void;
  /**
   * Called after a server's condition was published. The condition and the server's node may have
   * changed.
   */
  readonly shown?: (record: SessionRecord) => void;
  /** Returns the current surroundings of this server's session. */
  readonly surroundings: (record: SessionRecord, isRunning: boolean) => Surroundings;
}
