// A fleet with a fake panel and fake sockets, for unit tests.
import { EventEmitter } from 'node:events';
import { SocketLimit } from '../../src/app/socket-limit.ts';
import type { Problem } from '../../src/domain/problems.ts';
import type { BudgetReading, ProblemReading } from '../../src/domain/reading.ts';
import type { ServerTarget } from '../../src/domain/server.ts';
import { type FleetContext, type FleetSettings, PanelFleet } from '../../src/fleet/panel-fleet.ts';
import { PTERODACTYL } from '../../src/panel/dialects/pterodactyl.ts';
import type { PanelChange, PanelGateway } from '../../src/panel/gateway.ts';
import type { PanelUse } from '../../src/panel/health/health.ts';
import type { SocketTrial } from '../../src/panel/health/socket-trials.ts';
import type { Ask } from '../../src/panel/held-calls.ts';
import type { PanelProblems } from '../../src/panel/panel-problems.ts';
import type { ServerAddress } from '../../src/panel/requests.ts';
import type { BackupsPage, Credentials, ListingPage, Resources } from '../../src/panel/responses.ts';
import type { SocketAttempt } from '../../src/panel/socket-attempt.ts';
import type { ClientMessage } from '../../src/panel/socket-codec.ts';
import { type Subject, subjectNode } from '../../src/panel/subjects.ts';
import { atOnce } from '../../src/session/connect-pacer.ts';
import { HandshakeRoom } from '../../src/session/handshake-room.ts';
import type { SocketAccess } from '../../src/session/session-ports.ts';
import type { ConsoleSocket, SocketListener } from '../../src/session/socket.ts';
import { collectingLogger } from './logger.ts';
import { ManualClock } from './manual-clock.ts';
import { sampleOf } from './samples.ts';
import { target } from './targets.ts';

/** The default settings of the panel's fleet. */
export const SETTINGS: FleetSettings = {
  name: 'main',
  servers: [],
  origin: 'https://panel.example.com',
  pollIntervalMs: 30_000,
  stalenessMs: 60_000,
  connectTimeoutMs: 10_000,
  authTimeoutMs: 12_000,
};

/** The panel's default response. */
export const RESOURCES: Resources = {
  sample: sampleOf({ state: 'running', memoryBytes: 7 }),
  suspended: false,
  badFields: 0,
};

/** The problems of a panel and of its nodes' sockets, which a test sets. */
class FakeProblems implements Pick<PanelProblems, keyof PanelProblems> {
  ofPanel: Problem | undefined;
  /** Problems of sockets, by node. */
  readonly sockets = new Map<string, Problem>();

  get all(): readonly ProblemReading[] {
    return this.ofPanel === undefined ? [] : [{ ...this.ofPanel, since: 0 }];
  }

  of(subject: Subject): Problem | undefined {
    return subject === 'panel' ? this.ofPanel : this.sockets.get(subjectNode(subject) ?? '');
  }

  ofNode(node: string): ProblemReading | undefined {
    const problem = this.sockets.get(node);
    return problem && { ...problem, since: 0 };
  }

  ofSockets(node: string | undefined): Problem | undefined {
    return this.ofPanel ?? this.sockets.get(node ?? '');
  }

  ofPolls(): Problem | undefined {
    return this.ofPanel;
  }
}

/**
 * A panel that responds at once and records the requests. The test decides which outages it has.
 */
