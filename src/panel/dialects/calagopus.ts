/**
 * Calagopus' dialect. The facts are from calagopus/panel and calagopus/wings; the decoders name the
 * files.
 */
import type { Dialect } from '../dialect.ts';
import type { RequestArguments } from '../requests.ts';
import { isOwnBody, readRefusal, refusalCause } from './calagopus/refusals.ts';
import {
  decodeAccount,
  decodeBackupsPage,
  decodeCredentials,
  decodeListingPage,
  decodeNodesPage,
  decodeResources,
  decodeResourcesOfNode,
  decodeSchedules,
} from './calagopus/response-decoders.ts';
import { CALAGOPUS_SOCKET } from './calagopus/socket-refusals.ts';
import { CALAGOPUS_FACTS } from './facts.ts';
import { pathPart } from './wire.ts';

/** The panel's maximum page size (shared/src/models/mod.rs). */
const PER_PAGE = 100;

const SERVERS = '/api/client/servers';

const serverPath = ({ id = '' }: RequestArguments) => `${SERVERS}/${pathPart(id)}`;

/**
 * The limit of an unmodified installation: 360 calls in 30 s (shared/src/settings/ratelimits.rs).
 */
const RATE = { calls: 360, windowMs: 30_000 };

/**
 * With Redis, a call in the last 2 s of a window extends the panel's count by another window
 * (shared/src/cache.rs). Because the panel's clock counts whole seconds, and a call takes time to
 * arrive, no call is made from 26 s to 31 s after the first one of a window.
 */
const QUIET_PERIOD = { fromMs: 26_000, untilMs: 31_000 };

export const CALAGOPUS: Dialect = {
  ...CALAGOPUS_FACTS,
  requests: {
    websocket: (what) => ({ path: `${serverPath(what)}/websocket`, decode: decodeCredentials }),
    resources: (what) => ({ path: `${serverPath(what)}/resources`, decode: decodeResources }),
    /**
     * For `admin-all`, odd pages list the account's own servers, and even pages list those of other
     * users. No list of the panel contains both.
     */
    listing: ({ page = 1, perPage = 1, type }) => {
      const isAll = type === 'admin-all';
      const isOther = type === 'admin' || (isAll && page % 2 === 0);
      const query = new URLSearchParams({
        page: String(isAll ? Math.ceil(page / 2) : page),
        per_page: String(perPage),
      });
      if (isOther) query.set('other', 'true');
      const decode = (body: unknown) => {
        const { totalPages, ...rest } = decodeListingPage(body, perPage);
        return { ...rest, totalPages: isAll ? totalPages * 2 : totalPages };
      };
      return { path: `${SERVERS}?${query.toString()}`, decode };
    },
    account: () => ({ path: '/api/client/account', decode: decodeAccount }),
    backups: ({ page = 1, ...what }) => ({
      path: `${serverPath(what)}/backups?page=${page}&per_page=${PER_PAGE}`,
      decode: (body) => decodeBackupsPage(body, PER_PAGE),
    }),
    /** Only the first page, because an egg allows far fewer schedules than its 100 entries. */
    schedules: (what) => ({
      path: `${serverPath(what)}/schedules?page=1&per_page=${PER_PAGE}`,
      decode: (body) => decodeSchedules(body, PER_PAGE),
    }),
    /** Requires an administrator's key with the permission `nodes.read`. */
    nodes: ({ page = 1 }) => ({
      path: `/api/admin/nodes?page=${page}&per_page=${PER_PAGE}`,
      decode: (body) => decodeNodesPage(body, PER_PAGE),
    }),
  },
  resourcesOfNode: (nodeId) => ({
    path: `${SERVERS}/nodes/${pathPart(nodeId)}/resources`,
    decode: decodeResourcesOfNode,
  }),
  socket: CALAGOPUS_SOCKET,
  refusals: { read: readRefusal, cause: refusalCause },
  rate: {
    scope: 'address',
    windowMs: RATE.windowMs,
    quiet: QUIET_PERIOD,
    defaultPerMinute: (RATE.calls * 60_000) / RATE.windowMs,
  },
  recognizes: ({ body }) => isOwnBody(body),
};
