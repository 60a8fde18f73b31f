// The client API of a simulated Pterodactyl, Pelican or Hydrodactyl panel.

import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { listedAllocations } from './allocations.ts';
import { type ApiGate, pause } from './api-gate.ts';
import { type ApiContext, type ApiHost, namedServer } from './api-host.ts';
import { usageWhenOff } from './game-server.ts';
import { serverIdentifier } from './ids.ts';
import { readPage } from './pages.ts';
import {
  accountDocument,
  backupDocument,
  type ListingEntry,
  PANEL_KINDS,
  serverDocument,
} from './panel-documents.ts';
import {
  CONFLICT_DETAILS,
  json,
  pageDocument,
  refuse,
  resourcesDocument,
  type SimulatedAnswer,
} from './simulated-responses.ts';
import { runSchedule, scheduleDocument } from './simulated-schedules.ts';
import { currentUsage, nodeName, type SimulatedServer } from './simulated-server.ts';
import type { BackupSpec, PanelEndpoint } from './simulator-schema.ts';
import type { SimulatorSettings } from './simulator-settings.ts';
import { issueCredentials } from './socket-credentials.ts';
import { allows } from './tokens.ts';

type ServerHandler = (
  host: ApiHost,
  server: SimulatedServer,
  context: ApiContext,
) => Promise<SimulatedAnswer>;

/** How long the panel caches a server's resources. */
const RESOURCES_CACHE_MS = 20_000;

const DEFAULT_PER_PAGE = 50;
const DEFAULT_BACKUPS_PER_PAGE = 20;

/** Additional permissions in an administrator's console tokens. */
const ADMIN_PERMISSIONS = ['admin.websocket.errors', 'admin.websocket.install', 'admin.websocket.transfer'];

/** The panel's client API as a Hono application. */
export function clientApi(host: ApiHost, gate: ApiGate): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  /**
   * A route of one server. On Hydrodactyl, most of them are below the name of the server's daemon.
   */
  const serverRoute =
    (endpoint: PanelEndpoint | 'other', needsDaemon: boolean, handle: ServerHandler) =>
    (context: ApiContext) => {
      const daemon = context.req.param('daemon');
      const { found, accessible: server, target } = namedServer(host, context.req.param('server') ?? '');
      return gate.pass(context, { endpoint, ...target }, async () => {
        const isPathKnown =
          daemon === undefined ? !(needsDaemon && hasDaemonPaths(host)) : hasDaemonPaths(host);
        if (!isPathKnown) return noRoute(context);
        if (found === undefined) return refuse(404);
        if (server === undefined) return refuse(404, 'The requested resource does not exist on this server.');
        if (daemon !== undefined && daemon !== server.daemonType) return wrongDaemon(daemon, server);
        return handle(host, server, context);
      });
    };
  app.get('/api/client', (context) =>
    gate.pass(context, { endpoint: 'listing' }, () => listing(host, context)),
  );
  app.get('/api/client/account', (context) =>
    gate.pass(context, { endpoint: 'account' }, async () =>
      json(200, accountDocument(host.settings.panel, host.settings.admin)),
    ),
  );
  for (const prefix of ['', '/:daemon{wings|elytra}']) {
    const path = `/api/client/servers${prefix}/:server`;
    app.get(path, serverRoute('other', false, details));
    app.get(`${path}/websocket`, serverRoute('websocket', true, credentials));
    app.get(`${path}/resources`, serverRoute('resources', false, resources));
    app.get(`${path}/backups`, serverRoute('backups', true, backups));
    app.get(`${path}/schedules`, serverRoute('schedules', true, schedules));
  }
  app.all('*', (context) => gate.pass(context, { endpoint: 'other' }, () => noRoute(context)));
  return app;
}

function hasDaemonPaths({ settings }: ApiHost): boolean {
  return PANEL_KINDS[settings.panel].hasDaemonPaths;
}

function noRoute(context: ApiContext): Promise<SimulatedAnswer> {
  return refuse(404, `The route ${context.req.path.slice(1)} could not be found.`);
}

function wrongDaemon(daemon: string, { daemonType }: SimulatedServer): Promise<SimulatedAnswer> {
  const detail = `This endpoint requires daemon type '${daemon}', but server is using '${daemonType}'.`;
  return refuse(400, detail, 'HttpException');
}

/** The refusal of a call for a server that can't be used; undefined if the call succeeds. */
function refuseConflict({ conflict }: SimulatedServer): Promise<SimulatedAnswer> | undefined {
  // After a failed reinstallation, a server can be used.
  if (conflict === undefined || conflict === 'reinstall_failed') return undefined;
  return refuse(409, CONFLICT_DETAILS[conflict]);
}

