import { type Context, Hono } from 'hono';
import { secureHeaders } from 'hono/secure-headers';
import type { Clock } from '../domain/clock.ts';
import type { Logger } from '../domain/log.ts';
import type { FleetReading } from '../domain/reading.ts';
import { CONTENT_TYPE, encodeChunks } from '../metrics/exposition.ts';
import { type Render, renderBody } from '../metrics/shared-body.ts';
import type { StatusBoard } from '../status-page/data/board.ts';
import { PAGE_POLICY, renderPage } from '../status-page/page.tsx';
import { HELD_BYTES, HeldBodies, type RouteEnv } from './bodies.ts';
import { isReloadHost } from './reload-hosts.ts';
import { createStatusRoutes, STATUS_PATHS, STREAM_PATH } from './status-routes.ts';

const PATHS = ['/', '/metrics', '/-/healthy', '/-/ready', ...STATUS_PATHS];
const RELOAD_PATH = '/-/reload';

/**
 * The result of a reload: one line that summarizes the changes, or the problems, one per line and without secrets; after a
 * failure nothing has changed.
 */
export type ReloadOutcome =
  | { readonly ok: true; readonly summary: string }
  | { readonly ok: false; readonly problems: string };

/** What the routes serve. */
export interface RouteDependencies {
  readonly scrape: Render;
  /** Whether the configuration is loaded. */
  readonly ready: () => boolean;
  readonly fleet: FleetReading;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly version: string;
  /** Reloads the configuration; absent if that isn't enabled over HTTP. */
  readonly reload?: (() => Promise<ReloadOutcome>) | undefined;
  /**
   * Names of this machine, in addition to localhost and its IP addresses, that are accepted as the host of a reload request.
   */
  readonly reloadHosts?: readonly string[];
  /** The data for the status page's script. */
  readonly board: StatusBoard;
  /** The limit on bytes of bodies held by readers; defaults to 128 MiB. */
  readonly heldBytes?: number;
}

/** All routes served over HTTP; none of them changes a server. */
export function createRoutes(dependencies: RouteDependencies): Hono<RouteEnv> {
  const { scrape, ready, fleet, clock, logger, version, board, reload } = dependencies;
  const app = new Hono<RouteEnv>();
  app.use(
    secureHeaders({
      contentSecurityPolicy: PAGE_POLICY,
      xFrameOptions: 'DENY',
      // An exporter on one port can't decide whether the whole host must be reached over TLS.
      strictTransportSecurity: false,
    }),
    async (c, next) => {
      await next();
      if (!c.res.headers.has('Cache-Control')) c.header('Cache-Control', 'no-store');
    },
  );

  const bodies = new HeldBodies(dependencies.heldBytes ?? HELD_BYTES);
  app.get('/', (c) =>
    bodies.respond(c, { 'Content-Type': 'text/html; charset=UTF-8' }, async (encoding) => {
      const page = await renderPage(fleet, version, clock);
      // Hono's type for it is a string, but it is an object.
      return renderBody(encodeChunks([page.toString()]), encoding);
    }),
  );
  app.get('/-/healthy', (c) => c.text('Healthy.\n'));
  app.get('/-/ready', (c) => (ready() ? c.text('Ready.\n') : c.text('Not ready yet.\n', 503)));
  app.get('/metrics', (c) => bodies.respond(c, { 'Content-Type': CONTENT_TYPE }, scrape));
  app.route('/', createStatusRoutes({ board, fleet, clock, bodies }));

  app.on(['POST', 'PUT'], RELOAD_PATH, reloadRoute(reload, dependencies.reloadHosts));
  app.all(RELOAD_PATH, (c) =>
    c.text(`Method not allowed: ${RELOAD_PATH} accepts POST and PUT.\n`, 405, { Allow: 'POST, PUT' }),
  );

  for (const path of [...PATHS, STREAM_PATH]) {
    app.all(path, (c) =>
      c.text(`Method not allowed: ${path} accepts GET and HEAD.\n`, 405, { Allow: 'GET, HEAD' }),
    );
  }
  app.notFound((c) => c.text(`Not found. Available paths: ${[...PATHS, RELOAD_PATH].join(' ')}\n`, 404));
  app.onError((error, c) => {
    logger.error({ err: error, cause: 'unexpected', path: c.req.path }, 'request failed');
    return c.text('Internal error: see the log.\n', 500);
  });
  return app;
}

/** Handles a reload request; `reload` is absent if that isn't enabled. */
function reloadRoute(
  reload: RouteDependencies['reload'],
  hosts: readonly string[] = [],
): (c: Context) => Promise<Response> {
  return async (c) => {
    if (reload === undefined) {
      return c.text(
        'Reloading over HTTP is disabled: start with --web.enable-lifecycle, or send SIGHUP.\n',
        403,
      );
    }
    if (isFromAnotherSite((name) => c.req.header(name))) {
      return c.text('Rejected: cross-site request.\n', 403);
    }
    if (!isReloadHost(c.req.header('Host'), hosts)) {
      return c.text(
        "Rejected: the Host header is not an IP address, localhost or a name of this machine: set --web.external-url to the exporter's own URL.\n",
        403,
      );
    }
    const outcome = await reload();
    return outcome.ok ? c.text(`${outcome.summary}\n`) : c.text(`${outcome.problems}\n`, 500);
  };
}

/**
 * Whether a browser sent the request on behalf of another site's page. Browsers indicate that, older ones only by `Origin`;
 * programs don't send these headers.
 */
export function isFromAnotherSite(header: (name: string) => string | undefined): boolean {
  const site = header('Sec-Fetch-Site');
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  const origin = header('Origin');
  if (origin === undefined) return false;
  return !URL.canParse(origin) || new URL(origin).host !== header('Host')?.toLowerCase();
}
