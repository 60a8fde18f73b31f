// A panel in this process that responds and fails as a scenario says.

import type { Clock } from '../../src/domain/clock.ts';
import type { CauseCode } from '../../src/domain/problems.ts';
import type { CollectionMode, ServerTarget } from '../../src/domain/server.ts';
import type { ApiEndpoint } from '../../src/domain/telemetry.ts';
import { sleep } from '../../src/domain/waits.ts';
import type { PanelCalls } from '../../src/panel/held-calls.ts';
import type { PanelAnswer } from '../../src/panel/panel-api.ts';
import { PanelError } from '../../src/panel/panel-error.ts';
import type { RequestArguments } from '../../src/panel/requests.ts';
import type {
  Credentials,
  ListedServer,
  ListingPage,
  Resources,
  Responses,
} from '../../src/panel/responses.ts';
import type { RateFacts } from '../../src/panel/scheduler/rate-limit.ts';
import type { ClientMessage } from '../../src/panel/socket-codec.ts';
import type { ConsoleSocket, SocketListener } from '../../src/session/socket.ts';
import { listed } from '../../test/support/listed.ts';
import { sampleOf } from '../../test/support/samples.ts';

/**
 * A fault of one server.
 *
 * - `dead`: sockets to its node fail, and `/resources` responds with 504 after 20 s.
 * - `missing`: `/resources` responds with 200, but without data.
 * - `origin`: the node rejects upgrades with 403.
 * - `mismatch`: the node can't verify tokens.
 * - `permission`: the panel denies access to the console with 403.
 * - `suspended`: the panel denies tokens and polls with 409.
 * - `unknown`: the panel has no such server.
 */
export type Trouble =
  | 'none'
  | 'dead'
  | 'missing'
  | 'origin'
  | 'mismatch'
  | 'permission'
  | 'suspended'
  | 'unknown';

/** The effect of a fault on API calls, or on connections to a node. */
export type Effect =
  /** The connection is closed without a response. */
  | 'cut'
  /** There is no response. */
  | 'hang'
  /** A proxy responds with 502. */
  | 'down'
  /** A proxy responds with 502 to a random half of the calls. */
  | 'flaky'
  /** The panel itself responds with 500. */
  | 'error'
  /** The panel itself responds with 404, and so does the node to upgrades. */
  | 'missing'
  /** The panel rejects the API key. */
  | 'revoked'
  /** The panel denies the account access to every server, with 403. */
  | 'forbidden'
  /** A proxy responds with its login page. */
  | 'page'
  /**
   * The response is 429: without rate limit headers, with those of the account's limit, or with
   * those of the limit for one server's tokens.
   */
  | 'throttled'
  | 'limited'
  | 'console limit'
  /** The panel responds with 504, because the node doesn't respond to it. */
  | 'unreachable'
  /** The node refuses connections, or rejects upgrades with 403. */
  | 'refused'
  | 'origin'
  /**
   * The node can't verify tokens, rejects them because its clock is wrong, or has a certificate
   * from an unknown CA.
   */
  | 'mismatch'
  | 'clock'
  | 'certificate'
  /**
   * The node accepts tokens, but then sends nothing, sends invalid stats, or closes the connection
   * after 1.5 s.
   */
  | 'mute'
  | 'garbage'
  | 'closing'
  /** The node has a new address, which new credentials contain. The old one refuses connections. */
  | 'moved';

/** A fault that lasts some minutes. */
export interface Fault {
  readonly fromMinute: number;
  readonly toMinute: number;
  readonly effect: Effect;
  /** The endpoint whose calls fail, or `socket` for sockets to nodes; all endpoints if absent. */
  readonly on?: ApiEndpoint | 'socket' | undefined;
  /** The only node whose servers fail, if present. */
  readonly node?: string | undefined;
  /** The only servers that fail, if present, by their indexes in the fleet. */
  readonly servers?: readonly number[];
}

