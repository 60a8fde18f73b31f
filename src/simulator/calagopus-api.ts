/**
 * The client API of a simulated Calagopus panel, as calagopus/panel has it
 * (backend/src/routes/api/client, shared/src/models).
 */
import { randomUUID } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { listedAllocations } from './allocations.ts';
import type { ApiGate } from './api-gate.ts';
import { type ApiContext, type ClientApiHost, hasAccess } from './client-api.ts';
import { resourceUsage } from './frames.ts';
import { uuidFor } from './ids.ts';
import { readCount } from './pages.ts';
import { json, type SimulatedAnswer, textsRefusal } from './simulated-responses.ts';
import { play } from './simulated-schedules.ts';
import { currentUsage, nodeName, type SimulatedServer } from './simulated-server.ts';
import type { Conflict, PanelEndpoint } from './simulator-schema.ts';
import { allows, signToken } from './tokens.ts';

type ServerHandler = (
  host: ClientApiHost,
  server: SimulatedServer,
  context: ApiContext,
) => SimulatedAnswer | Promise<SimulatedAnswer>;

/** How long the panel caches the resources of a node's servers. */
const CACHE_MS = 15_000;

/** The maximum and default number of entries per page. */
const MAX_PER_PAGE = 100;
const DEFAULT_PER_PAGE = 25;

const MADE_AT = '2026-01-02T03:04:05.678901Z';

