// The panel's client API, as far as the exporter and the bare client use it.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ListingEntry, serverDocument } from '../../src/simulator/panel-documents.ts';
import { countCall, type RateWindow } from '../../src/simulator/rate-window.ts';
import {
  json,
  pageDocument,
  refusal,
  refusalAnswer,
  resourcesDocument,
  type SimulatedAnswer,
} from '../../src/simulator/simulated-responses.ts';
import type { StormServer } from './fleet.ts';
import { gameUsage } from './game-usage.ts';
import { newToken } from './token.ts';

const API_KEY = 'ptlc_simulated0panel0key0for0all0storms0only000';

const PATH = /^\/api\/client(?:\/servers\/([0-9a-f-]+)\/(websocket|resources))?$/;

/** Credential calls per minute that the panel allows for one server. */
const WEBSOCKET_LIMIT = 5;

interface PanelApiOptions {
  readonly servers: readonly StormServer[];
  readonly tokenLifetimeSeconds: number;
  /** Returns the URL of a server's console socket. */
  readonly socketUrl: (server: StormServer) => string;
}

/** The number of calls since the start, by endpoint. */
export interface CallCounts {
  readonly listing: number;
  readonly websocket: number;
  readonly resources: number;
  /** Calls that were rejected with 429. */
  readonly limited: number;
  /** Complete reads of the server list. */
  readonly walks: number;
}

export class PanelApi {
  readonly apiKey = API_KEY;
  readonly #options: PanelApiOptions;
  readonly #byId: ReadonlyMap<string, StormServer>;
  readonly #perServer = new Map<string, RateWindow>();
  readonly #counts = { listing: 0, websocket: 0, resources: 0, limited: 0, walks: 0 };
  #window: RateWindow | undefined;
  #pages: string[] = [];
  limitPerMinute: number;
  isKeyValid = true;

  constructor(limitPerMinute: number, options: PanelApiOptions) {
    this.limitPerMinute = limitPerMinute;
    this.#options = options;
    const entries = options.servers.map((server) => [server, server.uuid.slice(0, 8)] as const);
    this.#byId = new Map(
      entries.flatMap(
        ([server, short]) =>
          [
            [server.uuid, server],
            [short, server],
          ] as const,
      ),
    );
    this.rename(0);
  }

  get counts(): CallCounts {
    return { ...this.#counts };
  }

  /** Renames the first servers of the list. */
  rename(count: number): void {
    this.#pages = pagesOf(
      this.#options.servers.map(({ name }, index) => (index < count ? `${name}-renamed` : name)),
      this.#options.servers,
    );
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://panel');
    const [found, id, endpoint = 'listing'] = PATH.exec(pathname) ?? [];
    const server = this.#byId.get(id ?? '');
    const window = countCall(this.#window, this.limitPerMinute, performance.now());
    this.#window = window.window;
    const limits = {
      'x-ratelimit-limit': String(this.limitPerMinute),
      'x-ratelimit-remaining': String(window.remaining),
    };
    const send = ({ status, headers, body }: SimulatedAnswer, more: Record<string, string> = limits) =>
      void response.writeHead(status, { ...more, ...headers }).end(body);
    if (found === undefined) return send(refusalAnswer(refusal(404)));
    this.#counts[endpoint as 'listing' | 'websocket' | 'resources'] += 1;
    if (!this.isKeyValid || request.headers.authorization !== `Bearer ${API_KEY}`)
      return send(refusalAnswer(refusal(401)), {});
    if (!window.allowed) return send(this.#tooMany(), { ...limits, 'retry-after': seconds(window.resetMs) });
    if (endpoint === 'listing') return send(this.#page(Number(searchParams.get('page') ?? 1)));
    if (server === undefined) return send(refusalAnswer(refusal(404)));
    if (endpoint === 'resources') return send(json(200, resourcesDocument('running', gameUsage(), false)));
    const own = countCall(this.#perServer.get(server.uuid), WEBSOCKET_LIMIT, performance.now());
    this.#perServer.set(server.uuid, own.window);
    const ownLimits = {
      'x-ratelimit-limit': String(WEBSOCKET_LIMIT),
      'x-ratelimit-remaining': String(own.remaining),
    };
    if (!own.allowed) return send(this.#tooMany(), { ...ownLimits, 'retry-after': seconds(own.resetMs) });
    const { tokenLifetimeSeconds, socketUrl } = this.#options;
    const data = { token: newToken(server.uuid, tokenLifetimeSeconds), socket: socketUrl(server) };
    send(json(200, { data }), ownLimits);
  }

  #tooMany(): SimulatedAnswer {
    this.#counts.limited += 1;
    return refusalAnswer(refusal(429));
  }

  #page(page: number): SimulatedAnswer {
    if (page === this.#pages.length) this.#counts.walks += 1;
    const body = this.#pages[page - 1];
    return body === undefined
      ? refusalAnswer(refusal(404))
      : { status: 200, headers: { 'content-type': 'application/json' }, body };
  }
}

function seconds(ms: number): string {
  return String(Math.max(1, Math.ceil(ms / 1_000)));
}

const PER_PAGE = 100;

/** Renders the pages of the server list once, because they are requested again and again. */
function pagesOf(names: readonly string[], servers: readonly StormServer[]): string[] {
  const entries = servers.map((server, index) => entryOf(server, names[index] ?? server.name));
  return Array.from({ length: Math.max(1, Math.ceil(servers.length / PER_PAGE)) }, (_, page) =>
    JSON.stringify(
      pageDocument(entries, page + 1, PER_PAGE, (entry) => serverDocument('pterodactyl', entry, true)),
    ),
  );
}

function entryOf({ uuid, node }: StormServer, name: string): ListingEntry {
  return {
    uuid,
    identifier: uuid.slice(0, 8),
    name,
    node: `node-${node + 1}`,
    egg: 'Paper',
    owned: true,
    conflict: undefined,
    backupLimit: 3,
    allocations: [{ ip: '198.51.100.1', ip_alias: null, port: 25_565, is_default: true }],
    variables: {},
    nodeAddress: 'node.example.com',
    limits: { memory: 4_096, swap: 0, disk: 20_480, cpu: 200, io: 500 },
    daemonType: 'wings',
  };
}
