/**
 * The routes of a simulated Calagopus panel, as in calagopus/panel
 * (backend/src/routes/api/client).
 */
import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import type { ApiGate } from './api-gate.ts';
import { type ApiContext, type ApiHost, namedServer } from './api-host.ts';
import {
  backupDocument,
  nodeDocument,
  nodeUuid,
  pageDocument,
  scheduleDocument,
  serverDocument,
  userDocument,
} from './calagopus-documents.ts';
import { NodeResources } from './node-resources.ts';
import { readCount } from './pages.ts';
import { json, type SimulatedAnswer, textsRefusal } from './simulated-responses.ts';
import { runSchedule } from './simulated-schedules.ts';
import { nodeName, type SimulatedServer } from './simulated-server.ts';
import type { Conflict, PanelEndpoint } from './simulator-schema.ts';
import { issueCredentials } from './socket-credentials.ts';
import { allows } from './tokens.ts';

type ServerHandler = (
  host: ApiHost,
  server: SimulatedServer,
  context: ApiContext,
) => SimulatedAnswer | Promise<SimulatedAnswer>;

/** The maximum and default number of entries per page. */
const MAX_PER_PAGE = 100;
const DEFAULT_PER_PAGE = 25;

/** The API for clients, and its list of nodes for administrators, as a Hono application. */
export function calagopusApi(host: ApiHost, gate: ApiGate): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  const resources = new NodeResources(host);
  const route =
    (endpoint: PanelEndpoint | 'other', handle: ServerHandler) =>
    (context: ApiContext): Promise<Response> => {
      const { accessible: server, target } = namedServer(host, context.req.param('server') ?? '');
      return gate.pass(context, { endpoint, ...target }, async () =>
        server === undefined ? textsRefusal(404, 'server not found') : handle(host, server, context),
      );
    };
  app.get('/api/client/servers', (context) =>
    gate.pass(context, { endpoint: 'listing' }, async () => listing(host, context)),
  );
  app.get('/api/client/account', (context) =>
    gate.pass(context, { endpoint: 'account' }, async () => json(200, { user: userDocument(host.settings) })),
  );
  app.get('/api/client/servers/nodes/:node/resources', (context) => {
    const id = context.req.param('node');
    const one = host.fleet.all.find((server) => nodeUuid(server) === id);
    return gate.pass(
      context,
      { endpoint: 'resources', node: one && nodeName(one) },
      async () => forbidden(host, 'servers.read') ?? resources.ofNode(id),
    );
  });
  app.get('/api/client/servers/:server/websocket', route('websocket', credentials));
  app.get(
    '/api/client/servers/:server/resources',
    route('resources', (_, server) => conflictRefusal(host, server) ?? resources.of(server)),
  );
  app.get('/api/client/servers/:server/backups', route('backups', backups));
  app.get('/api/client/servers/:server/schedules', route('schedules', schedules));
  app.get('/api/admin/nodes', (context) =>
    gate.pass(context, { endpoint: 'nodes' }, async () => adminNodes(host, context)),
  );
  app.all('*', (context) =>
    gate.pass(context, { endpoint: 'other' }, async () => textsRefusal(404, 'route not found')),
  );
  return app;
}

/** The refusal of a key that lacks this permission. */
function forbidden({ settings }: ApiHost, permission: string): SimulatedAnswer | undefined {
  return allows(settings.accountPermissions, permission)
    ? undefined
    : textsRefusal(403, `you do not have permission to perform this action: ${permission}`);
}

/** The panel's message for each state in which it rejects calls for a server. */
const CONFLICTS: Readonly<Partial<Record<Conflict, string>>> = {
  suspended: 'server is suspended',
  transferring: 'server is being transferred',
  installing: 'server is currently installing',
  install_failed: 'your server has failed its installation process',
  restoring_backup: 'server is restoring from a backup',
};

/** Administrators have access to suspended servers, too (servers/_server_/mod.rs). */
function conflictRefusal({ settings }: ApiHost, { conflict }: SimulatedServer): SimulatedAnswer | undefined {
  if (conflict === 'suspended' && settings.admin) return undefined;
  const text = conflict && CONFLICTS[conflict];
  return text === undefined ? undefined : textsRefusal(409, text);
}

/** One page of a list. */
function page<Item>(
  context: ApiContext,
  name: string,
  items: readonly Item[],
  document: (item: Item) => object,
): SimulatedAnswer {
  const at = readCount(context.req.query('page'), 1);
  const perPage = readCount(context.req.query('per_page'), DEFAULT_PER_PAGE);
  if (at === undefined || perPage === undefined || perPage > MAX_PER_PAGE)
    return textsRefusal(400, 'per_page: greater than 100');
  return json(200, { [name]: pageDocument(items, at, perPage, document) });
}

function listing(host: ApiHost, context: ApiContext): SimulatedAnswer {
  const refused = forbidden(host, 'servers.read');
  if (refused !== undefined) return refused;
  const isOther = context.req.query('other') === 'true' && host.settings.admin;
  const shown = host.fleet.all.filter(({ owned }) => owned !== isOther);
  return page(context, 'servers', shown, (server) => serverDocument(server, host.settings));
}

/** Issues credentials, regardless of the server's state. */
async function credentials(
  host: ApiHost,
  server: SimulatedServer,
  context: ApiContext,
): Promise<SimulatedAnswer> {
  const permissions = ['websocket.connect', 'meta.calagopus', ...host.settings.tokenPermissions];
  return json(200, await issueCredentials(host, server, permissions, context.req.header('host')));
}

function backups(host: ApiHost, server: SimulatedServer, context: ApiContext): SimulatedAnswer {
  const refused = conflictRefusal(host, server) ?? forbidden(host, 'backups.read');
  if (refused !== undefined) return refused;
  return page(context, 'backups', server.backups, backupDocument);
}

function schedules(host: ApiHost, server: SimulatedServer, context: ApiContext): SimulatedAnswer {
  const refused = conflictRefusal(host, server) ?? forbidden(host, 'schedules.read');
  if (refused !== undefined) return refused;
  const { clock } = host;
  for (const schedule of server.schedules) runSchedule(schedule, clock.now());
  return page(context, 'schedules', server.schedules, (schedule) =>
    scheduleDocument(schedule, server.uuid, clock),
  );
}

function adminNodes(host: ApiHost, context: ApiContext): SimulatedAnswer {
  if (!host.settings.admin)
    return textsRefusal(403, 'you do not have permission to perform this action: nodes.read');
  return page(context, 'nodes', host.settings.nodes, nodeDocument);
}
