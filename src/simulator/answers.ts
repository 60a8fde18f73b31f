import type { GameUsage } from './game-server.ts';
import type { BackupSpec, Conflict, WireLimits } from './schema.ts';
import type { BodyShape, Settings } from './settings.ts';

/** A complete HTTP response. */
export interface SimulatedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** An error answered by the panel, without its wire format. */
export interface SimulatedRefusal {
  readonly status: number;
  /** The class name in the `errors` envelope. */
  readonly code: string;
  readonly detail: string;
}

const STATUS_NAMES: Readonly<Record<number, readonly [code: string, label: string]>> = {
  400: ['BadRequestHttpException', 'Bad Request'],
  401: ['AuthenticationException', 'Unauthorized'],
  403: ['AuthorizationException', 'Forbidden'],
  404: ['NotFoundHttpException', 'Not Found'],
  405: ['MethodNotAllowedHttpException', 'Method Not Allowed'],
  409: ['ServerStateConflictException', 'Conflict'],
  429: ['TooManyRequestsHttpException', 'Too Many Requests'],
  500: ['HttpException', 'Internal Server Error'],
  502: ['HttpException', 'Bad Gateway'],
  503: ['HttpException', 'Service Unavailable'],
  504: ['DaemonConnectionException', 'Gateway Timeout'],
};

const DETAILS: Readonly<Record<number, string>> = {
  400: 'The request is malformed.',
  401: 'Unauthenticated.',
  403: 'This action is unauthorized.',
  404: 'The requested resource could not be found on the server.',
  500: 'An unexpected error was encountered while processing this request.',
  504: 'Could not establish a connection to the machine that runs this server.',
};

/** The panel's message for each state in which it answers 409. */
export const CONFLICT_DETAILS: Readonly<Record<Conflict, string>> = {
  suspended: 'This server is currently suspended and cannot be used.',
  installing: 'This server has not yet completed its installation process.',
  install_failed: 'This server has failed its installation process and cannot be used.',
  reinstall_failed: 'This server has failed its last installation process and cannot be used.',
  restoring_backup: 'This server is currently restoring from a backup.',
  transferring: 'This server is currently being transferred to a new machine.',
  maintenance: 'The node of this server is currently under maintenance.',
};

export function refusal(status: number, detail?: string, code?: string): SimulatedRefusal {
  const label = STATUS_NAMES[status]?.[1] ?? 'Error';
  return {
    status,
    code: code ?? STATUS_NAMES[status]?.[0] ?? 'HttpException',
    detail: detail ?? DETAILS[status] ?? `${label}.`,
  };
}

/** The refusal in one of the formats that panels and the proxies in front of them use. */
export function refusalAnswer({ status, code, detail }: SimulatedRefusal, shape: BodyShape): SimulatedAnswer {
  const label = STATUS_NAMES[status]?.[1] ?? 'Error';
  if (shape === 'errors') return json(status, { errors: [{ code, status: String(status), detail }] });
  if (shape === 'message') return json(status, { error: label, message: detail });
  const title = `${status} ${label}`;
  return {
    status,
    headers: { 'content-type': 'text/html; charset=utf-8' },
    body: `<html>\r\n<head><title>${title}</title></head>\r\n<body><h1>${title}</h1></body>\r\n</html>\r\n`,
  };
}

export function json(status: number, body: object): SimulatedAnswer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

/** An address of a server, as on the wire. */
export interface Allocation {
  readonly ip: string;
  readonly ip_alias: string | null;
  readonly port: number;
}

/** The listing's data about a server. */
export interface ListingEntry {
  readonly uuid: string;
  readonly identifier: string;
  readonly name: string;
  readonly node: string;
  readonly egg: string;
  readonly owned: boolean;
  readonly conflict: Conflict | undefined;
  readonly backupLimit: number;
  /** The default allocation. */
  readonly allocation: Allocation | undefined;
  readonly limits: Required<{ [Key in keyof WireLimits]: number }>;
}

/** The state of a server in a resources answer; `missing` if its node is unreachable. */
export type ResourceState = 'offline' | 'starting' | 'running' | 'stopping' | 'missing';

/** The body of a resources answer. */
export function resourcesDocument(
  state: ResourceState,
  usage: GameUsage,
  suspended: boolean,
  settings: Pick<Settings, 'resourceObject' | 'resourceUptime' | 'resourceSuspendedFlag'>,
): object {
  return {
    object: settings.resourceObject,
    attributes: {
      current_state: state,
      ...(settings.resourceSuspendedFlag && { is_suspended: suspended }),
      resources: {
        memory_bytes: usage.memoryBytes,
        cpu_absolute: usage.cpuAbsolute,
        disk_bytes: usage.diskBytes,
        network_rx_bytes: usage.rxBytes,
        network_tx_bytes: usage.txBytes,
        ...(settings.resourceUptime && { uptime: usage.uptimeMs }),
      },
    },
  };
}

const STATUS_WORDS: ReadonlySet<Conflict | undefined> = new Set<Conflict>([
  'installing',
  'install_failed',
  'reinstall_failed',
  'suspended',
  'restoring_backup',
]);

/** One server as an item of the listing. */
export function listedServerDocument(server: ListingEntry, includeEgg: boolean): object {
  const { conflict } = server;
  return {
    object: 'server',
    attributes: {
      server_owner: server.owned,
      identifier: server.identifier,
      uuid: server.uuid,
      name: server.name,
      node: server.node,
      status: STATUS_WORDS.has(conflict) ? conflict : null,
      is_suspended: conflict === 'suspended',
      is_installing: conflict === 'installing' || conflict === 'install_failed',
      is_transferring: conflict === 'transferring',
      is_node_under_maintenance: conflict === 'maintenance',
      limits: { ...server.limits, threads: null, oom_disabled: true },
      feature_limits: { databases: 0, allocations: 0, backups: server.backupLimit },
      relationships: {
        allocations: { object: 'list', data: allocationDocuments(server.allocation) },
        ...(includeEgg && { egg: { object: 'egg', attributes: { name: server.egg } } }),
      },
    },
  };
}

// Panels list allocations in no particular order, so another one comes before the default.
function allocationDocuments(allocation: Allocation | undefined): readonly object[] {
  if (allocation === undefined) return [];
  const another = { ...allocation, ip_alias: null, port: allocation.port - 1, is_default: false };
  return [another, { ...allocation, is_default: true }].map((attributes) => ({
    object: 'allocation',
    attributes: { id: attributes.port, notes: null, ...attributes },
  }));
}

/** A backup as an item of the list of backups. */
export function backupDocument(backup: BackupSpec): object {
  return { object: 'backup', attributes: backup };
}

/** One page of a list with its pagination; `page` starts at 1. */
export function pageDocument<Item>(
  items: readonly Item[],
  page: number,
  perPage: number,
  document: (item: Item) => object,
): object {
  const shown = items.slice((page - 1) * perPage, page * perPage);
  return {
    object: 'list',
    data: shown.map(document),
    meta: {
      pagination: {
        total: items.length,
        count: shown.length,
        per_page: perPage,
        current_page: page,
        total_pages: Math.max(1, Math.ceil(items.length / perPage)),
        links: {},
      },
    },
  };
}