export class FakeGateway implements PanelGateway {
  health: PanelGateway['health'] = 'unknown';
  readonly problems = new FakeProblems();
  accessChanges = 0;
  nodesKept = 0;
  limitPerMinute = 60;
  isPinned = false;
  isPolledByNode = false;
  use: PanelUse | undefined;
  closed = false;
  readonly calls: string[] = [];
  readonly asks: Ask[] = [];
  /** The outcomes of attempts to stream: success, no evidence, or a cause. */
  readonly attempts: string[] = [];
  /** Servers that may try the sockets of their nodes. */
  readonly trying = new Map<string, Pick<SocketTrial, 'isFresh'>>();
  answerCredentials: (server: string, signal: AbortSignal) => Promise<Credentials> = (server) =>
    Promise.resolve({ token: `token of ${server}`, socketUrl: `wss://node/${server}`, lifetimeMs: 600_000 });
  answerResources: (server: string, signal: AbortSignal) => Promise<Resources> = () =>
    Promise.resolve(RESOURCES);
  /** Servers whose individual limit delays their tokens. */
  readonly delayed = new Set<string>();
  /** Addresses that the panel no longer returns. */
  readonly outdated = new Set<string>();
  readonly events = new EventEmitter<{ changed: [PanelChange] }>();
  neededPerMinute = 0;
  readonly reclassified: string[] = [];

  credentials({ id: server }: ServerAddress, ask: Ask, signal: AbortSignal): Promise<Credentials> {
    this.calls.push(`credentials ${server}`);
    this.asks.push(ask);
    return this.answerCredentials(server, signal);
  }

  resources({ id: server }: ServerAddress, ask: Ask, signal: AbortSignal): Promise<Resources> {
    this.calls.push(`resources ${server}`);
    this.asks.push(ask);
    return this.answerResources(server, signal);
  }

  listing(): Promise<ListingPage> {
    throw new Error('expected no server list');
  }

  backups(): Promise<BackupsPage> {
    throw new Error('expected no backups');
  }

  schedules(): never {
    throw new Error('expected no schedules');
  }

  isJudging = false;

  mayConnect(server: string, node: string | undefined): boolean {
    return node === undefined || !this.problems.sockets.has(node) || this.trying.has(server);
  }

  delaysToken(server: string): boolean {
    return this.delayed.has(server);
  }

  socketTrial(server: string): SocketTrial | undefined {
    const trial = this.trying.get(server);
    return trial && { subject: 'sockets n', ...trial };
  }

  declineTrial(server: string): void {
    this.trying.delete(server);
    this.attempts.push(`${server}: declined`);
  }

  reclassify(server: string): void {
    this.reclassified.push(server);
  }

  needs(callsPerMinute: number): void {
    this.neededPerMinute = callsPerMinute;
  }

  isCurrent(_node: string | undefined, { socketUrl }: { readonly socketUrl: string }): boolean {
    return !this.outdated.has(socketUrl);
  }

  tokenOutdated(server: string): void {
    this.attempts.push(`${server}: outdated`);
  }

  socketEnded(server: string, { end }: SocketAttempt): void {
    this.trying.delete(server);
    const shown = end === undefined ? 'success' : end === 'withdrawn' ? end : end.cause;
    this.attempts.push(`${server}: ${shown}`);
  }

  budget(): BudgetReading {
    const { limitPerMinute, isPinned } = this;
    return { limitPerMinute, isPinned, usedLastMinute: 0, queueLength: 0, paused: false };
  }

  setUse(use: PanelUse): void {
    this.use = use;
  }

  keepNodes(): void {
    this.nodesKept += 1;
  }

  keyChanged(): void {
    this.#rateChanged();
  }

  accessChanged(): void {
    this.accessChanges += 1;
  }

  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }

  /** Sets the panel's health. With a problem, the panel is blamed. */
  becomes(health: PanelGateway['health'], problem?: Problem): void {
    this.health = health;
    this.problems.ofPanel = problem;
    this.#judged('panel');
  }

  /** Blames the node's sockets for a problem, or ends their outage. */
  socketsFail(node: string, problem?: Problem): void {
    if (problem === undefined) this.problems.sockets.delete(node);
    else this.problems.sockets.set(node, problem);
    this.#judged(`sockets ${node}`);
  }

  allows(perMinute: number): void {
    this.limitPerMinute = perMinute;
    this.#rateChanged();
  }

  asked(what: string): string[] {
    return this.calls.filter((call) => call.startsWith(what)).map((call) => call.slice(what.length + 1));
  }

  #judged(subject: Subject): void {
    this.events.emit('changed', { of: 'subject', subject });
    if (subject === 'panel') this.#rateChanged();
  }

  #rateChanged(): void {
    this.events.emit('changed', { of: 'rate' });
  }
}

