import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { secureHeaders } from 'hono/secure-headers';
import type { Clock } from '../domain/clock.ts';
import type { Logger } from '../domain/log.ts';
import type { FleetReading } from '../domain/reading.ts';
import type { Encoding } from '../metrics/body-writer.ts';
import { CONTENT_TYPE } from '../metrics/exposition.ts';
import type { Scrape } from '../metrics/scrape.ts';
import { acceptsGzip, streamOf } from './body.ts';
import { HELD_BYTES, HeldBodies } from './held-bodies.ts';
import { PAGE_POLICY, renderPage } from './page.tsx';
import { type Reload, reloadRoute } from './reload-route.ts';
import { createStatusRoutes, STATUS_PATHS, type StatusDependencies } from './status-routes.ts';

const PATHS = ['/', '/metrics', '/-/healthy', '/-/ready'];
const RELOAD_PATH = '/-/reload';

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
  readonly reload?: Reload | undefined;
  /** What the page lives on; without it the page is a plain table. */
  readonly board?: Omit<StatusDependencies, 'fleet' | 'clock' | 'version'>;
  /** Bytes of scrapes that readers may hold, 128 MiB unless said. */
  readonly heldBytes?: number;
}

/** What a request comes with: the answer's own stream where it came over HTTP. */
interface Served {
  readonly Bindings: Partial<Pick<HttpBindings, 'outgoing'>>;
}

/** Everything that is served over HTTP; nothing in it changes a server. */
export function createRoutes(dependencies: RouteDependencies): Hono<Served> {
  const { scrape, ready, fleet, clock, logger, version, reload, heldBytes = HELD_BYTES } = dependencies;
  const { board } = dependencies;
  const app = new Hono<Served>();
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

  app.get('/', (c) => c.html(renderPage(fleet, version, clock.now())));
  app.get('/-/healthy', (c) => c.text('Healthy.\n'));
  app.get('/-/ready', (c) => (ready() ? c.text('Ready.\n') : c.text('Not ready yet.\n', 503)));
  app.get('/metrics', metricsRoute(scrape, heldBytes));
  if (board !== undefined) app.route('/', createStatusRoutes({ fleet, clock, version, ...board }));

  app.on(['POST', 'PUT'], RELOAD_PATH, reloadRoute(reload));
  app.all(RELOAD_PATH, (c) =>
    c.text(`Method not allowed: ${RELOAD_PATH} answers POST and PUT.\n`, 405, { Allow: 'POST, PUT' }),
  );

  const paths = board === undefined ? PATHS : [...PATHS, ...STATUS_PATHS];
  for (const path of paths) {
    app.all(path, (c) =>
      c.text(`Method not allowed: ${path} answers GET and HEAD.\n`, 405, { Allow: 'GET, HEAD' }),
    );
  }
  app.notFound((c) => c.text(`Not found. There is: ${[...paths, RELOAD_PATH].join(' ')}\n`, 404));
  app.onError((error, c) => {
    logger.error({ err: error, path: c.req.path }, 'request failed');
    return c.text('Internal error; the log has the cause.\n', 500);
  });
  return app;
}

function metricsRoute(
  scrape: RouteDependencies['scrape'],
  heldBytes: number,
): (c: Context<Served>) => Promise<Response> {
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
