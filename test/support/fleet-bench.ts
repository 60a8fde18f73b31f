import type { Problem } from '../../src/domain/problem.ts';
import type { BudgetReading } from '../../src/domain/reading.ts';
import type { ServerTarget } from '../../src/domain/server.ts';
import { PanelFleet, type PanelSettings } from '../../src/fleet/panel-fleet.ts';
import type { Defer } from '../../src/fleet/sliced-work.ts';
import { SocketLimit } from '../../src/fleet/socket-limit.ts';
import type {
  BackupsPage,
  ClientMessage,
  Credentials,
  ListingPage,
  Resources,
} from '../../src/panel/dialect.ts';
import { PTERODACTYL } from '../../src/panel/dialects/pterodactyl.ts';
import type { Shares } from '../../src/panel/fair-share.ts';
import type { HealthListener, PanelGateway, PanelHealth } from '../../src/panel/gateway.ts';
import type { ConsoleSocket, SocketListener } from '../../src/session/socket.ts';
import { collectingLogger } from './logger.ts';
import { ManualClock } from './manual-clock.ts';
import { target } from './targets.ts';

/** The default settings of a panel's fleet. */
export const SETTINGS: PanelSettings = {
  name: 'main',
  origin: 'https://panel.example.com',
  pollIntervalMs: 30_000,
  stalenessMs: 60_000,
  connectTimeoutMs: 10_000,
  authTimeoutMs: 12_000,
  ratePinned: false,
};
/** The panel's default answer. */
export const RESOURCES: Resources = {
  sample: { state: 'running', memoryBytes: 7 },
  suspended: false,
  badFields: 0,
};

/** A panel that answers at once, and records the requests. */
export class FakeGateway implements PanelGateway {
  health: PanelHealth = 'unknown';
  problem: Problem | undefined;
  problems: readonly Problem[] = [];
  keyChanges = 0;
  limitPerMinute = 60;
  fleetSize = 0;
  consoles: readonly string[] = [];
  closed = false;
  readonly calls: string[] = [];
  readonly forgotten: string[] = [];
  readonly cleared: string[] = [];
  answerCredentials: (server: string, signal: AbortSignal) => Promise<Credentials> = (server) =>
    Promise.resolve({ token: `token of ${server}`, socketUrl: `wss://node/${server}`, lifetimeMs: 600_000 });
  answerResources: (server: string, signal: AbortSignal) => Promise<Resources> = () =>
    Promise.resolve(RESOURCES);
  readonly #healthListeners = new Set<HealthListener>();
  readonly #rateListeners = new Set<(perMinute: number) => void>();

  credentials(server: string, _priority: 'refresh' | 'connect', signal: AbortSignal): Promise<Credentials> {
    this.calls.push(`credentials ${server}`);
    return this.answerCredentials(server, signal);
  }

  resources(server: string, signal: AbortSignal): Promise<Resources> {
    this.calls.push(`resources ${server}`);
    return this.answerResources(server, signal);
  }

  learn(server: string, signal: AbortSignal): Promise<Resources> {
    this.calls.push(`learn ${server}`);
    return this.answerResources(server, signal);
  }

  listing(): Promise<ListingPage> {
    throw new Error('expected no listing');
  }

  backups(): Promise<BackupsPage> {
    throw new Error('expected no backups');
  }

  budget(): BudgetReading {
    return { limitPerMinute: this.limitPerMinute, usedLastMinute: 0, queueLength: 0, paused: false };
  }

  setFleetSize(size: number, consoles: readonly string[]): void {
    this.fleetSize = size;
    this.consoles = consoles;
  }

  keyChanged(): void {
    this.keyChanges += 1;
  }

  clearSuspicion(server: string): void {
    this.cleared.push(server);
  }

  forget(server: string): void {
    this.forgotten.push(server);
  }

  setShares(_shares: Shares): void {}

  onHealthChange(listener: HealthListener): () => void {
    this.#healthListeners.add(listener);
    return () => this.#healthListeners.delete(listener);
  }

