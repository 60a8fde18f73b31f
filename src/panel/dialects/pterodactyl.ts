import type { ApiEndpoint } from '../../domain/telemetry.ts';
import type { PanelRequest, Requested } from '../dialect.ts';
import {
  BACKUPS_PER_PAGE,
  decodeAccount,
  decodeBackupsPage,
  decodeListingPage,
  decodeNodesPage,
  decodeSchedules,
  NODES_PER_PAGE,
} from './pterodactyl/responses.ts';
import { decodeCredentials, PTERODACTYL_SOCKET } from './pterodactyl/socket.ts';
import { decodeResources } from './pterodactyl/stats.ts';

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
