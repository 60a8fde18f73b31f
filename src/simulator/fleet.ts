// Runs the game servers of a simulation.

import type { Clock } from '../domain/clock.ts';
import { MIB } from '../domain/units.ts';
import { crashReport, DISK_FULL, daemonLine, RESTART_FAILED } from './crash-reactions.ts';
import type { Faults } from './faults.ts';
import { eventFrame, statsPayload } from './frames.ts';
import {
  advance,
  applyEvent,
  diesNow,
  type GameEvent,
  type GameServer,
  type GameServerTraits,
  type GameUsage,
  reported,
} from './game-server.ts';
import { endBackup, scheduledEnd } from './simulated-backups.ts';
import { createServer, gameTraits, type SimulatedServer } from './simulated-server.ts';
import type { BackupEnd, ExitState, GameState, ServerSpec } from './simulator-schema.ts';
import type { SimulatorSettings } from './simulator-settings.ts';
import { Ticker } from './ticker.ts';

/** The exit state of a container that fails to start. */
const FAILED_START: ExitState = { code: 1 };

/** The number of lines that `send logs` returns. */
const LOG_LINES = 150;
/**
 * Servers that print more lines per second than this print in every slice, and not once per tick.
 */
const SMOOTH_FROM_LINES_PER_SECOND = 5;

/** The servers, their autonomous behavior, and their subscribers. */
export class SimulatedFleet {
  readonly #clock: Clock;
  readonly #settings: () => SimulatorSettings;
  readonly #faults: Faults;
  readonly #seed: number;
  readonly #ticker: Ticker<SimulatedServer>;
  readonly #byUuid = new Map<string, SimulatedServer>();
  readonly #byIdentifier = new Map<string, SimulatedServer>();
  readonly #byName = new Map<string, SimulatedServer>();
  readonly #talkers = new Set<SimulatedServer>();
  #added = 0;