async function details(host: ApiHost, server: SimulatedServer): Promise<SimulatedAnswer> {
  const { settings } = host;
  return json(200, {
    ...serverDocument(settings.panel, listingEntry(server, settings), false),
    meta: {
      ...(hasDaemonPaths(host) && { daemonType: server.daemonType }),
      is_server_owner: server.owned,
      user_permissions: grantedPermissions(settings),
    },
  });
}

function grantedPermissions({ admin, tokenPermissions }: SimulatorSettings): readonly string[] {
  return admin ? [...tokenPermissions, ...ADMIN_PERMISSIONS] : tokenPermissions;
}

/** Conflicts in which administrators can still open a console. */
const OPEN_TO_ADMINS: ReadonlySet<string | undefined> = new Set([
  'installing',
  'install_failed',
  'restoring_backup',
  'transferring',
]);

async function credentials(
  host: ApiHost,
  server: SimulatedServer,
  context: ApiContext,
): Promise<SimulatedAnswer> {
  const { settings } = host;
  const { conflict } = server;
  const issue =
    (conflict === 'suspended' && settings.suspendedCredentials === 'issue') ||
    (settings.admin && OPEN_TO_ADMINS.has(conflict));
  const refused = issue ? undefined : refuseConflict(server);
  if (refused !== undefined) return refused;
  if (!allows(settings.accountPermissions, 'websocket.connect')) {
    const detail = "You do not have permission to connect to this server's websocket.";
    return refuse(403, detail, 'HttpForbiddenException');
  }
  const permissions = grantedPermissions(settings);
  const { token, url } = await issueCredentials(host, server, permissions, context.req.header('host'));
  return json(200, { data: { token, socket: url } });
}

async function resources(host: ApiHost, server: SimulatedServer): Promise<SimulatedAnswer> {
  const { clock, settings, stopped } = host;
  const refused = refuseConflict(server);
  if (refused !== undefined) return refused;
  const suspended = server.conflict === 'suspended';
  if (server.nodeDown) {
    await pause(clock, settings.unreachableDelayMs, stopped);
    if (settings.unreachable === '504') return refuse(504);
    const nothing = usageWhenOff({ memoryLimitBytes: 0, diskBytes: 0 });
    return json(200, resourcesDocument('missing', nothing, suspended));
  }
  const cached = server.resources;
  if (cached !== undefined && clock.now() - cached.at < RESOURCES_CACHE_MS) return cached.answer;
  const document = resourcesDocument(server.game.state, currentUsage(server), suspended);
  const answer = json(200, document);
  server.resources = { at: clock.now(), answer };
  return answer;
}

async function listing(host: ApiHost, context: ApiContext): Promise<SimulatedAnswer> {
  const { admin, panel } = host.settings;
  const type = context.req.query('type');
  const place = readPage(host, context, DEFAULT_PER_PAGE);
  if (place === undefined) return refuse(400, 'page and per_page must be positive integers.');
  const includeEgg = (context.req.query('include') ?? '').split(',').includes('egg');
  const shown = host.fleet.all.filter(({ owned }) => {
    if (type === 'admin-all') return admin;
    return type === 'admin' ? admin && !owned : owned;
  });
  const document = pageDocument(shown, place.page, place.perPage, (server) =>
    serverDocument(panel, listingEntry(server, host.settings), includeEgg),
  );
  return json(200, document);
}

async function backups(
  host: ApiHost,
  server: SimulatedServer,
  context: ApiContext,
): Promise<SimulatedAnswer> {
  const refused = refuseConflict(server);
  if (refused !== undefined) return refused;
  if (!allows(host.settings.accountPermissions, 'backup.read')) return refuse(403);
  const place = readPage(host, context, DEFAULT_BACKUPS_PER_PAGE);
  if (place === undefined) return refuse(400, 'page and per_page must be positive integers.');
  const meta = { backup_count: server.backups.filter(({ is_successful }) => is_successful).length };
  const document = (backup: BackupSpec) => backupDocument(host.settings.panel, backup);
  return json(200, pageDocument(server.backups, place.page, place.perPage, document, meta));
}

function listingEntry(server: SimulatedServer, { longIdentifiers }: SimulatorSettings): ListingEntry {
  const identifier = longIdentifiers ? serverIdentifier(server.uuid) : server.identifier;
  return { ...server, identifier, node: nodeName(server), allocations: listedAllocations(server) };
}

async function schedules(host: ApiHost, server: SimulatedServer): Promise<SimulatedAnswer> {
  const { clock, settings } = host;
  const refused = refuseConflict(server);
  if (refused !== undefined) return refused;
  if (!allows(settings.accountPermissions, 'schedule.read')) return refuse(403);
  for (const schedule of server.schedules) runSchedule(schedule, clock.now());
  return json(200, {
    object: 'list',
    data: server.schedules.map((schedule) => scheduleDocument(schedule, clock)),
  });
}
