import { type Clock, sleep } from '../../src/domain/clock.ts';
import type { CauseCode } from '../../src/domain/problem.ts';
import type { CollectionMode, Sample, ServerTarget } from '../../src/domain/server.ts';
import type { ApiEndpoint } from '../../src/domain/telemetry.ts';
import type { PanelAnswer } from '../../src/panel/api.ts';
import type {
  BackupsPage,
  ClientMessage,
  Credentials,
  ListedServer,
  ListingPage,
  ListingQuery,
  Resources,
} from '../../src/panel/dialect.ts';
import { PanelError } from '../../src/panel/errors.ts';
import type { PanelCalls } from '../../src/panel/gateway.ts';
import type { ConsoleSocket, SocketListener } from '../../src/session/socket.ts';

/**
 * A server's fault. `dead`: sockets to its node fail, and `/resources` answers 504 after 20 s; `missing`: 200 without data;
 * `origin`: the node rejects the upgrade with 403; `permission`: the panel refuses the console with 403; `suspended`: it refuses
 * everything.
 */
export type Trouble = 'none' | 'dead' | 'missing' | 'origin' | 'permission' | 'suspended';

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

/** A call as received by the panel. */
export interface SeenCall {
  readonly endpoint: ApiEndpoint;
  readonly server: string | undefined;
  readonly at: number;
  /** Whether it couldn't give the exporter any information. */
  readonly futile: boolean;
}

const TOKEN_LIFE_MS = 600_000;
const DEAD_MS = 20_000;
const LATENCY_MS: Readonly<Record<ApiEndpoint, number>> = {
  websocket: 60,
  resources: 150,
  listing: 400,
  backups: 100,
  account: 100,
};
const AUTH_SUCCESS = Buffer.from('{"event":"auth success"}');

/** A frozen uptime would look like frozen statistics on the node. */
const statsFrame = (uptimeMs: number) =>
  Buffer.from(
    JSON.stringify({
      event: 'stats',
      args: [JSON.stringify({ state: 'running', memory_bytes: 5, uptime: Math.round(uptimeMs) })],
    }),
  );

/** Response times vary by up to a fifth in either direction. */
const JITTER = 0.4;

/** A panel, its nodes and its servers on a virtual clock: it answers the exporter's calls and sockets without a network. */
export class ScriptedPanel implements PanelCalls {
  readonly servers: readonly ScriptedServer[];
  readonly calls: SeenCall[] = [];
  /** When each walk through the listing ended, as monotonic instants. */
  readonly listedAt: number[] = [];
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #limit: number;
  readonly #byId: ReadonlyMap<string, ScriptedServer>;

  constructor(clock: Clock, random: () => number, limit: number, groups: readonly ServerGroup[]) {
    this.#clock = clock;
    this.#random = random;
    this.#limit = limit;
    let next = 10_000_000;
    this.servers = groups.flatMap(({ count, mode, trouble, node }) =>
      Array.from({ length: count }, () => ({ target: target(String(next++), mode), node, trouble })),
    );
    this.#byId = new Map(this.servers.map((server) => [server.target.id, server]));
  }

  async credentials(id: string, signal: AbortSignal): Promise<PanelAnswer<Credentials>> {
    const server = this.#server(id);
    this.#see('websocket', id, server.trouble !== 'none');
    await this.#wait('websocket', signal);
    if (server.trouble === 'permission') throw refusal('no_console_permission', 403);
    if (server.trouble === 'suspended') throw refusal('suspended', 409);
    return {
      value: {
        token: id,
        socketUrl: `wss://${server.node}/api/servers/${id}/ws`,
        lifetimeMs: TOKEN_LIFE_MS - this.#random() * 500,
      },
    };
  }