  constructor(parts: {
    readonly clock: Clock;
    readonly settings: () => SimulatorSettings;
    readonly faults: Faults;
    readonly seed: number;
    readonly statsIntervalMs: number;
  }) {
    this.#clock = parts.clock;
    this.#settings = parts.settings;
    this.#faults = parts.faults;
    this.#seed = parts.seed;
    this.#ticker = new Ticker(
      parts.clock,
      parts.statsIntervalMs,
      (server) => this.#tick(server),
      (sliceMs) => this.#talk(this.#talkers, sliceMs),
    );
  }

  start(): void {
    this.#ticker.start();
  }

  stop(): void {
    this.#ticker.stop();
    for (const server of this.#byUuid.values()) cancelAll(server);
  }

  get all(): readonly SimulatedServer[] {
    return [...this.#byUuid.values()];
  }

  /**
   * Adds a server. Throws if its UUID or name exists. A duplicate short id refers to the older
   * server.
   */
  add(spec: ServerSpec): SimulatedServer {
    // Consecutive numbers would give similar seeds, so a multiplier spreads them.
    const seed = this.#seed + Math.imul(++this.#added, 0x01000193);
    const server = createServer(spec, seed, this.#clock.now(), this.#settings());
    if (this.find(server.uuid) ?? this.find(server.name)) {
      throw new Error(`server "${server.name}" (${server.uuid}) already exists`);
    }
    this.#byUuid.set(server.uuid, server);
    if (!this.#byIdentifier.has(server.identifier)) this.#byIdentifier.set(server.identifier, server);
    this.#byName.set(server.name, server);
    this.#ticker.add(server);
    if (server.profile.consoleLinesPerSecond > SMOOTH_FROM_LINES_PER_SECOND) this.#talkers.add(server);
    return server;
  }

  remove(server: SimulatedServer): void {
    cancelAll(server);
    this.#byUuid.delete(server.uuid);
    this.#byName.delete(server.name);
    this.#byIdentifier.delete(server.identifier);
    const successor = this.all.find(({ identifier }) => identifier === server.identifier);
    if (successor !== undefined) this.#byIdentifier.set(successor.identifier, successor);
    this.#ticker.remove(server);
    this.#talkers.delete(server);
  }

  /** By UUID or short id, as in the panel's paths. */
  findById(id: string): SimulatedServer | undefined {
    return this.#byUuid.get(id) ?? this.#byIdentifier.get(id);
  }

  /** By UUID, short id or name. */
  find(ref: string): SimulatedServer | undefined {
    return this.findById(ref) ?? this.#byName.get(ref);
  }

  /** Applies an event to a server and notifies its sockets. */
  apply(
    server: SimulatedServer,
    event: GameEvent,
    traits: GameServerTraits = gameTraits(server, this.#settings()),
  ): void {
    if (event === 'start' && server.conflict === 'suspended') return;
    const now = this.#clock.now();
    const before = server.game;
    const { server: game, passed } = applyEvent(before, event, now, traits);
    // A server with a full disk starts with deleted files, as if a person had deleted them.
    server.game = passed.includes('starting') ? withDisk(game, server.usualDiskBytes) : game;
    if (traits.startFails && passed.includes('starting')) server.startsToFail -= 1;
    if (passed.includes('offline')) server.cancelDaemon();
    let last = before.state;
    for (const state of passed) {
      this.broadcast(server, this.#frame('status', [state]));
      if (this.#faults.isLate(server)) this.broadcast(server, this.#statsFrame(server, last, before.usage));
      last = state;
    }
    if (passed.at(-1) === 'offline') this.#broadcastStats(server);
    if (event === 'due' && before.due?.event === 'abort' && passed.length > 0) {
      this.#say(server, [RESTART_FAILED]);
    }
    server.cancelDue();
    // A timer may fire slightly early. Then `due` changes nothing, and the timer is set again.
    const { due } = game;
    if (due === undefined) return;
    server.cancelDue = this.#clock.schedule(due.at - now, () => {
      if (due.event === 'fail') this.crash(server, FAILED_START);
      else this.apply(server, 'due');
    });
  }

  /** Ends a server's process. The daemon then reacts to its exit state. */
  crash(server: SimulatedServer, exit: ExitState): void {
    // A process that ends while its server is stopping has ended as requested.
    if (server.game.state === 'offline' || server.game.state === 'stopping') return;
    const settings = this.#settings();
    const now = this.#clock.now();
    const sinceRestartMs = server.revivedAt === undefined ? undefined : now - server.revivedAt;
    const { sentences, restarts } = crashReport(exit, sinceRestartMs, settings);
    if (restarts) server.revivedAt = now;
    const reviveMs = restarts ? settings.reviveMs : undefined;
    this.apply(server, 'crash', { ...gameTraits(server, settings), reviveMs });
    server.cancelDaemon();
    this.#say(server, sentences);
  }

  /** Fills a server's disk. The daemon reports it and stops the server. */
  fillDisk(server: SimulatedServer, stopsAfterMs = 0): void {
    if (server.game.state !== 'running' && server.game.state !== 'starting') return;
    this.#say(server, [DISK_FULL]);
    const { disk } = server.limits;
    if (disk > 0) server.game = withDisk(server.game, disk * MIB);
    this.#later(server, stopsAfterMs, () => this.apply(server, 'stop'));
  }

  #later(server: SimulatedServer, delayMs: number, act: () => void): void {
    server.cancelDaemon();
    if (delayMs === 0) act();
    else server.cancelDaemon = this.#clock.schedule(delayMs, act);
  }

  /** Sends messages of the daemon, which aren't part of the game's log. */
  #say(server: SimulatedServer, sentences: readonly string[]): void {
    for (const text of sentences) {
      this.broadcast(server, this.#frame('console output', [daemonLine(text, this.#settings())]));
    }
  }

  /** Adds a line to a server's console. */
  print(server: SimulatedServer, line: string): void {
    server.log.push(line);
    if (server.log.length > LOG_LINES) server.log.shift();
    if (server.connections.size > 0) this.broadcast(server, this.#frame('console output', [line]));
  }

  /** Completes a backup. As on real nodes, the panel knows it before the sockets do. */
  completeBackup(server: SimulatedServer, backup: BackupEnd): void {
    const outcome = endBackup(server.backups, backup, this.#clock.toUnixMs(this.#clock.now()));
    this.broadcast(server, this.#frame('backup completed', [outcome]), 'backup.read');
  }

  /** Sends a frame to the server's sockets, or to those whose token has the permission. */
  broadcast(server: SimulatedServer, frame: Buffer, permission?: string): void {
    for (const connection of server.connections) connection.send(frame, permission);
  }

  /** A `stats` frame with the current values. */
  statsFrame(server: SimulatedServer): Buffer {
    return this.#statsFrame(server, server.game.state, server.game.usage);
  }

  #statsFrame(server: SimulatedServer, state: GameState, usage: GameUsage): Buffer {
    const payload = statsPayload(state, reported(usage, server.pin), this.#settings());
    return this.#frame('stats', [payload]);
  }

  #tick(server: SimulatedServer): void {
    const now = this.#clock.now();
    this.#backUp(server, now);
    if (diesNow(server.game, now, server.profile.crashEveryMs)) this.#die(server);
    if (server.game.state === 'offline' || this.#faults.isFrozen(server)) return;
    server.game = advance(server.game, now, server.profile, server.random);
    if (!this.#talkers.has(server)) this.#talk([server], this.#ticker.intervalMs);
    this.#broadcastStats(server);
  }

  #die(server: SimulatedServer): void {
    const { death } = server;
    if (death === undefined) this.apply(server, 'crash');
    else if (death === 'disk full') this.fillDisk(server);
    else this.crash(server, death);
  }

  #backUp(server: SimulatedServer, now: number): void {
    const { backupEveryMs, backedUpAt } = server;
    if (backupEveryMs === undefined || now - backedUpAt < backupEveryMs) return;
    server.backedUpAt = now;
    this.completeBackup(server, scheduledEnd(now, backupEveryMs));
  }

  #broadcastStats(server: SimulatedServer): void {
    if (server.connections.size === 0 || this.#faults.isSilent(server)) return;
    this.broadcast(server, this.statsFrame(server));
  }

  #talk(servers: Iterable<SimulatedServer>, elapsedMs: number): void {
    for (const server of servers) {
      if (server.game.state !== 'running') continue;
      server.linesOwed += (server.profile.consoleLinesPerSecond * elapsedMs) / 1_000;
      for (; server.linesOwed >= 1; server.linesOwed -= 1) {
        const player = 1 + Math.floor(server.random() * 40);
        this.print(server, `[INFO]: Player${player} moved to ${Math.floor(server.random() * 10_000)}, 64`);
      }
    }
  }

  // Returns bytes, because a frame is encoded once and sent to all of a server's sockets.
  #frame(event: string, args: readonly string[]): Buffer {
    return Buffer.from(eventFrame(event, args));
  }
}

function withDisk(game: GameServer, diskBytes: number): GameServer {
  return { ...game, usage: { ...game.usage, diskBytes } };
}

function cancelAll(server: SimulatedServer): void {
  server.cancelDue();
  server.cancelDaemon();
}
