import type { Clock } from '../domain/clock.ts';
import type { Problem } from '../domain/problem.ts';
import type { CollectionStatus, SocketState } from '../domain/reading.ts';
import type { Sample, ServerState, ServerTarget } from '../domain/server.ts';
import type { PanelTelemetry } from '../domain/telemetry.ts';
import type { DaemonWords, SocketCodec } from '../panel/dialect.ts';
import type { PanelGateway } from '../panel/gateway.ts';
import type { SocketTimeouts } from './machine.ts';
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
  readonly openSocket: (url: string, listener: SocketListener) => ConsoleSocket;
  /** Why the exporter may not connect to this address, which the panel gave; undefined if it may. */
  readonly addressProblem: (url: string) => Problem | undefined;
  /** Is this address, of the panel or of a socket, reached through a proxy? */
  readonly isProxied: (url: string) => boolean;
}

/** Where a console socket stores what it learns. */
export interface StreamRecord {
  readonly target: ServerTarget;
  /** Included in the log, if known. */
  readonly node?: string | undefined;
  readonly sampledAt: number | undefined;
  /** A new uninterrupted socket begins: its first state is not a transition. */
  socketBegan(): void;
  /** The node withheld events from the open socket because it no longer accepts the token: the next state is not a transition. */
  eventsWithheld(): void;
  /** The sample is valid only during the call. */
  socketSample(sample: Sample, now: number): void;
  stateHint(state: ServerState, now: number): void;
  consoleLine(): void;
  /** Has the server just stopped, so that the daemon may explain it on the console? */
  readonly awaitsWords: boolean;
  daemonWords(words: DaemonWords, now: number): void;
  /** The panel gives this host and port for the server's socket. */
  socketHost(host: string): void;
}

/** Where polls store what they learn. */
export interface PollRecord extends Pick<StreamRecord, 'target' | 'sampledAt'> {
  pollSample(sample: Sample, requestedAt: number, now: number): void;
  /** From now on, a polled sample is stale after this many milliseconds. */
  setPolledStaleness(stalenessMs: number): void;
}

/** Where a session stores what it learns; one server's entry in the fleet store. */
export interface SessionRecord extends StreamRecord, PollRecord {
  setCollection(status: CollectionStatus, socket: SocketState): void;
}

/** How a server's condition changed. */
export interface ConditionChange {
  readonly before: CollectionStatus;
  readonly now: CollectionStatus;
  /** The server's socket has been open before. */
  readonly hasStreamed: boolean;
}

/** Gets what may be logged about servers. */
export interface SessionLog {
  conditionChanged(record: StreamRecord, change: ConditionChange): void;
  /** The panel gives another host and port for the server's socket than before. */
  socketMoved(record: StreamRecord, from: string, to: string): void;
}

/** What all console sockets of a panel share. */
export interface StreamContext extends SocketAccess {
  readonly clock: Clock;
  readonly log: SessionLog;
  readonly random: () => number;
  readonly panel: Pick<PanelGateway, 'credentials' | 'isCurrent' | 'socketEnded'>;
  readonly telemetry: PanelTelemetry;
  readonly settings: SessionSettings;
  /** The node reported that a backup of the server completed. */
  readonly backupCompleted?: (record: StreamRecord) => void;
}

/** What all polls of a panel share. */
export interface PollContext extends Pick<StreamContext, 'clock' | 'random' | 'telemetry'> {
  readonly panel: Pick<PanelGateway, 'resources'>;
}

/** What all sessions of a panel share. */
export interface SessionContext extends StreamContext, PollContext {
  readonly panel: StreamContext['panel'] & PollContext['panel'];
  /** What the session of this server sees now. */
  readonly surroundings: (record: SessionRecord, isRunning: boolean) => Surroundings;
}
