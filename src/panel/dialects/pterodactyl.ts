/** Pterodactyl's dialect, which Pelican and compatible panels also have. */
import type { Dialect } from '../dialect.ts';
import type { RequestArguments, Requests } from '../requests.ts';
import { PTERODACTYL_FACTS } from './facts.ts';
import { decodeCredentials } from './pterodactyl/credentials.ts';
import { decodeErrorBody, refusalCause } from './pterodactyl/refusals.ts';
import {
  BACKUPS_PER_PAGE,
  decodeAccount,
  decodeBackupsPage,
  decodeListingPage,
  decodeNodesPage,
  decodeSchedules,
  NODES_PER_PAGE,
} from './pterodactyl/response-decoders.ts';
import { PTERODACTYL_SOCKET } from './pterodactyl/socket-messages.ts';
import { decodeResources } from './pterodactyl/stats.ts';
import { asFields, asText, pathPart } from './wire.ts';

/** The requests, where those about a server are below its path. Pages count from 1. */
export function requestsBelow(serverPath: (what: RequestArguments) => string): Requests {
  return {
    websocket: (what) => ({ path: `${serverPath(what)}/websocket`, decode: decodeCredentials }),
    // On no panel of the family does this path contain the daemon.
    resources: ({ id }) => ({ path: `${serverPath({ id })}/resources`, decode: decodeResources }),
    listing: ({ page = 1, perPage = 1, type }) => {
      const query = new URLSearchParams({ page: String(page), per_page: String(perPage), include: 'egg' });
      if (type !== undefined) query.set('type', type);
      const decode = (body: unknown) => decodeListingPage(body, perPage);
      return { path: `/api/client?${query.toString()}`, decode };
    },
    account: () => ({ path: '/api/client/account', decode: decodeAccount }),
    backups: ({ page = 1, ...what }) => ({
      path: `${serverPath(what)}/backups?page=${page}&per_page=${BACKUPS_PER_PAGE}`,
      decode: decodeBackupsPage,
    }),
    /** Panels return all schedules on one page. */
    schedules: (what) => ({ path: `${serverPath(what)}/schedules`, decode: decodeSchedules }),
    /** Requires a key that may read the application API. */
    nodes: ({ page = 1 }) => ({
      path: `/api/application/nodes?page=${page}&per_page=${NODES_PER_PAGE}`,
      decode: decodeNodesPage,
    }),
  };
}

export const PTERODACTYL: Dialect = {
  ...PTERODACTYL_FACTS,
  requests: requestsBelow(({ id = '' }) => `/api/client/servers/${pathPart(id)}`),
  socket: PTERODACTYL_SOCKET,
  refusals: { read: decodeErrorBody, cause: refusalCause },
  rate: { scope: 'account', windowMs: 60_000 },
  recognizes: ({ status, body }) => {
    const fields = asFields(body);
    if (status < 400) return asText(fields?.['object']) !== undefined;
    const errors = fields?.['errors'];
    const [first]: readonly unknown[] = Array.isArray(errors) ? errors : [];
    return asText(asFields(first)?.['code']) !== undefined;
  },
};