/** Servers with the same properties. */
export interface ServerGroup {
  readonly count: number;
  readonly mode: CollectionMode;
  readonly trouble: Trouble;
  readonly node: string;
}

export interface ScriptedServer {
  readonly target: ServerTarget;
  readonly node: string;
  trouble: Trouble;
}

/** A call that the panel received. */
export interface SeenCall {
  readonly endpoint: ApiEndpoint;
  readonly server: string | undefined;
  readonly at: number;
  /** Whether the fault of its server made the call useless for the exporter. */
  readonly futile: boolean;
}

const TOKEN_LIFE_MS = 600_000;
const CLOSING_MS = 1_500;
const NEW_ADDRESS = 'wss://new.';
const DEAD_MS = 20_000;
/** The pause that a 429 demands, and the limit of token calls per minute for one server. */
const PAUSE_MS = 20_000;
const CONSOLE_LIMIT = 5;
const LATENCY_MS: Readonly<Record<ApiEndpoint, number>> = {
  websocket: 60,
  resources: 150,
  listing: 400,
  backups: 100,
  schedules: 100,
  nodes: 100,
  account: 100,
};
const MINUTE_MS = 60_000;
const AUTH_SUCCESS = Buffer.from('{"event":"auth success"}');

/** The uptime has to change, because a constant one would be a sign of frozen statistics. */
const statsFrame = (uptimeMs: number) =>
  Buffer.from(
    JSON.stringify({
      event: 'stats',
      args: [JSON.stringify({ state: 'running', memory_bytes: 5, uptime: Math.round(uptimeMs) })],
    }),
  );

const NO_SUCH_SERVER = 'The requested resource does not exist on this instance.';

const GARBAGE = Buffer.from('{"event":"stats","args":["<html>"]}');

const DAEMON_ERROR = Buffer.from(
  '{"event":"daemon error","args":["Error Event [1]: an unexpected error was encountered while handling this request"]}',
);

const JWT_ERROR = Buffer.from('{"event":"jwt error","args":["jwt: exp claim is invalid"]}');

/** Response times vary by up to a fifth in either direction. */
const JITTER = 0.4;

/**
 * A panel with nodes and servers on a virtual clock, which serves calls and sockets without a
 * network.
 */
export class ScriptedPanel implements PanelCalls {
  readonly servers: readonly ScriptedServer[];
  readonly calls: SeenCall[] = [];
  /** The URL of each opened socket, and when it was opened. */
  readonly connects: { readonly url: string; readonly at: number }[] = [];
  /** The ends of complete reads of the server list, as monotonic instants. */
  readonly listedAt: number[] = [];
  readonly #clock: Clock;
  readonly #random: () => number;
  /** Calls per minute that the panel allows. May be changed at any time. */
  limit: number;
  readonly #faults: readonly Fault[];
  readonly #requestTimeoutMs: number;
  readonly #byId: ReadonlyMap<string, ScriptedServer>;
  readonly #sockets = new Set<ScriptedSocket>();
  /** The panel counts calls in fixed windows of a minute. */
  #windowEndsAt = 0;
  #used = 0;
  /** The number of responses with 429. */
  throttled = 0;

