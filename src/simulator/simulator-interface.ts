// The interface through which tests start and control a simulated panel.

import type { Clock } from '../domain/clock.ts';
import type { GameUsage } from './game-server.ts';
import type { PortAddress, TlsFiles } from './listener.ts';
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
} from './simulator-schema.ts';
import type { SettingsChange, SimulatorSettings } from './simulator-settings.ts';

/**
 * Options for a simulated panel. Any setting may be given, and most can be changed later with
 * `set`.
 */
export interface SimulatorOptions extends Partial<SimulatorSettings> {
  /**
   * The panel's addresses. The first node shares their ports, and the second one has its own. A
   * client's sockets use the address at which the client reached the panel. Default: any free port
   * of 127.0.0.1.
   */
  readonly listen?: readonly PortAddress[];
  /** The control endpoint's port. Default 0. */
  readonly controlPort?: number;
  /**
   * The hosts on which the control endpoint listens; undefined is every address. Default 127.0.0.1.
   */
  readonly controlHosts?: readonly (string | undefined)[];
  /** The number of servers, or their specs. Default `DEMO_SERVERS`. */
  readonly servers?: number | readonly ServerSpec[];
  readonly seed?: number;
  /** API keys that the panel accepts. All belong to one user. */
  readonly apiKeys?: readonly string[];
  readonly statsIntervalMs?: number;
  /** If given, the panel and its nodes use https and wss. */
  readonly tls?: TlsFiles;
  readonly clock?: Clock;
}

/** A server in the form that tests read. */
export interface ServerInfo {
  readonly uuid: string;
  /** The first eight characters of the UUID. */
  readonly identifier: string;
  readonly name: string;
  readonly profile: ProfileName;
  /** Limits as in the server list: MiB and percent of a core; 0 is unlimited. */
  readonly limits: { readonly memory: number; readonly disk: number; readonly cpu: number };
  readonly state: GameState;
  readonly usage: GameUsage;
  /** The port on 127.0.0.1 where its game can be queried; undefined if it can't be. */
  readonly gamePort: number | undefined;
}

/**
 * A running simulated panel. A `server` argument is a UUID, a short id or a name; an unknown one
 * throws.
 */
export interface Simulator {
  /** The panel's base URL, as configured in a client; no trailing slash. */
  readonly url: string;
  readonly secondNodeUrl: string;
  readonly controlUrl: string;
  readonly apiKey: string;
  /** Always current, including states and usage. */
  readonly servers: readonly ServerInfo[];
  /** The recorded actions of clients. */
  readonly record: Recorder;

  server(ref: string): ServerInfo;
  set(changes: SettingsChange): void;

  failRest(fault: RestFault): void;
  failSockets(fault: SocketFault): void;
  /** Removes all faults. Their past effects remain. */
  clearFaults(): void;
  /** Applies an action to the open sockets. Returns how many were affected. */
  sockets(action: SocketAction): number;

  addServer(spec: ServerSpec): ServerInfo;
  /** Deletes a server: its sockets get `deleted` and close code 1001, and REST calls get 404. */
  deleteServer(server: string): void;
  power(server: string, action: PowerCommand): void;
  /**
   * Ends a server's process without a request: an in-game `/stop` has exit code 0. The settings
   * decide how the daemon reacts to `exit`. Without `exit`, it prints nothing, and restarts only
   * servers with `crashEveryMs`.
   */
  crash(server: string, exit?: ExitState): void;
  /**
   * Fills a server's disk. The daemon reports it and, after `stopsAfterMs` (default 0), stops the
   * server.
   */
  fillDisk(server: string, stopsAfterMs?: number): void;
  /**
   * Makes a server's next starts fail, whoever requests them: `starting`, then after `startMs`
   * `offline`, which the daemon treats as a crash. A failed restart after a crash of a running
   * server ends with `stopping` and `offline`.
   */
  failStarts(server: string, times: number): void;
  /** Prints a line on a server's console, as the game would. */
  print(server: string, line: string): void;
  /**
   * Moves a server to the other node. `keep` leaves its sockets open, so that clients notice it at
   * the next renewal.
   */
  move(server: string, sockets?: 'keep' | 'drop'): void;
  /** Overrides the socket address in credentials; undefined restores the real one. */
  advertise(server: string, address: string | undefined): void;
  /**
   * Suspends a server. It stops without `stopping`, and its sockets are dropped. On Calagopus, it
   * stops as after a stop request, and its sockets stay open.
   */
  suspend(server: string): void;
  unsuspend(server: string): void;
  /** Sets the state for which the panel responds with 409, without affecting sockets. */
  setConflict(server: string, conflict: Conflict | undefined): void;
  /**
   * Takes a server's node down: its sockets end, and resources depend on the setting `unreachable`.
   */
  setNodeDown(server: string, down: boolean): void;
  /**
   * Completes a backup of a server: it is added to the panel's list, and sockets with the
   * permission get `backup completed`.
   */
  completeBackup(server: string, backup: BackupEnd): void;
  /** Starts a server's schedules with tasks that don't end, or ends them. */
  setSchedulesStuck(server: string, isStuck: boolean): void;
  /** Fixes the values that a server reports; undefined releases them. */
  pin(server: string, usage: UsagePin | undefined): void;

  acceptKey(key: string): void;
  revokeKey(key: string): void;
  /**
   * Closes the panel's and nodes' ports. All sockets are dropped without a close frame, and old
   * tokens become invalid.
   */
  stopListening(): Promise<void>;
  /** Listens again on the same ports. */
  startListening(): Promise<void>;

  /** Stops everything within a second. */
  stop(): Promise<void>;
}
