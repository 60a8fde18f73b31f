import type { Clock } from '../domain/clock.ts';
import type { GameUsage } from './game-server.ts';
import type { Recorder } from './recorder.ts';
import type {
  BackupEnd,
  Conflict,
  ExitState,
  GameState,
  PowerCommand,
  ProfileName,
  RestFault,
  ServerSpec,
  SocketAction,
  SocketFault,
  UsagePin,
} from './schema.ts';
import type { Settings, SettingsChange } from './settings.ts';

/** How to start a simulated panel; every setting may be given, and most changed later by `set`. */
export interface SimulatorOptions extends Partial<Settings> {
  /** Where the panel and its nodes listen. Default 127.0.0.1. */
  readonly host?: string;
  /** The panel's port, which is also its first node's. Default 0: any free one. */
  readonly port?: number;
  /** The second node's port: where moved servers live. Default 0. */
  readonly secondNodePort?: number;
  /** The control endpoint's port, always on loopback. Default 0. */
  readonly controlPort?: number;
  /** How many servers, or which ones. Default `DEMO_SERVERS`. */
  readonly servers?: number | readonly ServerSpec[];
  readonly seed?: number;
  /** API keys that the panel accepts; all belong to one user. */
  readonly apiKeys?: readonly string[];
  readonly statsIntervalMs?: number;
  /** PEM certificate and key: the panel and its nodes then speak https and wss. */
  readonly tls?: { readonly cert: string; readonly key: string };
  readonly clock?: Clock;
}

/** A server as tests see it. */
export interface ServerInfo {
  readonly uuid: string;
  /** The uuid's first eight characters. */
  readonly identifier: string;
  readonly name: string;
  readonly profile: ProfileName;
  /** As in the listing: MiB and percent of a core; 0 = unlimited. */
  readonly limits: { readonly memory: number; readonly disk: number; readonly cpu: number };
  readonly state: GameState;
  readonly usage: GameUsage;
  /** Where its game can be queried, on 127.0.0.1; undefined if it can't. */
  readonly gamePort: number | undefined;
}

/**
 * A running simulated panel. `server` arguments take a uuid, a short id or a name; an unknown one throws.
 */
export interface Simulator {
  /** The panel's base URL, as a client is configured with it; no trailing slash. */
  readonly url: string;
  readonly secondNodeUrl: string;
  readonly controlUrl: string;
  readonly apiKey: string;
  /** Live: states and usage are those of the moment. */
  readonly servers: readonly ServerInfo[];
  /** What clients did. */
  readonly record: Recorder;

  server(ref: string): ServerInfo;
  set(changes: SettingsChange): void;

  failRest(fault: RestFault): void;
  failSockets(fault: SocketFault): void;
  /** Forgets all faults; what they already did stays done. */
  clearFaults(): void;
  /** Does something to the sockets that are open now; returns how many it was done to. */
  sockets(action: SocketAction): number;

  addServer(spec: ServerSpec): ServerInfo;
  /** Deletes a server: sockets get `deleted` and 1001, REST answers 404. */
  deleteServer(server: string): void;
  power(server: string, action: PowerCommand): void;
  /**
   * Ends a server's process without anybody's request: an in-game `/stop` is exit code 0. The daemon says and does about `exit` what the
   * settings make it; without `exit` it says nothing, and restarts only a server with `crashEveryMs`.
   */
  crash(server: string, exit?: ExitState): void;
  /** Fills a server's disk: the daemon says so, and after `stopsAfterMs` (default 0) it stops the server. */
  fillDisk(server: string, stopsAfterMs?: number): void;
  /** Makes a server's next starts fail, whoever asks for them: `starting`, after `startMs` `stopping` and `offline`. */
  failStarts(server: string, times: number): void;
  /** Prints a line on a server's console, as its game does. */
  print(server: string, line: string): void;
  /** Moves a server to the other node; `keep` leaves its sockets open, to be found at the next refresh. */
  move(server: string, sockets?: 'keep' | 'drop'): void;
  /** The socket address that credentials name instead of the true one; undefined takes it back. */
  advertise(server: string, address: string | undefined): void;
  /** Suspends a server: it stops without `stopping`, and its sockets are lost. */
  suspend(server: string): void;
  unsuspend(server: string): void;
  /** The state for which the panel answers 409, without touching sockets. */
  setConflict(server: string, conflict: Conflict | undefined): void;
  /** Takes a server's node away: no sockets, and resources as `unreachable` says. */
  setNodeDown(server: string, down: boolean): void;
  /** Ends a backup of a server: it is in the panel's list from now on, and the sockets that may know get `backup completed`. */
  completeBackup(server: string, backup: BackupEnd): void;
  /** Fixes what a server reports; undefined sets it free. */
  pin(server: string, usage: UsagePin | undefined): void;

  acceptKey(key: string): void;
  revokeKey(key: string): void;
  /** Closes the panel's and nodes' ports; all sockets are lost without a frame, old tokens are void. */
  stopListening(): Promise<void>;
  /** Listens again, on the same ports. */
  startListening(): Promise<void>;

  /** Ends everything within a second. */
  stop(): Promise<void>;
}
