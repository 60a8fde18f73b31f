import type { Clock } from '../domain/clock.ts';
import type { Logger } from '../domain/log.ts';
import type { Problem } from '../domain/problem.ts';
import type { CollectionStatus, SocketState } from '../domain/reading.ts';
import type { BlockedReason, Sample, SampleSource, ServerState, ServerTarget } from '../domain/server.ts';
import type { PanelTelemetry } from '../domain/telemetry.ts';
import type { Credentials, Resources, SocketCodec } from '../panel/dialect.ts';
import type { DaemonWords } from '../panel/dialects/daemon-words.ts';
import type { TokenPurpose } from '../panel/gateway.ts';
import type { SocketTimeouts } from './machine-model.ts';
import type { ConsoleSocket, SocketListener } from './socket.ts';
import type { TokenSlots } from './token.ts';

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

/** What a session does for its server. */
export type Role =
  | { readonly type: 'rest' }
  /** The panel blocks the server, so it can't be observed: make no calls for it. */
  | { readonly type: 'suspended'; readonly reason: BlockedReason }
  /** Hold a socket; `pollIntervalMs` is for the fallback. */
  | { readonly type: 'stream'; readonly pollIntervalMs: number }
  /** Hold a socket for the lifetime of one token, then report that the turn is over. */
  | { readonly type: 'turn'; readonly pollIntervalMs: number; readonly onOver: (end: TurnEnd) => void }
  /** Wait for the next turn. */
  | { readonly type: 'wait' }
  /** Only poll; `firstPollAt` (monotonic) spreads a fleet's first polls. */
  | { readonly type: 'poll'; readonly pollIntervalMs: number; readonly firstPollAt: number };

/** A `failed` turn isn't followed by another one: the server is retried, and polled meanwhile, until its socket streams. */
export type TurnEnd = 'spent' | 'failed';

/**
 * A server's standing in its fleet's plan: `planned` if it is observed as planned; `fallback` if its socket fails or is refused,
 * so that it is polled; `lost` if its polls fail too or can't replace its socket.
 */
export type Standing = 'planned' | 'fallback' | 'lost';

/** What a session reports to its fleet. */
export interface SessionOwner {
  standingChanged(standing: Standing): void;
  /** The server can be observed again, by its socket or by polls. */
  recovered(way: SampleSource): void;
}

/** What a session needs from its panel; one server's part of `PanelGateway`. */
export interface SessionPanel {
  credentials(server: string, purpose: TokenPurpose, signal: AbortSignal): Promise<Credentials>;
  resources(server: string, signal: AbortSignal): Promise<Resources>;
}

/** Where a session stores what it learns; one server's entry in the fleet store. */
export interface SessionRecord {
  readonly target: ServerTarget;
  /** Included in the log, if known. */
  readonly node?: string | undefined;
  readonly sampledAt: number | undefined;
  /** A new uninterrupted socket begins: its first state is not a transition. */
  socketBegan(): void;
  /** The node withheld events from the open socket because it no longer accepts the token: the next state is not a transition. */
  eventsWithheld(): void;
  socketSample(sample: Sample, now: number): void;
  stateHint(state: ServerState, now: number): void;
  pollSample(sample: Sample, requestedAt: number, now: number): void;
  consoleLine(): void;
  /** Has the server just stopped, so that the daemon may explain it on the console? */
  readonly awaitsWords: boolean;
  daemonWords(words: DaemonWords, now: number): void;
  /** The panel gives this host and port for the server's socket. */
  socketHost(host: string): void;
  setCollection(status: CollectionStatus, socket: SocketState): void;
}

/** What all sessions of a panel share. */
export interface SessionContext extends SocketAccess {
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  readonly panel: SessionPanel;
  readonly telemetry: PanelTelemetry;
  readonly settings: SessionSettings;
  /** If absent, tokens are refreshed at random times. */
  readonly slots?: TokenSlots;
  /** The node reported that a backup of the server completed. */
  readonly backupCompleted?: (server: ServerTarget) => void;
  /** The problem of the panel's API key, which affects every server. */
  keyProblem(): Problem | undefined;
}