  async resources(id: string, signal: AbortSignal): Promise<PanelAnswer<Resources>> {
    const server = this.#server(id);
    const { trouble } = server;
    this.#see('resources', id, trouble === 'dead' || trouble === 'missing' || trouble === 'suspended');
    const isDead = trouble === 'dead';
    if (isDead) await sleep(this.#clock, DEAD_MS, signal);
    else await this.#wait('resources', signal);
    if (server.trouble === 'dead' && isDead) throw refusal('node_unreachable', 504);
    if (trouble === 'suspended') throw refusal('suspended', 409);
    const sample: Sample | undefined =
      trouble === 'missing' ? undefined : { state: 'running', memoryBytes: 7 };
    return { value: { sample, suspended: false, badFields: 0 }, limitPerMinute: this.#limit };
  }

  async listing({ page, perPage }: ListingQuery, signal: AbortSignal): Promise<PanelAnswer<ListingPage>> {
    this.#see('listing', undefined, false);
    await this.#wait('listing', signal);
    const totalPages = Math.max(1, Math.ceil(this.servers.length / perPage));
    if (page >= totalPages && perPage > 1) this.listedAt.push(this.#clock.now());
    const servers = this.servers.slice((page - 1) * perPage, page * perPage).map(listed);
    return { value: { servers, totalPages, badEntries: 0, surplusEntries: 0 }, limitPerMinute: this.#limit };
  }

  async backups(id: string, _page: number, signal: AbortSignal): Promise<PanelAnswer<BackupsPage>> {
    this.#see('backups', id, false);
    await this.#wait('backups', signal);
    return { value: { backups: [], totalPages: 1 }, limitPerMinute: this.#limit };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  openSocket(url: string, listener: SocketListener): ConsoleSocket {
    const id = url.split('/').at(-2) ?? '';
    // The class has private fields, so no other object is assignable to it; sessions use only these three methods.
    return new ScriptedSocket(this.#clock, this.#server(id), listener) as unknown as ConsoleSocket;
  }

  #server(id: string): ScriptedServer {
    const server = this.#byId.get(id);
    if (server === undefined) throw new Error(`there is no server ${id}`);
    return server;
  }

  #see(endpoint: ApiEndpoint, server: string | undefined, futile: boolean): void {
    this.calls.push({ endpoint, server, at: this.#clock.now(), futile });
  }

  #wait(endpoint: ApiEndpoint, signal: AbortSignal): Promise<void> {
    const factor = 1 + (this.#random() - 0.5) * JITTER;
    return sleep(this.#clock, LATENCY_MS[endpoint] * factor, signal);
  }
}

/** A socket that accepts every token, and sends stats on request. */
class ScriptedSocket {
  readonly #clock: Clock;
  readonly #server: ScriptedServer;
  readonly #listener: SocketListener;
  #isOpen = true;

  constructor(clock: Clock, server: ScriptedServer, listener: SocketListener) {
    this.#clock = clock;
    this.#server = server;
    this.#listener = listener;
    clock.schedule(40, () => this.#answerUpgrade());
  }

  send(message: ClientMessage): void {
    this.#clock.schedule(20, () => {
      if (!this.#isOpen || this.#server.trouble !== 'none') return;
      if (message.event === 'auth') this.#listener.message(AUTH_SUCCESS, false);
      this.#listener.message(statsFrame(1_000 + this.#clock.now()), false);
    });
  }

  close(): Promise<void> {
    this.#isOpen = false;
    return Promise.resolve();
  }

  terminate(): void {
    this.#isOpen = false;
  }

  #answerUpgrade(): void {
    if (!this.#isOpen) return;
    const { trouble } = this.#server;
    if (trouble === 'none') this.#listener.opened();
    else if (trouble === 'origin') this.#listener.refused({ status: 403, error: new Error('403') });
    else {
      const error = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
      this.#listener.refused({ error });
    }
  }
}

function refusal(cause: CauseCode, status: number): PanelError {
  return new PanelError({ cause, detail: `the panel answered ${status}` }, { status, fromPanel: true });
}

function target(id: string, mode: CollectionMode): ServerTarget {
  return { panel: 'main', id, name: `server ${id}`, labels: {}, expect: 'running', mode, limits: {} };
}

function listed({ target: { id, name }, trouble }: ScriptedServer): ListedServer {
  return {
    identifier: id,
    uuid: `${id}-0000-4000-8000-000000000000`,
    name,
    suspended: trouble === 'suspended',
    installing: false,
    transferring: false,
    underMaintenance: false,
    restoring: false,
    withoutBackups: false,
    limits: {},
  };
}
