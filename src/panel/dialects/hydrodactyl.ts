/** Hydrodactyl's dialect: Pterodactyl's, with the server's daemon in most paths. */
import type { Dialect, ErrorBody } from '../dialect.ts';
import type { RequestArguments } from '../requests.ts';
import { HYDRODACTYL_FACTS } from './facts.ts';
import { PTERODACTYL, requestsBelow } from './pterodactyl.ts';
import { asFields, asText, pathPart, valueIn } from './wire.ts';

/** The path of a server's endpoints (routes/api-client.php). */
function serverPath({ id = '', daemon }: RequestArguments): string {
  const place = daemon === undefined ? '' : `/${daemon}`;
  return `/api/client/servers${place}/${pathPart(id)}`;
}

/**
 * The response to a path without a daemon, which has no route, or with another daemon than the
 * server's (CheckDaemonType).
 */
const OTHER_DAEMON =
  /^The route api\/client\/servers\/[^/]+\/(?:websocket|backups|schedules) could not be found|requires daemon type '\w+'/;

const needsDaemon = ({ detail = '' }: Pick<ErrorBody, 'detail'>) => OTHER_DAEMON.test(detail);

export const HYDRODACTYL: Dialect = {
  ...PTERODACTYL,
  ...HYDRODACTYL_FACTS,
  extends: PTERODACTYL,
  requests: requestsBelow(serverPath),
  refusals: {
    ...PTERODACTYL.refusals,
    cause: (refusal) => (needsDaemon(refusal) ? 'daemon_unknown' : PTERODACTYL.refusals.cause(refusal)),
  },
  recognizes: ({ status, body }) => {
    const [first] = listIn(body, status < 400 ? 'data' : 'errors');
    return status < 400
      ? asText(valueIn(first, 'attributes', 'daemon_type')) !== undefined
      : needsDaemon({ detail: asText(asFields(first)?.['detail']) });
  },
};

function listIn(body: unknown, key: string): readonly unknown[] {
  const list = asFields(body)?.[key];
  return Array.isArray(list) ? list : [];
}
