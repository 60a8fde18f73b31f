// The routes of the HTTP server.
import { type Context, Hono } from 'hono';
import { etag } from 'hono/etag';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { secureHeaders } from 'hono/secure-headers';
import type { Clock } from '../domain/clock.ts';
import { INTERNAL_ERRORS } from '../domain/internal-errors.ts';
import type { FleetReading } from '../domain/reading.ts';
import { CHART_SERIES, type ChartSeries } from '../domain/recent-history.ts';
import { giveWay } from '../metrics/event-loop-slices.ts';
import { CONTENT_TYPE } from '../metrics/exposition.ts';
import type { Render } from '../metrics/rendered-body.ts';
import { type Asset, compressAsset, loadAssets } from '../status-page/assets.ts';
import type { StatusBoard } from '../status-page/data/board.ts';
import { checkHealth, serversWithId } from '../status-page/data/server-health.ts';
import { isDiscoveryPending } from '../status-page/data/service-discovery.ts';
import { PAGE_POLICY, pageText } from '../status-page/page-document.ts';
import { identifyClient } from './connections.ts';
import { HELD_BYTES, HeldBodies, type RouteEnv } from './held-bodies.ts';
import { isFromAnotherSite, isReloadHost } from './request-origin.ts';

/**
 * The result of a reload: one line that summarizes the changes, or the problems, one per line and
 * without secrets. After a failure, nothing has changed.
 */
export type ReloadOutcome =
  | { readonly ok: true; readonly summary: string }
  | { readonly ok: false; readonly problems: string };

/** The parts of the exporter that the routes serve. */
export interface RouteDependencies {
  readonly scrape: Render;
  /** Whether the configuration is loaded. */
  readonly ready: () => boolean;
  readonly fleet: FleetReading;
  readonly clock: Clock;
  readonly version: string;
  /** This exporter's place among all shards, such as `1 of 3`; absent without sharding. */
  readonly shard?: string | undefined;
  /** Reloads the configuration; absent if that isn't enabled over HTTP. */
  readonly reload?: (() => Promise<ReloadOutcome>) | undefined;
  /**
   * Names of this machine, besides localhost and IP addresses, that a reload request may have as
   * its host.
   */
  readonly reloadHosts?: readonly string[];
  /** The data for the status page's script. */
  readonly board: StatusBoard;
  /** The limit on bytes of bodies held by readers; defaults to 128 MiB. */
  readonly heldBytes?: number;
}

/**
 * How long a response waits at most for a scrape. Without the wait, a client that requests without
 * a pause would take much of a scrape's time, even with small responses. A longer wait would make a
 * health check slow.
 */
const LONGEST_WAIT_MS = 20;

