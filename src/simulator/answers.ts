import type { BodyShape, Conflict } from './schema.ts';

/** An HTTP answer in full. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** An error that the panel answers with, before it has a shape. */
export interface Refusal {
  readonly status: number;
  /** Class name in the `errors` envelope. */
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

/** What the panel says for each state that it answers 409 for. */
export const CONFLICT_DETAILS: Readonly<Record<Conflict, string>> = {
  suspended: 'This server is currently suspended and cannot be used.',
  installing: 'This server has not yet completed its installation process.',
  install_failed: 'This server has failed its installation process and cannot be used.',
  reinstall_failed: 'This server has failed its last installation process and cannot be used.',
  restoring_backup: 'This server is currently restoring from a backup.',
  transferring: 'This server is currently being transferred to a new machine.',
  maintenance: 'The node of this server is currently under maintenance.',
};

export function refusal(status: number, detail?: string): Refusal {
  const label = STATUS_NAMES[status]?.[1] ?? 'Error';
  return {
    status,
    code: STATUS_NAMES[status]?.[0] ?? 'HttpException',
    detail: detail ?? DETAILS[status] ?? `${label}.`,
  };
}

/** The refusal in one of the shapes that panels and the proxies before them use. */
export function refusalAnswer({ status, code, detail }: Refusal, shape: BodyShape): Answer {
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

export function json(status: number, body: object): Answer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}
