import { randomUUID } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import type { Clock } from '../domain/clock.ts';
import {
  type Allocation,
  backupDocument,
  CONFLICT_DETAILS,
  json,
  listedServerDocument,
  pageDocument,
  refusal,
  refusalAnswer,
  resourcesDocument,
  type SimulatedAnswer,
} from './answers.ts';
import type { SimulatedFleet } from './fleet.ts';
import { usageWhenOff } from './game-server.ts';
import { type ApiGate, pause } from './gate.ts';
import { play, scheduleDocument } from './schedules.ts';
import type { Conflict, PanelEndpoint } from './schema.ts';
import { type SimulatedServer, usageOf } from './server.ts';
import type { Settings } from './settings.ts';
import { signToken } from './tokens.ts';

/** What the client API needs from the panel. */
export interface ClientApiHost {
  readonly clock: Clock;
  readonly settings: Settings;
  readonly fleet: SimulatedFleet;
  readonly tokenKey: Uint8Array;
  /** Aborts when the panel stops, so that nothing keeps waiting. */
  readonly stopped: AbortSignal;
  /** The base URL of a node's socket addresses. */
  nodeSocketUrl(node: 0 | 1): string;
}

export type ApiContext = Context<{ Bindings: HttpBindings }>;
type ServerHandler = (
  host: ClientApiHost,
  server: SimulatedServer,
  context: ApiContext,
) => Promise<SimulatedAnswer>;

const DEFAULT_PER_PAGE = 50;
const DEFAULT_BACKUPS_PER_PAGE = 20;
const LISTING_TYPES: ReadonlySet<string> = new Set(['owner', 'admin', 'admin-all']);

/** The account that owns all keys. */
const ACCOUNT = {
  object: 'user',
  attributes: {
    id: 1,
    admin: false,
    username: 'operator',
    email: 'operator@example.com',
    first_name: 'The',
    last_name: 'Operator',
    language: 'en',
  },
};

/** The panel's client API as a Hono application. */
export function clientApi(host: ClientApiHost, gate: ApiGate): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  const serverRoute = (endpoint: PanelEndpoint, handle: ServerHandler) => (context: ApiContext) => {
    const id = context.req.param('server') ?? '';
    const server = host.fleet.findById(id);
    return gate.pass(context, { endpoint, server: server?.uuid ?? id }, () =>
      server === undefined ? refuse(host, 404) : handle(host, server, context),
    );
  };
  app.get('/api/client', (context) =>
    gate.pass(context, { endpoint: 'listing' }, () => listing(host, context)),
  );
  app.get('/api/client/account', (context) =>
    gate.pass(context, { endpoint: 'other' }, async () => json(200, ACCOUNT)),
  );
  app.get('/api/client/servers/:server/websocket', serverRoute('websocket', credentials));
  app.get('/api/client/servers/:server/resources', serverRoute('resources', resources));
  app.get('/api/client/servers/:server/backups', serverRoute('backups', backups));
  app.get('/api/client/servers/:server/schedules', serverRoute('schedules', schedules));
  app.all('*', (context) => gate.pass(context, { endpoint: 'other' }, () => refuse(host, 404)));
  return app;
}

export async function refuse(host: ClientApiHost, status: number, detail?: string): Promise<SimulatedAnswer> {
  return refusalAnswer(refusal(status, detail), host.settings.errorShape);
}

function refuseConflict(host: ClientApiHost, conflict: Conflict): Promise<SimulatedAnswer> {
  return refuse(host, 409, CONFLICT_DETAILS[conflict]);
}

async function credentials(host: ClientApiHost, server: SimulatedServer): Promise<SimulatedAnswer> {
  const { clock, settings } = host;
  const { conflict } = server;
  const issue = conflict === 'suspended' && settings.suspendedCredentials === 'issue';
  if (conflict !== undefined && !issue) return refuseConflict(host, conflict);
  const issuedAtMs = Math.floor(clock.toUnixMs(clock.now()));
  const expiresAtMs = issuedAtMs + settings.tokenLifetimeSeconds * 1_000;
  const claims = { serverUuid: server.uuid, issuedAtMs, expiresAtMs };
  const token = await signToken(host.tokenKey, claims, randomUUID(), settings.tokenPermissions);
  const socket = server.advertised ?? `${host.nodeSocketUrl(server.node)}/api/servers/${server.uuid}/ws`;
  return json(200, { data: { token, socket } });
}

