// A simulated panel with its nodes, for tests, benchmarks and demonstrations.

import type { RequestListener } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { type Cancel, type Clock, SystemClock } from '../domain/clock.ts';
import { ApiGate } from './api-gate.ts';
import { APPLICATION_KEYS, applicationApi } from './application-api.ts';
import { calagopusApi } from './calagopus-api.ts';
import { clientApi } from './client-api.ts';
import { controlApi } from './control-api.ts';
import { GamePort, playersAt } from './game-port.ts';
import { Listener } from './listener.ts';
import { PANEL_BEHAVIORS } from './panel-behavior.ts';
import { DEMO_SERVERS, steadyServers } from './profiles.ts';
import type { Recorder } from './recorder.ts';
import { SharedState } from './shared-state.ts';
import { setStuck } from './simulated-schedules.ts';
import { currentUsage, nodeName, type SimulatedServer } from './simulated-server.ts';
import type { ServerInfo, Simulator, SimulatorOptions } from './simulator-interface.ts';
import type {
  BackupEnd,
  Conflict,
  ExitState,
  PanelKind,
  PowerCommand,
  RestFault,
  ServerSpec,
  SocketAction,
  SocketFault,
  UsagePin,
} from './simulator-schema.ts';
import {
  changedSettings,
  initialSettings,
  type SettingsChange,
  type SimulatorSettings,
  tokenCheckMs,
} from './simulator-settings.ts';
import { handleUpgrade } from './upgrade.ts';

const LOOPBACK = '127.0.0.1';
export const DEFAULT_SEED = 1;
const DEFAULT_STATS_INTERVAL_MS = 1_000;

/** The API key that a simulated panel accepts by default. */
export const DEFAULT_API_KEY = 'ptlc_simulated0panel0key0for0demo0and0tests0only';

/** The default API key of a kind of panel, whose keys may have another prefix. */
export function defaultApiKey(panel?: PanelKind): string {
  return panel === 'calagopus' ? DEFAULT_API_KEY.replace(/^ptlc_/, 'c7sp_') : DEFAULT_API_KEY;
}