  onRateChange(listener: (perMinute: number) => void): () => void {
    this.#rateListeners.add(listener);
    return () => this.#rateListeners.delete(listener);
  }

  onPause(): () => void {
    return () => undefined;
  }

  verify(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }

  /** Sets the panel's health; without a problem, servers may be observable again. */
  becomes(health: PanelHealth, problem?: Problem): void {
    this.health = health;
    this.problem = problem;
    this.problems = problem === undefined ? [] : [problem];
    for (const listener of this.#healthListeners) listener(problem === undefined);
  }

  allows(perMinute: number): void {
    this.limitPerMinute = perMinute;
    for (const listener of this.#rateListeners) listener(perMinute);
  }

  asked(what: string): string[] {
    return this.calls.filter((call) => call.startsWith(what)).map((call) => call.slice(what.length + 1));
  }
}

const STATS = String.raw`{"event":"stats","args":["{\"state\":\"running\",\"memory_bytes\":5}"]}`;

/** A socket that opens at once, accepts every token and sends stats only on request. */
export class FakeSocket {
  ended: 'closed' | 'terminated' | undefined;
  readonly url: string;
  readonly #listener: SocketListener;

  constructor(url: string, listener: SocketListener) {
    this.url = url;
    this.#listener = listener;
    queueMicrotask(() => {
      if (this.ended === undefined) listener.opened();
    });
  }

  send(message: ClientMessage): void {
    const answer = message.event === 'auth' ? '{"event":"auth success"}' : STATS;
    queueMicrotask(() => this.receive(answer));
  }

  receive(frame: string): void {
    if (this.ended === undefined) this.#listener.message(Buffer.from(frame), false);
  }

  /** Closes the far end without a message. */
  drops(): void {
    if (this.ended !== undefined) return;
    this.ended = 'terminated';
    this.#listener.closed({ code: 1006, text: '', reason: 'closed', oversize: false });
  }

  close(): Promise<void> {
    this.ended = 'closed';
    return Promise.resolve();
  }

  terminate(): void {
    this.ended = 'terminated';
  }
}

/** A fleet with a fake panel and fake sockets, on a clock that stands still. */
export class FleetBench {
  readonly clock = new ManualClock();
  readonly gateway = new FakeGateway();
  readonly log = collectingLogger();
  readonly sockets: FakeSocket[] = [];
  /** Replacing it limits the sockets of fleets that are created later. */
  socketLimit = new SocketLimit();

  /** Creates a fleet without starting it. */
  create(targets: readonly ServerTarget[], settings: Partial<PanelSettings> = {}, defer?: Defer): PanelFleet {
    const { clock, log, gateway, sockets } = this;
    return new PanelFleet(
      { ...SETTINGS, ...settings },
      { servers: targets },
      {
        clock,
        log,
        random: () => 0.5,
        gateway,
        telemetry: { message: () => {}, badMessage: () => {}, reconnect: () => {}, request: () => {} },
        codec: PTERODACTYL.socket,
        openSocket: (url, listener) => {
          const socket = new FakeSocket(url, listener);
          sockets.push(socket);
          // The class has private fields, so no other object is assignable to it; sessions use only these three methods.
          return socket as unknown as ConsoleSocket;
        },
        addressProblem: () => undefined,
        isProxied: () => false,
        isOurs: () => true,
        socketLimit: this.socketLimit,
        ...(defer === undefined ? {} : { defer }),
      },
    );
  }

  /** The servers with open sockets, by the last letter of their ids. */
  streamed(): readonly (string | undefined)[] {
    return this.sockets.filter(({ ended }) => ended === undefined).map(({ url }) => url.at(-1));
  }
}

/** Servers a, b, c, … */
export const servers = (count: number, changes: Partial<ServerTarget> = {}) =>
  Array.from({ length: count }, (_, index) => named(String.fromCodePoint(97 + index), changes));
export const named = (id: string, changes: Partial<ServerTarget> = {}) =>
  target({ id, name: `server ${id}`, ...changes });
