import { hasPrefix, printable } from '../../domain/secrets.ts';
import type { ApiEndpoint } from '../../domain/telemetry.ts';
import type { ErrorBody, PanelRequest, Requested } from '../dialect.ts';
import {
  BACKUPS_PER_PAGE,
  decodeBackupsPage,
  decodeNodesPage,
  decodeSchedules,
  NODES_PER_PAGE,
} from './pterodactyl/lists.ts';
import {
  asFields,
  asText,
  decodeAccount,
  decodeCredentials,
  decodeListingPage,
  decodeResources,
  type Fields,
  parseJson,
} from './pterodactyl/responses.ts';
import { PTERODACTYL_SOCKET } from './pterodactyl/socket.ts';

/** The client API and the console socket of Pterodactyl, shared by Pelican, Hydrodactyl and compatible panels; pages count from 1. */
export const PTERODACTYL = {
  requests: {
    websocket: (what: Requested) => ({ path: `${serverPath(what)}/websocket`, decode: decodeCredentials }),
    resources: ({ id }: Requested) => ({ path: `${serverPath({ id })}/resources`, decode: decodeResources }),
    listing: ({ page = 1, perPage = 1, type }: Requested) => {
      const query = new URLSearchParams({ page: String(page), per_page: String(perPage), include: 'egg' });
      if (type !== undefined) query.set('type', type);
      const decode = (body: unknown) => decodeListingPage(body, perPage);
      return { path: `/api/client?${query.toString()}`, decode };
    },
    account: () => ({ path: '/api/client/account', decode: decodeAccount }),
    backups: ({ page = 1, ...what }: Requested) => ({
      path: `${serverPath(what)}/backups?page=${page}&per_page=${BACKUPS_PER_PAGE}`,
      decode: decodeBackupsPage,
    }),
    /** Panels don't page them. */
    schedules: (what: Requested) => ({ path: `${serverPath(what)}/schedules`, decode: decodeSchedules }),
    /** Needs a key that may read the application API. */
    nodes: ({ page = 1 }: Requested) => ({
      path: `/api/application/nodes?page=${page}&per_page=${NODES_PER_PAGE}`,
      decode: decodeNodesPage,
    }),
  } satisfies Record<ApiEndpoint, (what: Requested) => PanelRequest<unknown>>,
  socket: PTERODACTYL_SOCKET,
};

/**
 * Where a server's endpoints are. Hydrodactyl has those that depend on the daemon below its name (routes/api-client.php).
 * Dots are encoded too, so that an id can't escape its place in the path.
 */
function serverPath({ id = '', daemon }: Requested): string {
  const place = daemon === undefined ? '' : `/${daemon}`;
  return `/api/client/servers${place}/${encodeURIComponent(id).replaceAll('.', '%2E')}`;
}

/** What Hydrodactyl responds to a path without a daemon, for which it has no route, or with another than the server's (CheckDaemonType). */
const OTHER_DAEMON =
  /^The route api\/client\/servers\/[^/]+\/(?:websocket|backups|schedules) could not be found|requires daemon type '\w+'/;

/** A page's title is near its start; the rest isn't scanned. */
const MAX_SCANNED = 4_096;

/** Decodes the body of an error response in any form seen in the field. Never throws. */
export function decodeErrorBody(text: string, contentType: string, apiKey = ''): ErrorBody {
  const { detail: words = '', ...body } = errorBody(text, contentType);
  const ofKey = hasPrefix(apiKey, 'calagopus') && { isUnsupported: true };
  return { ...body, ...ofKey, detail: printable(words) || undefined };
}

/** The same with the message as it is, and without a look at the key. */
function errorBody(text: string, contentType: string): ErrorBody {
  const body = asFields(parseJson(text));
  if (body !== undefined) return decodeJson(body);
  const isPage = /html/i.test(contentType) || /^\s*</.test(text);
  return { form: 'foreign', detail: isPage ? pageTitle(text) : text };
}

/**
 * Panels respond with their list of errors, or as in the contract with `error` and `message`. Bot checks and gateways respond with
 * JSON as well, but with a `message` alone, or another list of errors.
 */
function decodeJson(body: Fields): ErrorBody {
  const errors: readonly unknown[] = Array.isArray(body['errors']) ? body['errors'] : [];
  const first = asFields(errors[0]);
  const code = asText(first?.['code']);
  const detail = asText(first?.['detail']);
  if (code !== undefined || detail !== undefined) {
    const fromNode = code === FROM_NODE ? nodeAnswer(detail) : undefined;
    return {
      form: 'envelope',
      detail: detail ?? code,
      code,
      fromNode,
      needsDaemon: OTHER_DAEMON.test(detail ?? '') || undefined,
    };
  }
  if (isOfCalagopus(body)) return { form: 'foreign', detail: asText(errors[0]), isUnsupported: true };
  const isFlat = asText(body['error']) !== undefined && asText(body['message']) !== undefined;
  const words = messageIn(body) ?? messageIn(asFields(body['error'])) ?? messageIn(first);
  return { form: isFlat ? 'message' : 'foreign', detail: words };
}

/**
 * Whether the body is in the shape of a Calagopus panel, which isn't supported: errors are plain texts, and responses have no `attributes`
 * (shared/src/response.rs and backend/src/routes/api/client).
 */
function isOfCalagopus({ errors, servers, user, resources, token, url }: Fields): boolean {
  if (Array.isArray(errors)) return errors.length > 0 && errors.every((words) => asText(words) !== undefined);
  return (
    [servers, user, resources].some((part) => asFields(part) !== undefined) ||
    (asText(token) !== undefined && asText(url) !== undefined)
  );
}

/**
 * The class of the error with which a panel passes on a node's response, or reports that there was none (Pterodactyl,
 * app/Exceptions/Http/Connection). Other classes with similar names concern the panel's own database and cache.
 */
const FROM_NODE = 'DaemonConnectionException';

function nodeAnswer(detail = ''): ErrorBody['fromNode'] {
  const [, status] = /\(code: (\d{3})\)/.exec(detail) ?? [];
  return status === undefined ? {} : { status: Number(status) };
}

/** The fields in which panels, gateways and firewalls put their message. */
const MESSAGE_FIELDS = ['message', 'detail', 'title', 'error'] as const;

function messageIn(fields: Fields = {}): string | undefined {
  return MESSAGE_FIELDS.map((key) => asText(fields[key])).find((words) => words !== undefined);
}

// Bounded repeats keep the cost of a hostile page proportional to its length. A title that is cut off may end within a secret.
function pageTitle(page: string): string | undefined {
  return /<title[^>]{0,100}>([^<]{0,400})</i.exec(page.slice(0, MAX_SCANNED))?.[1];
}