/** Starts a simulated panel, its two nodes and its control endpoint. Rejects if a port is taken. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const panel = new SimulatedPanel(options);
  try {
    await panel.start();
  } catch (error) {
    await panel.stop();
    throw error;
  }
  return panel;
}

class SimulatedPanel implements Simulator {
  readonly apiKey: string;
  readonly #options: SimulatorOptions;
  readonly #clock: Clock;
  readonly #shared: SharedState;
  readonly #panel: Listener;
  readonly #secondNode: Listener;
  readonly #control: Listener;
  /** By the UUIDs of their servers. */
  readonly #gamePorts = new Map<string, GamePort>();
  #cancelTokenCheck: Cancel = () => undefined;

  constructor(options: SimulatorOptions) {
    const { listen = [{ host: LOOPBACK, port: 0 }], controlHosts = [LOOPBACK] } = options;
    const keys = options.apiKeys ?? [defaultApiKey(options.panel)];
    this.apiKey = keys[0] ?? DEFAULT_API_KEY;
    this.#options = options;
    this.#clock = options.clock ?? new SystemClock();
    this.#panel = new Listener(listen, options.tls);
    this.#secondNode = new Listener(
      listen.map(({ host }) => ({ host, port: 0 })),
      options.tls,
    );
    this.#control = new Listener(controlHosts.map((host) => ({ host, port: options.controlPort ?? 0 })));
    this.#shared = new SharedState({
      clock: this.#clock,
      settings: initialSettings(options),
      keys,
      seed: options.seed ?? DEFAULT_SEED,
      statsIntervalMs: options.statsIntervalMs ?? DEFAULT_STATS_INTERVAL_MS,
      panelUrl: (node, reachedAt) => this.#panelUrl(node, reachedAt),
      nodeSocketUrl: (node, reachedAt) => this.#nodeSocketUrl(node, reachedAt),
    });
  }

  async start(): Promise<void> {
    const { servers = DEMO_SERVERS } = this.#options;
    for (const spec of typeof servers === 'number' ? steadyServers(servers) : servers) {
      this.#shared.fleet.add(spec);
    }
    const api = applicationApi(this.#shared, new ApiGate(this.#shared, APPLICATION_KEYS));
    api.route('/', clientApi(this.#shared, new ApiGate(this.#shared)));
    const calagopus = calagopusApi(this.#shared, new ApiGate(this.#shared));
    const currentApp = ({ panel }: SimulatorSettings) => (panel === 'calagopus' ? calagopus : api);
    const fetch: typeof api.fetch = (...call) => currentApp(this.#shared.settings).fetch(...call);
    await this.#panel.open(requestListener({ fetch }), (request, socket, head) =>
      handleUpgrade(this.#shared, 0, request, socket, head),
    );
    await this.#secondNode.open(
      (_request, response) => response.writeHead(404).end(),
      (request, socket, head) => handleUpgrade(this.#shared, 1, request, socket, head),
    );
    await this.#control.open(requestListener(controlApi(this)));
    await this.#openGamePorts();
    this.#shared.fleet.start();
    this.#checkTokens();
  }

  get url(): string {
    return this.#panel.url;
  }

  get secondNodeUrl(): string {
    return this.#secondNode.url;
  }

  get controlUrl(): string {
    return this.#control.url;
  }

  get record(): Recorder {
    return this.#shared.recorder;
  }

  get servers(): readonly ServerInfo[] {
    return this.#shared.fleet.all.map((server) => this.#describe(server));
  }

  server(ref: string): ServerInfo {
    return this.#describe(this.#find(ref));
  }

  set(changes: SettingsChange): void {
    this.#shared.settings = changedSettings(this.#shared.settings, changes);
    this.#cancelTokenCheck();
    this.#checkTokens();
  }

  failRest(fault: RestFault): void {
    this.#shared.faults.addRest(this.#resolved(fault));
  }

  failSockets(fault: SocketFault): void {
    this.#shared.faults.addSocket(this.#resolved(fault));
  }

  clearFaults(): void {
    this.#shared.faults.clear();
  }

  sockets(action: SocketAction): number {
    const servers = action.server === undefined ? this.#shared.fleet.all : [this.#find(action.server)];
    let count = 0;
    for (const { connections } of servers) {
      count += connections.size;
      for (const connection of connections) connection.act(action);
    }
    return count;
  }

  addServer(spec: ServerSpec): ServerInfo {
    return this.#describe(this.#shared.fleet.add(spec));
  }

  deleteServer(ref: string): void {
    const server = this.#find(ref);
    this.sockets({ kind: 'send', server: server.uuid, event: 'deleted', args: ['null'] });
    for (const connection of server.connections) connection.close(1001, 'server deleted');
    this.#shared.fleet.remove(server);
    void this.#gamePorts.get(server.uuid)?.close();
    this.#gamePorts.delete(server.uuid);
  }

  power(ref: string, action: PowerCommand): void {
    this.#shared.fleet.apply(this.#find(ref), action);
  }

  crash(ref: string, exit?: ExitState): void {
    const server = this.#find(ref);
    if (exit === undefined) this.#shared.fleet.apply(server, 'crash');
    else this.#shared.fleet.crash(server, exit);
  }

  fillDisk(ref: string, stopsAfterMs?: number): void {
    this.#shared.fleet.fillDisk(this.#find(ref), stopsAfterMs);
  }

  failStarts(ref: string, times: number): void {
    this.#find(ref).startsToFail = times;
  }

  print(ref: string, line: string): void {
    this.#shared.fleet.print(this.#find(ref), line);
  }

  move(ref: string, sockets: 'keep' | 'drop' = 'drop'): void {
    const server = this.#find(ref);
    server.node = server.node === 0 ? 1 : 0;
    if (sockets === 'drop') dropSockets(server);
  }

  advertise(ref: string, address: string | undefined): void {
    this.#find(ref).advertised = address;
  }

  suspend(ref: string): void {
    const server = this.#find(ref);
    server.conflict = 'suspended';
    const { closesSuspended } = PANEL_BEHAVIORS[this.#shared.settings.panel];
    if (closesSuspended) dropSockets(server);
    this.#shared.fleet.apply(server, closesSuspended ? 'kill' : 'stop');
  }

  unsuspend(ref: string): void {
    this.#find(ref).conflict = undefined;
  }

  setConflict(ref: string, conflict: Conflict | undefined): void {
    this.#find(ref).conflict = conflict;
  }

  setNodeDown(ref: string, down: boolean): void {
    const server = this.#find(ref);
    server.nodeDown = down;
    if (down) dropSockets(server);
  }

  completeBackup(ref: string, backup: BackupEnd): void {
    this.#shared.fleet.completeBackup(this.#find(ref), backup);
  }

  setSchedulesStuck(ref: string, isStuck: boolean): void {
    for (const schedule of this.#find(ref).schedules) setStuck(schedule, isStuck, this.#clock.now());
  }

  pin(ref: string, usage: UsagePin | undefined): void {
    this.#find(ref).pin = usage;
  }

  acceptKey(key: string): void {
    this.#shared.keys.add(key);
  }

  revokeKey(key: string): void {
    this.#shared.keys.delete(key);
  }

  async stopListening(): Promise<void> {
    await Promise.all([this.#panel.close(), this.#secondNode.close()]);
  }

  async startListening(): Promise<void> {
    this.#shared.startedUnixMs = Math.floor(this.#clock.toUnixMs(this.#clock.now()));
    await Promise.all([this.#panel.reopen(), this.#secondNode.reopen()]);
  }

  async stop(): Promise<void> {
    this.#cancelTokenCheck();
    this.#shared.fleet.stop();
    await Promise.all([
      this.#panel.close(),
      this.#secondNode.close(),
      this.#control.close(),
      ...[...this.#gamePorts.values()].map((port) => port.close()),
    ]);
    // After the connections are closed, so that waiting calls no longer have a client.
    this.#shared.abort();
  }

  /** The panel's base URL for a client that reached the node at `host:port`. */
  #panelUrl(node: 0 | 1, reachedAt: string | undefined): string {
    if (reachedAt === undefined || !this.#panel.hasManyAddresses) return this.#panel.url;
    const authority = node === 0 ? reachedAt : this.#panel.authorityAt(hostIn(reachedAt));
    return `${new URL(this.#panel.url).protocol}//${authority}`;
  }

  /** The base URL of a node's sockets for a client that reached the panel at `host:port`. */
  #nodeSocketUrl(node: 0 | 1, reachedAt: string | undefined): string {
    const listener = node === 0 ? this.#panel : this.#secondNode;
    if (reachedAt === undefined || !this.#panel.hasManyAddresses) return listener.socketUrl();
    // A container may publish the port under another number. The first node shares the panel's
    // port.
    return listener.socketUrl(node === 0 ? reachedAt : listener.authorityAt(hostIn(reachedAt)));
  }

  async #openGamePorts(): Promise<void> {
    for (const server of this.#shared.fleet.all) {
      const { players } = server;
      if (players === undefined) continue;
      const phase = server.random();
      const port = new GamePort(() => {
        if (server.game.state !== 'running') return undefined;
        const { max, online = playersAt(this.#clock.now(), max, phase) } = players;
        return { online, max };
      });
      this.#gamePorts.set(server.uuid, port);
      await port.open();
    }
  }

  #describe(server: SimulatedServer): ServerInfo {
    return describe(server, this.#gamePorts.get(server.uuid)?.port);
  }

  #find(ref: string): SimulatedServer {
    const server = this.#shared.fleet.find(ref);
    if (server === undefined) throw new UnknownServerError(ref);
    return server;
  }

  /** The same fault with its server's UUID in place of a short id or name. */
  #resolved<Fault extends { server?: string | undefined; node?: string | undefined }>(fault: Fault): Fault {
    const { server, node } = fault;
    if (node !== undefined && this.#shared.fleet.all.every((one) => nodeName(one) !== node))
      throw new Error(`no node "${node}": expected a name from the server list`);
    return server === undefined ? fault : { ...fault, server: this.#find(server).uuid };
  }

  #checkTokens(): void {
    this.#cancelTokenCheck = this.#clock.schedule(tokenCheckMs(this.#shared.settings), () => {
      for (const server of this.#shared.fleet.all) {
        for (const connection of server.connections) connection.checkToken();
      }
      this.#checkTokens();
    });
  }
}

/** The host of `host:port`. */
function hostIn(authority: string): string {
  return new URL(`http://${authority}`).hostname;
}

/**
 * An application as a Node request listener, without replacing the process's global `Request` and
 * `Response`.
 */
function requestListener(app: { readonly fetch: Parameters<typeof getRequestListener>[0] }): RequestListener {
  const listen = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  return (request, response) => void listen(request, response);
}

/** The error for an unknown server. */
export class UnknownServerError extends Error {
  constructor(ref: string) {
    super(`no server "${ref}": expected a UUID, a short id or a name`);
    this.name = 'UnknownServerError';
  }
}

function dropSockets(server: SimulatedServer): void {
  for (const connection of server.connections) connection.drop();
}

function describe(server: SimulatedServer, gamePort: number | undefined): ServerInfo {
  const { uuid, identifier, name, profileName, limits, game } = server;
  return {
    uuid,
    identifier,
    name,
    profile: profileName,
    limits,
    state: game.state,
    usage: currentUsage(server),
    gamePort,
  };
}
