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

/** What the configuration says about a panel's console sockets. */
export interface SessionSettings extends SocketTimeouts {
  /** Sent as `Origin`; named when an upgrade is refused. */
  readonly origin: string;
}

/** How a panel's console sockets are opened, and to which addresses. */
export interface SocketAccess {
  /** The messages that its sockets carry. */
  readonly codec: SocketCodec;
  readonly openSocket: (url: string, listener: SocketListener) => ConsoleSocket;
  /** Why the panel may not send us to this address; undefined if it may. */
  readonly addressProblem: (url: string) => Problem | undefined;
  /** Is this address, of the panel or of a socket, reached through a proxy? */
  readonly isProxied: (url: string) => boolean;
}

/** What a session is to do for its server. */
export type Role =
  | { readonly type: 'rest' }
  /** The panel holds the server in a state in which it can't be observed: make no call for it. */
  | { readonly type: 'suspended'; readonly reason: BlockedReason }
  /** Hold a socket; `pollIntervalMs` is for the fallback. */
  | { readonly type: 'stream'; readonly pollIntervalMs: number }
  /** Hold a socket for the life of one token, then say that the turn is over. */
  | { readonly type: 'turn'; readonly pollIntervalMs: number; readonly onOver: (end: TurnEnd) => void }
  /** Wait for the next turn. */
  | { readonly type: 'wait' }
  /** Be polled only; `firstPollAt` (monotonic) spreads a fleet's first polls. */
  | { readonly type: 'poll'; readonly pollIntervalMs: number; readonly firstPollAt: number };

/** A turn that `failed` isn't followed by another one: the server is retried, and polled meanwhile, until its socket streams. */
export type TurnEnd = 'spent' | 'failed';

/**
 * How a server stands in its fleet's plan: `planned` it is observed as planned; `fallback` its socket fails or is refused, so that it is
 * polled; `lost` its polls fail, too, or can't take the place of its socket.
 */
export type Standing = 'planned' | 'fallback' | 'lost';

/** What a session tells its fleet. */
export interface SessionOwner {
  standingChanged(standing: Standing): void;
  /** What kept the server from being observed by its socket, or by polls, is over. */
  recovered(way: SampleSource): void;
}

/** What a session needs of its panel; one server's part of `PanelGateway`. */
export interface SessionPanel {
  credentials(server: string, purpose: TokenPurpose, signal: AbortSignal): Promise<Credentials>;
  resources(server: string, signal: AbortSignal): Promise<Resources>;
}

/** Where a session puts what it learns; one server's entry of the fleet store. */
export interface SessionRecord {
  readonly target: ServerTarget;
  /** Named in the log, where it is known. */
  readonly node?: string | undefined;
  readonly sampledAt: number | undefined;
  /** A new uninterrupted socket begins: what it says first is no transition. */
  socketBegan(): void;
  /** The node held back events of the open socket, because it no longer accepts the token: what comes next is no transition. */
  eventsWithheld(): void;
  socketSample(sample: Sample, now: number): void;
  stateHint(state: ServerState, now: number): void;
  pollSample(sample: Sample, requestedAt: number, now: number): void;
  consoleLine(): void;
  /** Has the server stopped just now, so that the daemon may explain it on the console? */
  readonly awaitsWords: boolean;
  daemonWords(words: DaemonWords, now: number): void;
  /** The panel names this host and port for the server's socket. */
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
  /** Where absent, tokens are refreshed at random. */
  readonly slots?: TokenSlots;
  /** The node says that a backup of the server ended. */
  readonly backupCompleted?: (server: ServerTarget) => void;
  /** What is wrong with the panel's API key, for every server. */
  keyProblem(): Problem | undefined;
}
