import { type Context, Hono } from 'hono';
import type { Clock } from '../domain/clock.ts';
import { CHART_SERIES, type ChartSeries, type FleetReading } from '../domain/reading.ts';
import { encodeChunks } from '../metrics/exposition.ts';
import { renderBody, SharedBody } from '../metrics/shared-body.ts';
import { type Asset, loadAssets } from '../status-page/assets.ts';
import type { StatusBoard } from '../status-page/data/board.ts';
import { healthOf, serversWithId } from '../status-page/data/health.ts';
import { isDiscoveryPending, targetGroups } from '../status-page/data/service-discovery.ts';
import type { HeldBodies, RouteEnv } from './bodies.ts';
import { clientOf } from './client-address.ts';

/** Paths served by these routes, apart from those that only the page uses. */
export const STATUS_PATHS = [
  '/api/v1/servers',
  '/api/v1/servers/:id/health',
  '/api/v1/sd',
  '/api/v1/history',
] as const;

/** The page's stream of changes, which may change in any version. */
export const STREAM_PATH = '/api/v1/stream';

/** The maximum number of histories per request: more than the rows of any screen. */
const MAX_HISTORIES = 100;

/** What these routes serve, and the bodies that they hold until they are read. */
interface StatusRoutes {
  readonly board: StatusBoard;
  readonly fleet: FleetReading;
  readonly clock: Clock;
  readonly bodies: HeldBodies;
}

/** The status page's own paths (its files, the JSON view, histories, and the stream of changes), and service discovery. */
export function createStatusRoutes({ board, fleet, clock, bodies }: StatusRoutes): Hono<RouteEnv> {
  const app = new Hono<RouteEnv>();
  const servers = new SharedBody(clock, (encoding) => renderBody(encodeChunks(board.json()), encoding));
  const targets = new SharedBody(clock, (encoding) =>
    renderBody(encodeChunks(targetGroups(fleet)), encoding),
  );
  let assets: Promise<ReadonlyMap<string, Asset>> | undefined;

  app.get('/assets/*', async (c) => {
    assets ??= loadAssets();
    const asset = (await assets).get(c.req.path.slice('/assets/'.length));
    if (asset === undefined) return c.notFound();
    const headers = { 'Content-Type': asset.type, 'Cache-Control': 'no-cache', ETag: asset.etag };
    if (c.req.header('If-None-Match')?.includes(asset.etag)) {
      return c.body(null, 304, { ...headers, Vary: 'Accept-Encoding' });
    }
    return bodies.respond(c, headers, async (encoding) => asset.bodies[encoding]);
  });
  app.get('/api/v1/servers', (c) =>
    bodies.respond(c, { 'Content-Type': 'application/json; charset=utf-8' }, (encoding) =>
      servers.get(encoding),
    ),
  );
  app.get('/api/v1/servers/:id/health', (c) => health(c, fleet, clock));
  app.get('/api/v1/sd', (c) =>
    isDiscoveryPending(fleet)
      ? listingAwaited(c)
      : bodies.respond(c, { 'Content-Type': 'application/json' }, (encoding) => targets.get(encoding)),
  );
  app.get('/api/v1/history', (c) => history(c, board, bodies));
  app.get(STREAM_PATH, (c) => stream(c, board, bodies));
  return app;
}

// After an error Prometheus keeps its targets; a list without the servers of a panel would end their series.
function listingAwaited(c: Context): Response {
  return c.text("Not ready yet: the panels' server lists have not been read.\n", 503, {
    'Retry-After': '10',
  });
}

function health(c: Context<RouteEnv>, fleet: FleetReading, clock: Clock): Response {
  const id = c.req.param('id') ?? '';
  const found = serversWithId(fleet, id, c.req.query('panel'));
  const [server, another] = found;
  if (server === undefined) {
    return c.json({ error: 'no such server: use the server_id or uuid of /api/v1/servers' }, 404);
  }
  if (another !== undefined) {
    const panels = found.map(({ target }) => target.panel);
    return c.json(
      { error: `several panels have this server: add ?panel= with one of ${panels.join(', ')}` },
      400,
    );
  }
  const answer = healthOf(server.snapshot(clock.now(), clock));
  return c.json(answer, answer.healthy ? 200 : 503);
}

async function history(c: Context<RouteEnv>, board: StatusBoard, bodies: HeldBodies): Promise<Response> {
  const keys = c.req.queries('server') ?? [];
  const series = c.req.queries('series') ?? CHART_SERIES;
  if (keys.length === 0 || keys.length > MAX_HISTORIES || !series.every(isSeries)) {
    const error =
      `expected 1 to ${MAX_HISTORIES} parameters server=<panel>/<server_id>, ` +
      `and any of series=${CHART_SERIES.join('|')}`;
    return c.json({ error }, 400);
  }
  const histories = keys.map((key) => board.history(key, series)).filter((found) => found !== undefined);
  const text = JSON.stringify({ servers: histories });
  return bodies.respond(c, { 'Content-Type': 'application/json' }, (encoding) =>
    renderBody(encodeChunks([text]), encoding),
  );
}

function isSeries(name: string): name is ChartSeries {
  return (CHART_SERIES as readonly string[]).includes(name);
}

function stream(c: Context<RouteEnv>, board: StatusBoard, bodies: HeldBodies): Response {
  // The second header tells proxies such as nginx not to buffer.
  const headers = { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' };
  if (c.req.method === 'HEAD') return c.body(null, 200, headers);
  const { outgoing } = c.env;
  const cut = () => void outgoing?.destroy();
  const events = board.watch({
    client: clientOf(outgoing?.socket?.remoteAddress),
    cut,
    hold: (event) => bodies.hold(event, cut),
  });
  if (events === undefined) return c.text('Shutting down.\n', 503, { 'Retry-After': '10' });
  return c.body(events, 200, headers);
}
