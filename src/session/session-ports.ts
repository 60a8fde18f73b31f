import type { CauseCode, Problem } from '../domain/problems.ts';
import type { CollectionStatus, SocketState } from '../domain/reading.ts';
import type { Sample, ServerState, ServerTarget } from '../domain/server.ts';
import type { PanelTelemetry } from '../domain/telemetry.ts';
import type { Clock } from '../domain/time.ts';
import type { DaemonWords, SocketCodec } from '../panel/dialect.ts';
import type { PanelGateway } from '../panel/gateway.ts';
import { NEVER, type PollIntervals } from './due.ts';
import type { SocketTimeouts } from './machine.ts';
import type { MachineState } from './machine-model.ts';
import type { PollState } from './polls.ts';
import type { ConsoleSocket, SocketListener } from './socket.ts';

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
  /**
   * Events may have been missed until now, so the next state is not a transition: a new socket begins, or the node withheld events
   * from the open one because it no longer accepts the token.
   */
  interrupted(): void;
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
export interface StreamContext {
  readonly sockets: SocketAccess;
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

/** The sockets of a server's node, or its polls; instants are monotonic milliseconds. */
export interface WayState {
  /** Why it can't be used for now: a problem of the panel, the path, the account or the node. */
  readonly heldBy: Problem | undefined;
  /** When the panel was last blamed for it or cleared, and the node: failures from before are explained, or over. */
  readonly panelJudgedAt: number;
  readonly nodeJudgedAt: number;
}

const FREE: WayState = { heldBy: undefined, panelJudgedAt: NEVER, nodeJudgedAt: NEVER };

/** All that a session sees of the world around it; instants are monotonic milliseconds. */
export interface Surroundings extends PollIntervals {
  readonly now: number;
  readonly isRunning: boolean;
  /** What configuration and server list say of the server. */
  readonly target: ServerTarget;
  /** When the server list was last read completely. */
  readonly listedAt: number;
  /** The process may open a file for its socket. */
  readonly hasRoom: boolean;
  readonly sockets: WayState;
  readonly polls: WayState;
  /** The sockets of its node work as far as is known, or this server is the one that tries them. */
  readonly mayConnect: boolean;
  /** This server is the one that tries them, with new credentials if `isFresh`. */
  readonly trial: { readonly isFresh: boolean } | undefined;
  /** When another server last worked that had failed for a cause: any server of the panel, and those of its node. */
  readonly recovered: ReadonlyMap<CauseCode, number>;
  readonly recoveredOnNode: ReadonlyMap<CauseCode, number>;
}

/** Nothing holds the server, and nothing has happened that it could react to. */
export const NOTHING_KNOWN = {
  listedAt: NEVER,
  hasRoom: true,
  sockets: FREE,
  polls: FREE,
  mayConnect: true,
  trial: undefined,
  recovered: new Map<CauseCode, number>(),
  recoveredOnNode: new Map<CauseCode, number>(),
  pollIntervalMs: 30_000,
  stalenessMs: 60_000,
} satisfies Partial<Surroundings>;

/** What a session knows of its own server. */
export interface SessionState {
  readonly machine: MachineState;
  readonly poll: PollState;
  readonly sampledAt: number | undefined;
  /** Since when the session has needed a socket. */
  readonly waitingSince: number;
  readonly status: CollectionStatus;
}

/** Does the server list show the server, and nothing that keeps it from being monitored? */
export function isListed({ node, blocked }: Pick<ServerTarget, 'node' | 'blocked'>): boolean {
  return node !== undefined && blocked === undefined;
}