async function resources(host: ClientApiHost, server: SimulatedServer): Promise<SimulatedAnswer> {
  const { clock, settings, stopped } = host;
  if (server.conflict !== undefined && settings.conflictResources === 'refuse') {
    return refuseConflict(host, server.conflict);
  }
  const suspended = server.conflict === 'suspended';
  if (server.nodeDown) {
    await pause(clock, settings.unreachableDelayMs, stopped);
    if (settings.unreachable === '504') return refuse(host, 504);
    const nothing = usageWhenOff({ memoryLimitBytes: 0, diskBytes: 0 });
    return json(200, resourcesDocument('missing', nothing, suspended, settings));
  }
  const cached = server.resources;
  if (cached !== undefined && clock.now() - cached.at < settings.resourcesCacheMs) return cached.answer;
  const document = resourcesDocument(server.game.state, usageOf(server), suspended, settings);
  const answer = json(200, document);
  server.resources = { at: clock.now(), answer };
  return answer;
}

async function listing(host: ClientApiHost, context: ApiContext): Promise<SimulatedAnswer> {
  const type = context.req.query('type') ?? 'owner';
  const place = readPage(host, context, DEFAULT_PER_PAGE);
  if (place === undefined) return refuse(host, 400, 'page and per_page must be positive integers.');
  if (!LISTING_TYPES.has(type)) return refuse(host, 400, `The type "${type}" is unknown.`);
  const includeEgg = (context.req.query('include') ?? '').split(',').includes('egg');
  const shown = host.fleet.all.filter(
    ({ owned }) => type === 'admin-all' || (type === 'owner' ? owned : !owned),
  );
  const document = pageDocument(shown, place.page, place.perPage, (server) =>
    listedServerDocument({ ...server, node: nodeName(server), allocation: allocationOf(server) }, includeEgg),
  );
  return json(200, document);
}

async function backups(
  host: ClientApiHost,
  server: SimulatedServer,
  context: ApiContext,
): Promise<SimulatedAnswer> {
  if (server.conflict !== undefined) return refuseConflict(host, server.conflict);
  const place = readPage(host, context, DEFAULT_BACKUPS_PER_PAGE);
  if (place === undefined) return refuse(host, 400, 'page and per_page must be positive integers.');
  return json(200, pageDocument(server.backups, place.page, place.perPage, backupDocument));
}

async function schedules(host: ClientApiHost, server: SimulatedServer): Promise<SimulatedAnswer> {
  const { clock, settings } = host;
  if (server.conflict !== undefined) return refuseConflict(host, server.conflict);
  for (const schedule of server.schedules) play(schedule, clock.now(), settings);
  return json(200, {
    object: 'list',
    data: server.schedules.map((schedule) => scheduleDocument(schedule, clock)),
  });
}

export function nodeName(server: SimulatedServer): string {
  return server.nodeName ?? `node-${server.node + 1}`;
}

/** The lowest port assigned to a server whose spec has none. */
const FIRST_PORT = 20_000;

/**
 * The server's default allocation; addresses not given by a spec are reserved for documentation (RFC 5737) and unreachable.
 */
function allocationOf({ allocationSpec, identifier, node }: SimulatedServer): Allocation | undefined {
  if (allocationSpec === null) return undefined;
  const { ip = `198.51.100.${node + 1}`, alias = null, port } = allocationSpec;
  return {
    ip,
    ip_alias: alias,
    port: port ?? FIRST_PORT + (Number.parseInt(identifier.slice(0, 4), 16) % 40_000),
  };
}

/** The requested page; undefined if the query is malformed. */
export function readPage(
  { settings }: ClientApiHost,
  context: ApiContext,
  defaultPerPage: number,
): { page: number; perPage: number } | undefined {
  const page = readCount(context.req.query('page'), 1);
  const perPage = readCount(context.req.query('per_page'), defaultPerPage);
  if (page === undefined || perPage === undefined) return undefined;
  return { page, perPage: Math.min(perPage, settings.maxPerPage) };
}

function readCount(text: string | undefined, fallback: number): number | undefined {
  if (text === undefined) return fallback;
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
}
