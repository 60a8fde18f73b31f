import { type Context, Hono } from 'hono';
import { secureHeaders } from 'hono/secure-headers';
import type { Clock } from '../domain/clock.ts';
import type { Logger } from '../domain/log.ts';
import type { FleetReading } from '../domain/reading.ts';
import { CONTENT_TYPE } from '../metrics/exposition.ts';
import type { Encoding, Scrape } from '../metrics/scrape.ts';
import type { StatusBoard } from '../status-page/data/board.ts';
import { PAGE_POLICY, renderPage } from '../status-page/page.tsx';
import { acceptsGzip, HELD_BYTES, HeldBodies, streamOf } from './bodies.ts';
import { isReloadHost } from './reload-hosts.ts';
import { createStatusRoutes, type RouteEnv, STATUS_PATHS } from './status-routes.ts';

const PATHS = ['/', '/metrics', '/-/healthy', '/-/ready', ...STATUS_PATHS];
const RELOAD_PATH = '/-/reload';

/** How a reload ended: what it changed in one line, or what was wrong, a line each and never a secret; then all is as before. */
export type ReloadOutcome =
  | { readonly ok: true; readonly summary: string }
  | { readonly ok: false; readonly problems: string };

/** What the routes show. */
export interface RouteDependencies {
  readonly scrape: (encoding: Encoding) => Promise<Scrape>;
  /** Is the configuration loaded? */
  readonly ready: () => boolean;
  readonly fleet: FleetReading;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly version: string;
  /** Loads the configuration again; absent where nobody may ask for that by HTTP. */
  readonly reload?: (() => Promise<ReloadOutcome>) | undefined;
  /** Names of this machine, besides localhost and its IP addresses, by which a reload may be asked for. */
  readonly reloadHosts?: readonly string[];
  /** What the status page's script asks for. */
  readonly board: StatusBoard;
  /** Bytes of scrapes that readers may hold, 128 MiB unless said. */
  readonly heldBytes?: number;
}

/** Everything that is served over HTTP; nothing in it changes a server. */
export function createRoutes(dependencies: RouteDependencies): Hono<RouteEnv> {
  const { scrape, ready, fleet, clock, logger, version, board, reload } = dependencies;
  const app = new Hono<RouteEnv>();
  app.use(
    secureHeaders({
      contentSecurityPolicy: PAGE_POLICY,
      xFrameOptions: 'DENY',
      // Whether this host is to be reached by TLS alone is not for an exporter on one of its ports to say.
      strictTransportSecurity: false,
    }),
    async (c, next) => {
      await next();
      if (!c.res.headers.has('Cache-Control')) c.header('Cache-Control', 'no-store');
    },
  );

  app.get('/', (c) => c.html(renderPage(fleet, version, clock.now(), (server) => board.triage(server))));
  app.get('/-/healthy', (c) => c.text('Healthy.\n'));
  app.get('/-/ready', (c) => (ready() ? c.text('Ready.\n') : c.text('Not ready yet.\n', 503)));
  app.get('/metrics', metricsRoute(scrape, dependencies.heldBytes));
  app.route('/', createStatusRoutes(board, fleet));

  app.on(['POST', 'PUT'], RELOAD_PATH, reloadRoute(reload, dependencies.reloadHosts));
  app.all(RELOAD_PATH, (c) =>
    c.text(`Method not allowed: ${RELOAD_PATH} answers POST and PUT.\n`, 405, { Allow: 'POST, PUT' }),
  );

  for (const path of PATHS) {
    app.all(path, (c) =>
      c.text(`Method not allowed: ${path} answers GET and HEAD.\n`, 405, { Allow: 'GET, HEAD' }),
    );
  }
  app.notFound((c) => c.text(`Not found. There is: ${[...PATHS, RELOAD_PATH].join(' ')}\n`, 404));
  app.onError((error, c) => {
    logger.error({ err: error, cause: 'unexpected', path: c.req.path }, 'request failed');
    return c.text('Internal error; the log has the cause.\n', 500);
  });
  return app;
}

function metricsRoute(
  scrape: RouteDependencies['scrape'],
  heldBytes = HELD_BYTES,
): (c: Context<RouteEnv>) => Promise<Response> {
  const held = new HeldBodies(heldBytes);
  return async (c) => {
    const headers: Record<string, string> = { 'Content-Type': CONTENT_TYPE, Vary: 'Accept-Encoding' };
    if (c.req.method === 'HEAD') return c.body(null, 200, headers);
    const encoding = acceptsGzip(c.req.header('Accept-Encoding')) ? 'gzip' : 'identity';
    const body = await scrape(encoding);
    if (encoding === 'gzip') headers['Content-Encoding'] = encoding;
    headers['Content-Length'] = String(body.bytes);
    const release = held.hold(body, () => c.env.outgoing?.destroy());
    return c.body(streamOf(body.chunks, release), 200, headers);
  };
}

/** Answers a request to reload; `reload` is absent where that isn't enabled. */
function reloadRoute(
  reload: RouteDependencies['reload'],
  hosts: readonly string[] = [],
): (c: Context) => Promise<Response> {
  return async (c) => {
    if (reload === undefined) {
      return c.text(
        'Reloading by HTTP is not enabled: start with --web.enable-lifecycle, or send SIGHUP.\n',
        403,
      );
    }
    if (isFromAnotherSite((name) => c.req.header(name))) {
      return c.text('Refused: the request comes from a page of another site.\n', 403);
    }
    if (!isReloadHost(c.req.header('Host'), hosts)) {
      return c.text(
        "Refused: the Host header names neither an IP address, localhost nor this machine: set --web.external-url to the exporter's own URL.\n",
        403,
      );
    }
    const outcome = await reload();
    return outcome.ok ? c.text(`${outcome.summary}\n`) : c.text(`${outcome.problems}\n`, 500);
  };
}

/**
 * Did a browser send the request for a page that isn't ours? Browsers say so themselves, older ones by `Origin` alone; programs
 * send neither.
 */
export function isFromAnotherSite(header: (name: string) => string | undefined): boolean {
  const site = header('Sec-Fetch-Site');
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  const origin = header('Origin');
  if (origin === undefined) return false;
  return !URL.canParse(origin) || new URL(origin).host !== header('Host')?.toLowerCase();
}