  constructor(
    clock: Clock,
    random: () => number,
    limit: number,
    groups: readonly ServerGroup[],
    faults: readonly Fault[] = [],
    requestTimeoutMs = 25_000,
  ) {
    this.#clock = clock;
    this.#random = random;
    this.limit = limit;
    this.#requestTimeoutMs = requestTimeoutMs;
    // Faults of all endpoints come first, because the first fault that matches a call decides.
    this.#faults = faults.toSorted(
      (one, other) => Number(one.on !== undefined) - Number(other.on !== undefined),
    );
    let next = 10_000_000;
    this.servers = groups.flatMap(({ count, mode, trouble, node }) =>
      Array.from({ length: count }, () => ({ target: target(String(next++), mode), node, trouble })),
    );
    this.#byId = new Map(this.servers.map((server) => [server.target.id, server]));
  }

  async get<Endpoint extends ApiEndpoint>(
    endpoint: Endpoint,
    what: RequestArguments,
    signal: AbortSignal,
  ): Promise<PanelAnswer<Responses[Endpoint]>> {
    const server = endpoint === 'listing' ? undefined : this.#server(what.id ?? '');
    const isPoll = endpoint === 'resources';
    const futile: readonly (Trouble | undefined)[] = isPoll
      ? ['dead', 'missing', 'suspended']
      : ['dead', 'missing', 'suspended', 'origin', 'mismatch', 'permission', 'unknown'];
    const isOfServer = isPoll || endpoint === 'websocket';
    const isFutile = isOfServer && futile.includes(server?.trouble);
    this.calls.push({ endpoint, server: server?.target.id, at: this.#clock.now(), futile: isFutile });
    const isDead = isPoll && server?.trouble === 'dead';
    const facts = isDead ? {} : await this.#answer(endpoint, server, signal);
    if (isDead) await sleep(this.#clock, DEAD_MS, signal);
    const { trouble } = server ?? {};
    if (isDead && trouble === 'dead') throw refusal('node_unreachable', 504);
    if (endpoint === 'websocket' && trouble === 'permission') throw refusal('no_console_permission', 403);
    if (isOfServer && trouble === 'suspended') throw refusal('suspended', 409);
    if (isOfServer && trouble === 'unknown') throw refusal('not_found', 404);
    const values: Partial<Record<ApiEndpoint, () => unknown>> = {
      websocket: () => this.#credentials(server),
      resources: () => resourcesOf(trouble),
      listing: () => this.#page(what),
      backups: () => ({ backups: [], totalPages: 1 }),
      schedules: () => [],
    };
    return { ...facts, value: values[endpoint]?.() as Responses[Endpoint] };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  nodeFor(id: string): string {
    return this.#server(id).node;
  }

  /** Calls in the panel's current window. */
  get usedOfAccount(): number {
    return this.#used;
  }

  /** Starts a window in which another process of the same account has made this many calls. */
  useAccount(calls: number): void {
    this.#used = calls;
    this.#windowEndsAt = this.#clock.now() + MINUTE_MS;
  }

  /** Drops the sockets of a node. */
  dropSockets(node: string): void {
    for (const socket of this.#sockets) if (socket.node === node) socket.drop();
  }

  openSocket(url: string, listener: SocketListener): ConsoleSocket {
    const id = url.split('/').at(-2) ?? '';
    this.connects.push({ url, at: this.#clock.now() });
    // `ConsoleSocket` has private fields, so TypeScript accepts no other class for it. Sessions
    // call only methods that `ScriptedSocket` has as well.
    const server = this.#server(id);
    const effect = () => {
      const found = this.#effect('socket', server);
      if (found !== 'moved') return found;
      return url.startsWith(NEW_ADDRESS) ? undefined : 'refused';
    };
    const socket = new ScriptedSocket(this.#clock, server, effect, listener);
    this.#sockets.add(socket);
    return socket as unknown as ConsoleSocket;
  }

  #credentials(server: ScriptedServer | undefined): Credentials {
    const { node = '', target: { id } = { id: '' } } = server ?? {};
    const host = `${this.#effect('socket', server) === 'moved' ? NEW_ADDRESS : 'wss://'}${node}`;
    const lifetimeMs = TOKEN_LIFE_MS - this.#random() * 500;
    return { token: id, socketUrl: `${host}/api/servers/${id}/ws`, lifetimeMs };
  }

  #page({ page = 1, perPage = 1 }: RequestArguments): ListingPage {
    const listable = this.servers.filter(({ trouble }) => trouble !== 'unknown');
    const totalPages = Math.max(1, Math.ceil(listable.length / perPage));
    if (page >= totalPages && perPage > 1) this.listedAt.push(this.#clock.now());
    const servers = listable.slice((page - 1) * perPage, page * perPage).map(listedOf);
    return { servers, totalPages, badEntries: 0 };
  }

  #server(id: string): ScriptedServer {
    const server = this.#byId.get(id);
    if (server === undefined) throw new Error(`there is no server ${id}`);
    return server;
  }

  #effect(on: ApiEndpoint | 'socket', server: ScriptedServer | undefined): Effect | undefined {
    const now = this.#clock.now() / MINUTE_MS;
    return this.#faults.find((fault) => {
      const isNow = fault.fromMinute <= now && now < fault.toMinute;
      const isHit = fault.on === undefined ? on !== 'socket' : fault.on === on;
      const isOfServer =
        fault.servers === undefined || fault.servers.some((one) => this.servers[one] === server);
      return isNow && isHit && isOfServer && (fault.node === undefined || fault.node === server?.node);
    })?.effect;
  }

  /**
   * Waits for the response time. Rejects if a fault affects the call, or if it exceeds the limit.
   */
  async #answer(
    endpoint: ApiEndpoint,
    server: ScriptedServer | undefined,
    signal: AbortSignal,
  ): Promise<RateFacts> {
    const effect = this.#effect(endpoint, server);
    if (effect === 'hang') await sleep(this.#clock, this.#requestTimeoutMs, signal);
    else if (effect === 'unreachable') await sleep(this.#clock, DEAD_MS, signal);
    else await sleep(this.#clock, LATENCY_MS[endpoint] * (1 + (this.#random() - 0.5) * JITTER), signal);
    const failure = this.#failure(effect, endpoint);
    if (failure !== undefined) throw failure;
    const now = this.#clock.now();
    if (now >= this.#windowEndsAt) {
      this.#windowEndsAt = now + MINUTE_MS;
      this.#used = 0;
    }
    this.#used += 1;
    const { limit } = this;
    if (this.#used <= limit) return { limitPerMinute: limit, remaining: limit - this.#used };
    this.throttled += 1;
    throw tooMany('rate_limited', limit, this.#windowEndsAt - now);
  }

  #failure(effect: Effect | undefined, endpoint: ApiEndpoint): PanelError | undefined {
    switch (effect) {
      case 'cut':
        return foreign('connection_cut');
      case 'hang':
        return foreign(endpoint === 'resources' ? 'node_silent' : 'timeout');
      case 'down':
        return foreign('panel_down', 502);
      case 'flaky':
        return this.#random() < 0.5 ? foreign('panel_down', 502) : undefined;
      case 'error':
        return refusal('panel_error', 500);
      case 'missing':
        return refusal('not_found', 404);
      case 'revoked':
        return refusal(endpoint === 'listing' ? 'key_refused' : 'unauthorized', 401);
      case 'forbidden':
        return refusal(endpoint === 'websocket' ? 'no_console_permission' : 'forbidden', 403);
      case 'page':
        return foreign('login_page', 200);
      case 'throttled':
        return foreign('rate_limited', 429);
      case 'limited':
        return tooMany('rate_limited', this.limit);
      case 'console limit':
        return tooMany('console_limit', CONSOLE_LIMIT);
      case 'unreachable':
        return refusal('node_unreachable', 504);
      case 'mute':
      case 'garbage':
      case 'closing':
      case 'moved':
      case 'refused':
      case 'origin':
      case 'mismatch':
      case 'clock':
      case 'certificate':
      case undefined:
        return undefined;
    }
  }
}

/** A failure that doesn't come from the panel itself, but from a proxy or the connection. */
function foreign(cause: CauseCode, status?: number): PanelError {
  return new PanelError({ cause, detail: cause }, status === undefined ? {} : { status });
}

/** A 429 from the panel, with the headers of this limit. */
function tooMany(cause: CauseCode, limitPerMinute: number, retryAfterMs = PAUSE_MS): PanelError {
  return new PanelError(
    { cause, detail: '429', retryAfterMs },
    { status: 429, fromPanel: true, limitPerMinute },
  );
}

/** A socket that accepts every token, and sends stats on request. */
class ScriptedSocket {
  readonly #clock: Clock;
  readonly #server: ScriptedServer;
  readonly #effect: () => Effect | undefined;
  readonly #listener: SocketListener;
  #isOpen = true;

  constructor(
    clock: Clock,
    server: ScriptedServer,
    effect: () => Effect | undefined,
    listener: SocketListener,
  ) {
    this.#clock = clock;
    this.#server = server;
    this.#effect = effect;
    this.#listener = listener;
    clock.schedule(40, () => this.#answerUpgrade());
  }

  get node(): string {
    return this.#server.node;
  }

  send(message: ClientMessage): void {
    this.#clock.schedule(20, () => {
      const { trouble } = this.#server;
      const effect = trouble === 'mismatch' ? trouble : this.#effect();
      if (!this.#isOpen || effect === 'hang') return;
      if (effect === 'refused') this.drop();
      else if (effect === 'mismatch') this.#listener.message(DAEMON_ERROR, false);
      else if (effect === 'clock' && message.event === 'auth') this.#listener.message(JWT_ERROR, false);
      else if (message.event === 'auth') this.#authenticated(effect);
      else if (effect === 'mute' || effect === 'closing') return;
      else if (effect === 'garbage') this.#listener.message(GARBAGE, false);
      else this.#listener.message(statsFrame(1_000 + this.#clock.now()), false);
    });
  }

  close(): Promise<void> {
    this.#isOpen = false;
    return Promise.resolve();
  }

  drop(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#listener.closed({ code: 1006, text: '', oversize: false });
  }

  #authenticated(effect: Effect | undefined): void {
    this.#listener.message(AUTH_SUCCESS, false);
    if (effect === 'closing') this.#clock.schedule(CLOSING_MS, () => this.drop());
  }

  #answerUpgrade(): void {
    if (!this.#isOpen) return;
    const { trouble } = this.#server;
    const effect = this.#effect();
    if (effect === 'hang') return;
    const isRefused = effect === 'refused' || !['none', 'origin', 'mismatch'].includes(trouble);
    if (trouble === 'origin' || effect === 'origin')
      this.#listener.refused({ response: { status: 403 }, error: new Error('403') });
    else if (effect === 'missing')
      this.#listener.refused({ response: { status: 404, body: NO_SUCH_SERVER }, error: new Error('404') });
    else if (effect === 'certificate') this.#refuse('SELF_SIGNED_CERT_IN_CHAIN');
    else if (isRefused) this.#refuse('ECONNREFUSED');
    else this.#listener.opened();
  }

  #refuse(code: string): void {
    this.#listener.refused({ error: Object.assign(new Error(code), { code }) });
  }
}

function refusal(cause: CauseCode, status: number): PanelError {
  return new PanelError({ cause, detail: `the panel responded with ${status}` }, { status, fromPanel: true });
}

function resourcesOf(trouble: Trouble | undefined): Resources {
  const sample = trouble === 'missing' ? undefined : sampleOf({ state: 'running', memoryBytes: 7 });
  return { sample, suspended: false, badFields: 0 };
}

function target(id: string, mode: CollectionMode): ServerTarget {
  return { panel: 'main', id, name: `server ${id}`, labels: {}, expect: 'running', mode, limits: {} };
}

function listedOf({ target: { id, name }, node, trouble }: ScriptedServer): ListedServer {
  const uuid = `${id}-0000-4000-8000-000000000000`;
  return listed(0, {
    identifier: id,
    uuid,
    name,
    node,
    blocked: trouble === 'suspended' ? trouble : undefined,
  });
}