/** All routes. None of them changes a server. */
export function createRoutes(dependencies: RouteDependencies): Hono<RouteEnv> {
  const { scrape, ready, fleet, clock, version, shard, board, reload } = dependencies;
  const app = new Hono<RouteEnv>();
  const onMethodNotAllowed = (c: Context, methods: readonly string[]) =>
    c.text(`Method not allowed: use ${methods.join(' or ')}.\n`, 405, { Allow: methods.join(', ') });
  app.use(
    secureHeaders({
      contentSecurityPolicy: PAGE_POLICY,
      xFrameOptions: 'DENY',
      // The exporter has one port, and can't decide whether the whole host requires TLS.
      strictTransportSecurity: false,
    }),
    async (c, next) => {
      if (c.req.path !== '/metrics') await giveWay(LONGEST_WAIT_MS);
      await next();
      if (!c.res.headers.has('Cache-Control')) c.header('Cache-Control', 'no-store');
    },
    methodNotAllowed({ app, onMethodNotAllowed }),
  );

  const bodies = new HeldBodies(dependencies.heldBytes ?? HELD_BYTES);
  const page = compressAsset('text/html; charset=UTF-8', Buffer.from(pageText(version, shard)));
  app.get('/', async (c) => {
    const { type, bodies: rendered } = await page;
    return bodies.respond(c, { 'Content-Type': type }, async (encoding) => rendered[encoding]);
  });
  app.get('/metrics', (c) => bodies.respond(c, { 'Content-Type': CONTENT_TYPE }, scrape, 'scrape'));
  app.get('/-/healthy', (c) => c.text('Healthy.\n'));
  app.get('/-/ready', (c) => (ready() ? c.text('Ready.\n') : c.text('Not ready yet.\n', 503)));
  let assets: Promise<ReadonlyMap<string, Asset>> | undefined;

  app.use('/assets/*', etag());
  app.get('/assets/*', async (c) => {
    assets ??= loadAssets();
    const asset = (await assets).get(c.req.path.slice('/assets/'.length));
    if (asset === undefined) return c.notFound();
    const headers = { 'Content-Type': asset.type, 'Cache-Control': 'no-cache', ETag: asset.etag };
    return bodies.respond(c, headers, async (encoding) => asset.bodies[encoding]);
  });
  app.get('/api/v1/servers', (c) =>
    bodies.respond(c, { 'Content-Type': 'application/json; charset=utf-8' }, (encoding) =>
      board.servers(encoding),
    ),
  );
  app.get('/api/v1/servers/:id/health', (c) => health(c, fleet, clock));
  app.get('/api/v1/sd', async (c) =>
    // After an error, Prometheus keeps its targets. A list without one panel's servers would end
    // their series.
    isDiscoveryPending(fleet)
      ? c.text("Not ready yet: the panels' server lists have not been read.\n", 503, { 'Retry-After': '10' })
      : bodies.respond(c, { 'Content-Type': 'application/json' }, (encoding) => board.targets(encoding)),
  );
  app.get('/api/v1/history', (c) => history(c, board, bodies));
  app.get('/api/v1/stream', (c) => stream(c, board, bodies));

  app.on(['POST', 'PUT'], '/-/reload', async (c) => {
    const problem = reloadProblem(c, dependencies);
    if (reload === undefined || problem !== undefined) return c.text(`${problem}\n`, 403);
    const outcome = await reload();
    return outcome.ok ? c.text(`${outcome.summary}\n`) : c.text(`${outcome.problems}\n`, 500);
  });

  const paths = [...new Set(app.routes.map(({ path }) => path))].filter((path) => !path.includes('*'));
  app.notFound((c) => c.text(`Not found. Available paths: ${paths.join(' ')}\n`, 404));
  app.onError((error, c) => {
    INTERNAL_ERRORS.report(error);
    return c.text('Internal error: see the log.\n', 500);
  });
  return app;
}

/** Why a reload request is rejected; undefined if it is allowed. */
function reloadProblem(c: Context, { reload, reloadHosts = [] }: RouteDependencies): string | undefined {
  if (reload === undefined) {
    return 'Reloading over HTTP is disabled: start with --web.enable-lifecycle, or send SIGHUP.';
  }
  if (isFromAnotherSite((name) => c.req.header(name))) return 'Rejected: cross-site request.';
  return isReloadHost(c.req.header('Host'), reloadHosts)
    ? undefined
    : "Rejected: the Host header is not an IP address, localhost or a name of this machine. Set --web.external-url to the exporter's own URL.";
}

/** The maximum number of histories per request: more than the rows of any screen. */
const MAX_HISTORIES = 100;

function health(c: Context<RouteEnv>, fleet: FleetReading, clock: Clock): Response {
  const found = serversWithId(fleet, c.req.param('id') ?? '', c.req.query('panel'));
  const [server] = found;
  if (server === undefined) {
    return c.json({ error: 'no such server: use the server_id or uuid of /api/v1/servers' }, 404);
  }
  if (found.length > 1) {
    const panels = found.map(({ target }) => target.panel).join(', ');
    return c.json({ error: `several panels have this server: add ?panel= with one of ${panels}` }, 400);
  }
  const answer = checkHealth(server.snapshot(clock.now(), clock));
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
  return bodies.respond(c, { 'Content-Type': 'application/json' }, (encoding) =>
    board.histories(keys, series, encoding),
  );
}

function isSeries(name: string): name is ChartSeries {
  return (CHART_SERIES as readonly string[]).includes(name);
}

function stream(c: Context<RouteEnv>, board: StatusBoard, bodies: HeldBodies): Response {
  // The second header prevents proxies such as nginx from buffering.
  const headers = { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' };
  if (c.req.method === 'HEAD') return c.body(null, 200, headers);
  const { outgoing } = c.env;
  const cut = () => void outgoing?.destroy();
  const events = board.stream.watch({
    client: identifyClient(outgoing?.socket?.remoteAddress),
    cut,
    hold: (event) => bodies.hold(event, cut),
  });
  if (events === undefined) return c.text('Shutting down.\n', 503, { 'Retry-After': '10' });
  return c.body(events, 200, headers);
}