/** The client API as a Hono application. */
export function calagopusApi(host: ClientApiHost, gate: ApiGate): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  const resources = new NodeResources(host);
  const route =
    (endpoint: PanelEndpoint | 'other', handle: ServerHandler) =>
    (context: ApiContext): Promise<Response> => {
      const id = context.req.param('server') ?? '';
      const found = host.fleet.findById(id);
      const server = found !== undefined && hasAccess(host, found) ? found : undefined;
      const node = found && nodeName(found);
      return gate.pass(context, { endpoint, server: found?.uuid ?? id, node }, async () =>
        server === undefined ? textsRefusal(404, 'server not found') : handle(host, server, context),
      );
    };
  app.get('/api/client/servers', (context) =>
    gate.pass(context, { endpoint: 'listing' }, async () => listing(host, context)),
  );
  app.get('/api/client/account', (context) =>
    gate.pass(context, { endpoint: 'account' }, async () => json(200, { user: userDocument(host) })),
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
function forbidden({ settings }: ClientApiHost, permission: string): SimulatedAnswer | undefined {
  return allows(settings.accountPermissions, permission)
    ? undefined
    : textsRefusal(403, `you do not have permission to perform this action: ${permission}`);
}

/** The panel's message for each state in which it refuses a server's calls. */
const CONFLICTS: Readonly<Partial<Record<Conflict, string>>> = {
  suspended: 'server is suspended',
  transferring: 'server is being transferred',
  installing: 'server is currently installing',
  install_failed: 'your server has failed its installation process',
  restoring_backup: 'server is restoring from a backup',
};

/** Administrators have access to suspended servers, too (servers/_server_/mod.rs). */
function conflictRefusal(
  { settings }: ClientApiHost,
  { conflict }: SimulatedServer,
): SimulatedAnswer | undefined {
  if (conflict === 'suspended' && settings.admin) return undefined;
  const text = conflict && CONFLICTS[conflict];
  return text === undefined ? undefined : textsRefusal(409, text);
}

/** The panel's cached resources of the servers of each node. */
class NodeResources {
  readonly #host: ClientApiHost;
  readonly #cached = new Map<string, { readonly at: number; readonly usages: ReadonlyMap<string, object> }>();

  constructor(host: ClientApiHost) {
    this.#host = host;
  }

  /** The resources of the node's servers that the account can access. */
  ofNode(nodeId: string): SimulatedAnswer {
    const usages = this.#usages(nodeId);
    if (usages === undefined) return textsRefusal(500, 'internal server error');
    const isSeen = (uuid: string) => {
      const server = this.#host.fleet.findById(uuid);
      return server !== undefined && hasAccess(this.#host, server);
    };
    return json(200, { resources: Object.fromEntries([...usages].filter(([uuid]) => isSeen(uuid))) });
  }

  of(server: SimulatedServer): SimulatedAnswer {
    const usages = this.#usages(nodeUuid(server));
    if (usages === undefined) return textsRefusal(500, 'internal server error');
    const usage = usages.get(server.uuid);
    return usage === undefined
      ? textsRefusal(404, 'no resource usage data found for server')
      : json(200, { resources: usage });
  }

  /** Undefined if the node is unreachable. */
  #usages(nodeId: string): ReadonlyMap<string, object> | undefined {
    const { clock, fleet } = this.#host;
    const cached = this.#cached.get(nodeId);
    if (cached !== undefined && clock.now() - cached.at < CACHE_MS) return cached.usages;
    const servers = fleet.all.filter((server) => nodeUuid(server) === nodeId);
    if (servers.some(({ nodeDown }) => nodeDown)) return undefined;
    const usages = new Map(
      servers.map((server) => [server.uuid, resourceUsage(server.game.state, currentUsage(server))]),
    );
    this.#cached.set(nodeId, { at: clock.now(), usages });
    return usages;
  }
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
  const data = items.slice((at - 1) * perPage, at * perPage).map(document);
  return json(200, { [name]: { total: items.length, per_page: perPage, page: at, data } });
}

function listing(host: ClientApiHost, context: ApiContext): SimulatedAnswer {
  const refused = forbidden(host, 'servers.read');
  if (refused !== undefined) return refused;
  const isOther = context.req.query('other') === 'true' && host.settings.admin;
  const shown = host.fleet.all.filter(({ owned }) => owned !== isOther);
  return page(context, 'servers', shown, (server) => serverDocument(server, host));
}

const STATUSES: ReadonlySet<Conflict | undefined> = new Set<Conflict>([
  'installing',
  'install_failed',
  'restoring_backup',
]);

function serverDocument(server: SimulatedServer, { settings }: ClientApiHost): object {
  const { uuid, identifier, name, conflict, limits, owned, egg, nodeAddress, backupLimit } = server;
  const chosen = listedAllocations(server).find(({ is_default: isDefault }) => isDefault);
  return {
    uuid,
    uuid_short: identifier,
    allocation: chosen && {
      uuid: uuidFor(`allocation ${chosen.port}`),
      ip: chosen.ip,
      ip_alias: chosen.ip_alias,
      port: chosen.port,
      notes: null,
      is_primary: true,
      created: MADE_AT,
    },
    egg: {
      uuid: uuidFor(egg),
      name: egg,
      description: null,
      startup_commands: { Default: './start' },
      separate_port: false,
      features: [],
      docker_images: { latest: 'ghcr.io/example/game:latest' },
      created: MADE_AT,
    },
    egg_configuration: {
      allocation_self_assign_enabled: false,
      allocation_self_assign_require_primary: true,
      startup_allow_custom_command: true,
      route_order: null,
    },
    status: STATUSES.has(conflict) ? conflict : null,
    is_owner: owned,
    is_suspended: conflict === 'suspended',
    is_transferring: conflict === 'transferring',
    permissions: settings.tokenPermissions,
    location_uuid: uuidFor('location'),
    location_name: 'here',
    location_flag: null,
    node_uuid: nodeUuid(server),
    node_name: nodeName(server),
    node_maintenance_enabled: conflict === 'maintenance',
    sftp_host: nodeAddress,
    sftp_port: 2_022,
    name,
    description: null,
    limits: { cpu: limits.cpu, memory: limits.memory, swap: limits.swap, disk: limits.disk },
    feature_limits: { allocations: 0, databases: 0, backups: backupLimit, schedules: 10 },
    startup: './start',
    image: 'ghcr.io/example/game:latest',
    auto_kill: { enabled: false, seconds: 30 },
    auto_start_behavior: 'unless_stopped',
    timezone: null,
    created: MADE_AT,
  };
}

function userDocument({ settings }: ClientApiHost): object {
  return {
    uuid: uuidFor('operator'),
    username: 'operator',
    role: null,
    avatar: null,
    email: 'operator@example.com',
    name_first: 'The',
    name_last: 'Operator',
    admin: settings.admin,
    frozen: false,
    suspended: false,
    totp_enabled: false,
    totp_last_used: null,
    require_two_factor: false,
    language: 'en',
    toast_position: 'top_right',
    start_on_grouped_servers: false,
    has_password: true,
    created: MADE_AT,
  };
}

/** Issues credentials, whatever the server's state is. */
async function credentials(
  host: ClientApiHost,
  server: SimulatedServer,
  context: ApiContext,
): Promise<SimulatedAnswer> {
  const { clock, settings } = host;
  const issuedAtMs = Math.floor(clock.toUnixMs(clock.now()));
  const claims = {
    serverUuid: server.uuid,
    issuedAtMs,
    expiresAtMs: issuedAtMs + settings.tokenLifetimeSeconds * 1_000,
  };
  const permissions = ['websocket.connect', 'meta.calagopus', ...settings.tokenPermissions];
  const token = await signToken(host.tokenKey, claims, randomUUID(), permissions);
  const url =
    server.advertised ??
    `${host.nodeSocketUrl(server.node, context.req.header('host'))}/api/servers/${server.uuid}/ws`;
  return json(200, { token, url });
}

function backups(host: ClientApiHost, server: SimulatedServer, context: ApiContext): SimulatedAnswer {
  const refused = conflictRefusal(host, server) ?? forbidden(host, 'backups.read');
  if (refused !== undefined) return refused;
  return page(context, 'backups', server.backups, (backup) => ({
    uuid: uuidFor(`${backup.completed_at} ${backup.bytes}`),
    backup_group_uuid: null,
    name: 'Backup',
    ignored_files: [],
    is_successful: backup.is_successful,
    is_locked: false,
    is_browsable: false,
    is_streaming: false,
    checksum: null,
    bytes: backup.bytes,
    files: 0,
    metadata: {},
    deletion_status: null,
    completed: backup.completed_at,
    created: backup.completed_at ?? MADE_AT,
  }));
}

function schedules(host: ClientApiHost, server: SimulatedServer, context: ApiContext): SimulatedAnswer {
  const refused = conflictRefusal(host, server) ?? forbidden(host, 'schedules.read');
  if (refused !== undefined) return refused;
  const { clock } = host;
  for (const schedule of server.schedules) play(schedule, clock.now());
  return page(context, 'schedules', server.schedules, ({ name, active, lastRunAt }) => ({
    uuid: uuidFor(`schedule ${server.uuid} ${name}`),
    name,
    enabled: active,
    triggers: [],
    condition: { type: 'none' },
    last_run: lastRunAt === undefined ? null : new Date(clock.toUnixMs(lastRunAt)).toISOString(),
    last_failure: null,
    created: MADE_AT,
  }));
}

function adminNodes(host: ClientApiHost, context: ApiContext): SimulatedAnswer {
  if (!host.settings.admin)
    return textsRefusal(403, 'you do not have permission to perform this action: nodes.read');
  return page(
    context,
    'nodes',
    host.settings.nodes,
    ({ name, memory, disk, maintenance_mode: isMaintained }) => ({
      uuid: uuidFor(`node ${name}`),
      name,
      description: null,
      deployment_enabled: true,
      maintenance_enabled: isMaintained,
      public_url: null,
      url: `https://${name}.example.com:8080/`,
      sftp_host: null,
      sftp_port: 2_022,
      memory,
      disk,
      created: MADE_AT,
    }),
  );
}

function nodeUuid(server: SimulatedServer): string {
  return uuidFor(`node ${nodeName(server)}`);
}
