import { API_KEY_PREFIXES, isApplicationKey } from '../../domain/api-keys.ts';
import { printable } from '../../domain/printable.ts';
import type { ErrorBody, ListingPage, ListingQuery, PanelDialect, PanelRequest } from '../dialect.ts';
import {
  asFields,
  asText,
  decodeAccount,
  decodeBackupsPage,
  decodeCredentials,
  decodeListingPage,
  decodeResources,
} from './pterodactyl/decode.ts';
import { PTERODACTYL_SOCKET } from './pterodactyl/socket.ts';

/** The client API and the console socket of Pterodactyl, shared by Pelican and compatible panels. */
export const PTERODACTYL: PanelDialect = {
  apiKeys: { client: API_KEY_PREFIXES.client.map((prefix) => `${prefix}…`).join(' or '), isApplicationKey },
  credentials: (server) => ({ path: `${serverPath(server)}/websocket`, decode: decodeCredentials }),
  resources: (server) => ({ path: `${serverPath(server)}/resources`, decode: decodeResources }),
  listing,
  account: () => ({ path: '/api/client/account', decode: decodeAccount }),
  backups: (server, page) => ({
    path: `${serverPath(server)}/backups?page=${page}&per_page=${BACKUPS_PER_PAGE}`,
    decode: decodeBackupsPage,
  }),
  decodeErrorBody,
  socket: PTERODACTYL_SOCKET,
};

/** The most backups that panels return on one page. */
const BACKUPS_PER_PAGE = 50;

/** Dots are encoded too, so that an id can't escape its place in the path. */
function serverPath(server: string): string {
  return `/api/client/servers/${encodeURIComponent(server).replaceAll('.', '%2E')}`;
}

function listing({ page, perPage, type }: ListingQuery): PanelRequest<ListingPage> {
  const query = new URLSearchParams({ page: String(page), per_page: String(perPage), include: 'egg' });
  if (type !== undefined) query.set('type', type);
  return { path: `/api/client?${query.toString()}`, decode: (body) => decodeListingPage(body, perPage) };
}

/** A page's title is near its start; the rest isn't scanned. */
const MAX_SCANNED = 4_096;

/** The message of an error answer, in any form seen in the field. Never throws. */
function decodeErrorBody(text: string, contentType: string, panel: string): ErrorBody {
  const { detail: words, ...body } = errorBody(text, contentType);
  const detail = words === undefined ? '' : printable(words, panel);
  return detail === '' ? body : { ...body, detail };
}

/** The same with the message as it is. */
function errorBody(text: string, contentType: string): ErrorBody {
  const body = asFields(parseJson(text));
  if (body !== undefined) return decodeJson(body);
  const isPage = /html/i.test(contentType) || /^\s*</.test(text);
  return bodyOf('foreign', isPage ? pageTitle(text) : text);
}

function decodeJson(body: Readonly<Record<string, unknown>>): ErrorBody {
  if (Array.isArray(body['errors'])) {
    const first = asFields(body['errors'][0]);
    const code = asText(first?.['code']);
    return {
      ...bodyOf('envelope', asText(first?.['detail']) ?? code),
      ...(code !== undefined && { code, fromNode: FROM_NODE.test(code) }),
    };
  }
  const words = asText(body['message']) ?? asText(body['error']);
  return bodyOf(words === undefined ? 'foreign' : 'message', words);
}

/**
 * Classes of panel errors that pass on a node's answer, or report that there was none: Pterodactyl's DaemonConnectionException,
 * which carries the node's own status, and those of the HTTP clients of both panels.
 */
const FROM_NODE =
  /^(?:Daemon)?Connect(?:ion)?Exception$|^(?:Guzzle|Request|Transfer|BadResponse|Client|Server)Exception$/;

function bodyOf(form: ErrorBody['form'], detail: string | undefined): ErrorBody {
  return detail === undefined ? { form } : { form, detail };
}

// Bounded repeats keep the cost of a hostile page proportional to its length.
function pageTitle(page: string): string | undefined {
  return /<title[^>]{0,100}>([^<]{0,400})/i.exec(page.slice(0, MAX_SCANNED))?.[1];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
