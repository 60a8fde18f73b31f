// The response bodies and refusals of a simulated panel.

import type { GameUsage } from './game-server.ts';
import type { BodyShape, Conflict } from './simulator-schema.ts';

/** A complete HTTP response. */
export interface SimulatedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** An error response of the panel, without its wire format. */
export interface SimulatedRefusal {
  readonly status: number;
  /** The class name in the `errors` envelope. */
  readonly code: string;
  readonly detail: string;
}

const STATUS_NAMES: Readonly<Record<number, readonly [code: string, label: string]>> = {
  400: ['BadRequestHttpException', 'Bad Request'],
  401: ['AuthenticationException', 'Unauthorized'],
  403: ['AccessDeniedHttpException', 'Forbidden'],
  404: ['NotFoundHttpException', 'Not Found'],
  405: ['MethodNotAllowedHttpException', 'Method Not Allowed'],
  409: ['ServerStateConflictException', 'Conflict'],
  429: ['ThrottleRequestsException', 'Too Many Requests'],
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
  429: 'Too Many Attempts.',
  500: 'An unexpected error was encountered while processing this request, please try again.',
  503: 'Service Unavailable',
  504: 'Could not establish a connection to the machine running this server. Please try again.',
};

const NOT_INSTALLED = 'This server has not yet completed its installation process, please try again later.';

/** The panel's message for each state in which it responds with 409. */
export const CONFLICT_DETAILS: Readonly<Record<Exclude<Conflict, 'reinstall_failed'>, string>> = {
  suspended: 'This server is currently suspended and the functionality requested is unavailable.',
  installing: NOT_INSTALLED,
  install_failed: NOT_INSTALLED,
  restoring_backup: 'This server is currently restoring from a backup, please try again later.',
  transferring: 'This server is currently being transferred to a new machine, please try again later.',
  maintenance:
    'The node of this server is currently under maintenance and the functionality requested is unavailable.',
};

export function refusal(status: number, detail?: string, code?: string): SimulatedRefusal {
  const label = STATUS_NAMES[status]?.[1] ?? 'Error';
  return {
    status,
    code: code ?? STATUS_NAMES[status]?.[0] ?? 'HttpException',
    detail: detail ?? DETAILS[status] ?? `${label}.`,
  };
}

/** The refusal in one of the formats of panels and the proxies in front of them. */
export function refusalAnswer(
  { status, code, detail }: SimulatedRefusal,
  shape: BodyShape = 'errors',
): SimulatedAnswer {
  const label = STATUS_NAMES[status]?.[1] ?? 'Error';
  if (shape === 'errors') return json(status, { errors: [{ code, status: String(status), detail }] });
  if (shape === 'texts') return json(status, { errors: [detail] });
  if (shape === 'message') return json(status, { error: label, message: detail });
  const title = `${status} ${label}`;
  return {
    status,
    headers: { 'content-type': 'text/html' },
    body: `<html>\r\n<head><title>${title}</title></head>\r\n<body>\r\n<center><h1>${title}</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n`,
  };
}

/** The response of an endpoint with a refusal in the format of Pterodactyl. */
export async function refuse(status: number, detail?: string, code?: string): Promise<SimulatedAnswer> {
  return refusalAnswer(refusal(status, detail, code));
}

/** A refusal in the format of Calagopus. */
export function textsRefusal(status: number, text: string): SimulatedAnswer {
  return json(status, { errors: [text] });
}

export function json(status: number, body: object): SimulatedAnswer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

/** The state of a server in a resources response; `missing` if its node is unreachable. */
export type ResourceState = 'offline' | 'starting' | 'running' | 'stopping' | 'missing';

/** The body of a resources response. */
export function resourcesDocument(state: ResourceState, usage: GameUsage, suspended: boolean): object {
  return {
    object: 'stats',
    attributes: {
      current_state: state,
      is_suspended: suspended,
      resources: {
        memory_bytes: usage.memoryBytes,
        cpu_absolute: usage.cpuAbsolute,
        disk_bytes: usage.diskBytes,
        network_rx_bytes: usage.rxBytes,
        network_tx_bytes: usage.txBytes,
        uptime: usage.uptimeMs,
      },
    },
  };
}

/** One page of a list with its pagination. `page` starts at 1. */
export function pageDocument<Item>(
  items: readonly Item[],
  page: number,
  perPage: number,
  document: (item: Item) => object,
  meta: object = {},
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
      ...meta,
    },
  };
}
