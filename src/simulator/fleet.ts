import type { Clock } from '../domain/clock.ts';
import type { Faults } from './faults.ts';
import { eventFrame, statsPayload } from './frames.ts';
import { advance, diesNow, type GameEvent, step } from './game-server.ts';
import type { ServerSpec, Settings } from './schema.ts';
import { createServer, gameTraits, type SimulatedServer, usageOf } from './server.ts';
import { Ticker } from './ticker.ts';

/** Lines that `send logs` can go back. */
const LOG_LINES = 150;
/** Servers that print more lines a second than this print in every slice, not once a tick. */
const SMOOTH_FROM_LINES_PER_SECOND = 5;

/** The servers, what they do by themselves, and who hears of it. */
export class Fleet {
  readonly #clock: Clock;
  readonly #settings: () => Settings;
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
    readonly settings: () => Settings;
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
    for (const server of this.#byUuid.values()) server.cancelDue();
  }

  get all(): readonly SimulatedServer[] {
    return [...this.#byUuid.values()];
  }

  /** Adds a server; throws where its uuid, short id or name is taken. */
  add(spec: ServerSpec): SimulatedServer {
    // Numbers in order would give neighbouring seeds; the multiplier sets them apart.
    const seed = this.#seed + Math.imul(++this.#added, 0x01000193);
    const server = createServer(spec, seed, this.#clock.now(), this.#settings());
    if (this.find(server.uuid) ?? this.find(server.identifier) ?? this.find(server.name)) {
      throw new Error(`server "${server.name}" (${server.uuid}) exists already`);
    }
    this.#byUuid.set(server.uuid, server);
    this.#byIdentifier.set(server.identifier, server);
    this.#byName.set(server.name, server);
    this.#ticker.add(server);
    if (server.profile.consoleLinesPerSecond > SMOOTH_FROM_LINES_PER_SECOND) this.#talkers.add(server);
    return server;
  }

  remove(server: SimulatedServer): void {
    server.cancelDue();
    this.#byUuid.delete(server.uuid);
    this.#byIdentifier.delete(server.identifier);
    this.#byName.delete(server.name);
    this.#ticker.remove(server);
    this.#talkers.delete(server);
  }

  /** By uuid or short id: what the panel's paths take. */
  findById(id: string): SimulatedServer | undefined {
    return this.#byUuid.get(id) ?? this.#byIdentifier.get(id);
  }

  /** By uuid, short id or name. */
  find(ref: string): SimulatedServer | undefined {
    return this.findById(ref) ?? this.#byName.get(ref);
  }

  /** Lets something happen to a server and tells its sockets. */
  apply(server: SimulatedServer, event: GameEvent): void {
    if (event === 'start' && server.conflict === 'suspended') return;
    const now = this.#clock.now();
    const traits = gameTraits(server.profile, server.memoryLimitBytes, this.#settings());
    const { server: game, passed } = step(server.game, event, now, traits);
    server.game = game;
    for (const state of passed) {
      this.print(server, `[daemon] server marked as ${state}`);
      this.broadcast(server, this.#frame('status', [state]));
    }
    if (passed.at(-1) === 'offline') this.#broadcastStats(server);
    server.cancelDue();
    // A timer may be a little early; `due` then changes nothing and is set again.
    if (game.due !== undefined) {
      server.cancelDue = this.#clock.schedule(game.due.at - now, () => this.apply(server, 'due'));
    }
  }

  /** Adds a line to a server's console. */
  print(server: SimulatedServer, line: string): void {
    server.log.push(line);
    if (server.log.length > LOG_LINES) server.log.shift();
    if (server.connections.size > 0) this.broadcast(server, this.#frame('console output', [line]));
  }

  broadcast(server: SimulatedServer, frame: Buffer): void {
    for (const connection of server.connections) connection.send(frame);
  }

  /** A `stats` frame of the moment. */
  statsFrame(server: SimulatedServer): Buffer {
    const payload = statsPayload(server.game.state, usageOf(server), this.#settings(), server.random);
    return this.#frame('stats', [payload]);
  }

  #tick(server: SimulatedServer): void {
    const now = this.#clock.now();
    if (diesNow(server.game, now, server.profile.crashEveryMs)) this.apply(server, 'crash');
    if (server.game.state === 'offline') return;
    server.game = advance(server.game, now, server.profile, server.random);
    if (!this.#talkers.has(server)) this.#talk([server], this.#ticker.intervalMs);
    this.#broadcastStats(server);
  }

  #broadcastStats(server: SimulatedServer): void {
    if (server.connections.size === 0 || this.#faults.isSilent(server.uuid)) return;
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

  // Bytes, because one frame goes to each of a server's sockets and need be encoded once only.
  #frame(event: string, args: readonly string[]): Buffer {
    return Buffer.from(eventFrame(event, args, this.#settings().trailingNewline));
  }
}
