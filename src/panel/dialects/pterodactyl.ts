import { API_KEY_PREFIXES, hasPrefix, isApplicationKey } from '../../domain/api-keys.ts';
import { printable } from '../../domain/printable.ts';
import type {
  ErrorBody,
  ListingPage,
  ListingQuery,
  NodeAnswer,
  PanelDialect,
  PanelRequest,
} from '../dialect.ts';
import { isCalagopusAnswer } from './calagopus.ts';
import { asFields, asText, type Fields } from './pterodactyl/fields.ts';
import { DAEMONS, decodeListingPage } from './pterodactyl/listing.ts';
import { refusalCause } from './pterodactyl/refusals.ts';
import {
  BACKUPS_PER_PAGE,
  decodeAccount,
  decodeBackupsPage,
  decodeCredentials,
  decodeNodesPage,
  decodeSchedules,
  NODES_PER_PAGE,
} from './pterodactyl/responses.ts';
import { decodeResources } from './pterodactyl/samples.ts';
import { PTERODACTYL_SOCKET } from './pterodactyl/socket.ts';

const { client, either } = API_KEY_PREFIXES;

/** The client API and the console socket of Pterodactyl, shared by Pelican, Hydrodactyl and compatible panels. */
export const PTERODACTYL: PanelDialect = {
  apiKeys: {
    client: [...client, ...either].map((prefix) => `${prefix}…`).join(' or '),
    isApplicationKey,
    isOwn: (key) => !hasPrefix(key, 'calagopus'),
  },
  credentials: (server, daemon) => ({
    path: `${serverPath(server, daemon)}/websocket`,
    decode: decodeCredentials,
  }),
  resources: (server) => ({ path: `${serverPath(server)}/resources`, decode: decodeResources }),
  listing,
  account: () => ({ path: '/api/client/account', decode: decodeAccount }),
  backups: (server, page, daemon) => ({
    path: `${serverPath(server, daemon)}/backups?page=${page}&per_page=${BACKUPS_PER_PAGE}`,
    decode: decodeBackupsPage,
  }),
  schedules: (server, daemon) => ({
    path: `${serverPath(server, daemon)}/schedules`,
    decode: decodeSchedules,
  }),
  nodes: (page) => ({
    path: `/api/application/nodes?page=${page}&per_page=${NODES_PER_PAGE}`,
    decode: decodeNodesPage,
  }),
  decodeErrorBody,
  refusalCause,
  socket: PTERODACTYL_SOCKET,
};

/**
 * Where a server's endpoints are. Hydrodactyl has those that depend on the daemon below its name (routes/api-client.php).
 * Dots are encoded too, so that an id can't escape its place in the path.
 */
function serverPath(server: string, daemon?: string): string {
  const place = daemon === undefined ? '' : `/${daemon}`;
  return `/api/client/servers${place}/${encodeURIComponent(server).replaceAll('.', '%2E')}`;
}

/** What Hydrodactyl responds to a path without a daemon: it has no such route, so any daemon is tried first. */
const NO_ROUTE =
  /^The route api\/client\/servers\/[^/]+\/(?:websocket|backups|schedules) could not be found\.?$/;
/** The same for a path with another daemon (CheckDaemonType). */
const OTHER_DAEMON = /requires daemon type '\w+', but server is using '(\w+)'/;

/** The daemon below whose name the panel has the path that it refused. */
function daemonIn(detail = ''): string | undefined {
  if (NO_ROUTE.test(detail)) return DAEMONS[0];
  const named = OTHER_DAEMON.exec(detail)?.[1];
  return DAEMONS.find((daemon) => daemon === named);
}

function listing({ page, perPage, type }: ListingQuery): PanelRequest<ListingPage> {
  const query = new URLSearchParams({ page: String(page), per_page: String(perPage), include: 'egg' });
  if (type !== undefined) query.set('type', type);
  return {
    path: `/api/client?${query.toString()}`,
    decode: (body) => decodeListingPage(body, perPage),
  };
}

/** A page's title is near its start; the rest isn't scanned. */
const MAX_SCANNED = 4_096;

/** The message of an error response, in any form seen in the field. Never throws. */
function decodeErrorBody(text: string, contentType: string): ErrorBody {
  const { detail: words, ...body } = errorBody(text, contentType);
  const detail = words === undefined ? '' : printable(words);
  return detail === '' ? body : { ...body, detail };
}

/** The same with the message as it is. */
function errorBody(text: string, contentType: string): ErrorBody {
  const body = asFields(parseJson(text));
  if (body !== undefined) return decodeJson(body);
  const isPage = /html/i.test(contentType) || /^\s*</.test(text);
  return bodyOf('foreign', isPage ? pageTitle(text) : text);
}

/**
 * Panels respond with their list of errors, or as in the contract with `error` and `message`. Bot checks and gateways respond with
 * JSON as well, but with a `message` alone, or another list of errors.
 */
function decodeJson(body: Fields): ErrorBody {
  const [first] = Array.isArray(body['errors']) ? body['errors'].map(asFields) : [];
  const code = asText(first?.['code']);
  const detail = asText(first?.['detail']);
  const daemon = daemonIn(detail);
  if (code !== undefined || detail !== undefined) {
    return {
      ...bodyOf('envelope', detail ?? code),
      code,
      fromNode: code === FROM_NODE ? nodeAnswer(detail) : undefined,
      daemon,
    };
  }
  if (isCalagopusAnswer(body)) {
    const [words] = Array.isArray(body['errors']) ? body['errors'] : [];
    return { ...bodyOf('foreign', asText(words)), isUnsupported: true };
  }
  const isFlat = asText(body['error']) !== undefined && asText(body['message']) !== undefined;
  return bodyOf(
    isFlat ? 'message' : 'foreign',
    messageIn(body) ?? messageIn(asFields(body['error'])) ?? messageIn(first),
  );
}

/**
 * The class of the error with which a panel passes on a node's response, or reports that there was none (Pterodactyl,
 * app/Exceptions/Http/Connection). Other classes with similar names concern the panel's own database and cache.
 */
const FROM_NODE = 'DaemonConnectionException';

function nodeAnswer(detail = ''): NodeAnswer {
  const [, status] = /\(code: (\d{3})\)/.exec(detail) ?? [];
  return status === undefined ? {} : { status: Number(status) };
}

/** The fields in which panels, gateways and firewalls put their message. */
const MESSAGE_FIELDS = ['message', 'detail', 'title', 'error'] as const;

function messageIn(fields: Fields = {}): string | undefined {
  return MESSAGE_FIELDS.map((key) => asText(fields[key])).find((words) => words !== undefined);
}

function bodyOf(form: ErrorBody['form'], detail: string | undefined): ErrorBody {
  return detail === undefined ? { form } : { form, detail };
}

// Bounded repeats keep the cost of a hostile page proportional to its length. A title that is cut off may end within a secret.
function pageTitle(page: string): string | undefined {
  return /<title[^>]{0,100}>([^<]{0,400})</i.exec(page.slice(0, MAX_SCANNED))?.[1];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