/** A frame with stats, as a node sends it. */
export const STATS = String.raw`{"event":"stats","args":["{\"state\":\"running\",\"memory_bytes\":5}"]}`;

/**
 * A socket that opens at once or is rejected with a status. It accepts every token, and sends stats
 * only on request.
 */
export class FakeSocket {
  ended: 'closed' | 'dropped' | undefined;
  readonly url: string;
  readonly #listener: SocketListener;

  constructor(url: string, listener: SocketListener, refusal?: number) {
    this.url = url;
    this.#listener = listener;
    queueMicrotask(() => {
      if (this.ended !== undefined) return;
      if (refusal === undefined) listener.opened();
      else
        listener.refused({
          response: { status: refusal },
          error: new Error(`Unexpected server response: ${refusal}`),
        });
    });
  }

  send(message: ClientMessage): void {
    const answer = message.event === 'auth' ? '{"event":"auth success"}' : STATS;
    queueMicrotask(() => this.receive(answer));
  }

  /** Delivers a frame. Returns whether the listener allows the next frame to wait. */
  receive(frame: string): boolean {
    return this.ended === undefined && this.#listener.message(Buffer.from(frame), false);
  }

  /** Closes the socket from the node's side, without a close frame. */
  drops(): void {
    if (this.ended !== undefined) return;
    this.ended = 'dropped';
    this.#listener.closed({ code: 1006, text: '', oversize: false });
  }

  close(): Promise<void> {
    this.ended = 'closed';
    return Promise.resolve();
  }
}

/** Access to sockets that this function opens, whatever their address. */
export function socketsOpenedBy(open: (url: string, listener: SocketListener) => unknown): SocketAccess {
  return {
    codec: PTERODACTYL.socket,
    inTurn: atOnce,
    handshakes: new HandshakeRoom(() => undefined, atOnce),
    // No other object is assignable to the class, because it has private fields. Sessions use only
    // these three methods.
    openSocket: (url, listener) => open(url, listener) as ConsoleSocket,
    addressProblem: () => undefined,
    isProxied: () => false,
  };
}

/** A fleet with a fake panel, fake sockets and a manual clock. */
export class FleetBench {
  readonly clock = new ManualClock();
  readonly gateway = new FakeGateway();
  readonly log = collectingLogger();
  readonly sockets: FakeSocket[] = [];
  readonly access = socketsOpenedBy((url, listener) => {
    const socket = new FakeSocket(url, listener);
    this.sockets.push(socket);
    return socket;
  });
  random = () => 0.5;
  /** The limit of sockets. A test may replace it before it creates a fleet. */
  socketLimit = new SocketLimit();

  /** Creates a fleet without starting it. */
  create(
    targets: readonly ServerTarget[],
    settings: Partial<FleetSettings> = {},
    context: Partial<Pick<FleetContext, 'gateway'>> = {},
  ): PanelFleet {
    const { clock, log, gateway, access, socketLimit } = this;
    return new PanelFleet(
      { ...SETTINGS, ...settings, servers: targets },
      {
        clock,
        log,
        random: () => this.random(),
        gateway,
        telemetry: {},
        sockets: access,
        isOurs: () => true,
        socketLimit,
        ...context,
      },
    );
  }

  /** Servers with an open socket, by the last letter of their ids. */
  streamed(): readonly (string | undefined)[] {
    return this.sockets.filter(({ ended }) => ended === undefined).map(({ url }) => url.at(-1));
  }
}

/** Servers with the ids a, b, c, … */
export const servers = (count: number, changes: Partial<ServerTarget> = {}) =>
  Array.from({ length: count }, (_, index) => named(String.fromCodePoint(97 + index), changes));
export const named = (id: string, changes: Partial<ServerTarget> = {}) =>
  target({ id, name: `server ${id}`, ...changes });
