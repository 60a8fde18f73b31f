import { type Context, Hono } from 'hono';
import { secureHeaders } from 'hono/secure-headers';
import type { Clock } from '../domain/clock.ts';
import type { Logger } from '../domain/log.ts';
import type { FleetReading } from '../domain/reading.ts';
import { CONTENT_TYPE } from '../metrics/exposition.ts';
import type { Scrape } from '../metrics/scrape.ts';
import { acceptsGzip, gzipped, streamOf } from './body.ts';
import { PAGE_POLICY, renderPage } from './page.ts';

/** Scrapes answered at once: each may hold a whole exposition until its reader has taken it. */
const MAX_SCRAPES = 32;

const PATHS = ['/', '/metrics', '/-/healthy', '/-/ready'];

/** What the routes show. */
export interface RouteDependencies {
  readonly scrape: () => Promise<Scrape>;
  /** Is the configuration loaded? */
  readonly ready: () => boolean;
  readonly fleet: FleetReading;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly version: string;
}

/** Everything that is served over HTTP; nothing in it changes anything. */
export function createRoutes({ scrape, ready, fleet, clock, logger, version }: RouteDependencies): Hono {
  const app = new Hono();
  app.use(
    secureHeaders({
      contentSecurityPolicy: PAGE_POLICY,
      xFrameOptions: 'DENY',
      // Whether this host is to be reached by TLS alone is not for an exporter on one of its ports to say.
      strictTransportSecurity: false,
    }),
    async (c, next) => {
      await next();
      c.header('Cache-Control', 'no-store');
    },
  );

  app.get('/', (c) => c.html(renderPage(fleet, version, clock.now())));
  app.get('/-/healthy', (c) => c.text('Healthy.\n'));
  app.get('/-/ready', (c) => (ready() ? c.text('Ready.\n') : c.text('Not ready yet.\n', 503)));
  app.get('/metrics', metricsRoute(scrape));

  for (const path of PATHS) {
    app.all(path, (c) =>
      c.text(`Method not allowed: ${path} answers GET and HEAD.\n`, 405, { Allow: 'GET, HEAD' }),
    );
  }
  app.notFound((c) => c.text(`Not found. There is: ${PATHS.join(' ')}\n`, 404));
  app.onError((error, c) => {
    logger.error({ err: error, path: c.req.path }, 'request failed');
    return c.text('Internal error; the log has the cause.\n', 500);
  });
  return app;
}

function metricsRoute(scrape: () => Promise<Scrape>): (c: Context) => Promise<Response> {
  // Scrapes that share a render share its compression too.
  const compressed = new WeakMap<Scrape, Promise<Scrape>>();
  const compress = (plain: Scrape): Promise<Scrape> => {
    const known = compressed.get(plain) ?? gzipped(plain);
    compressed.set(plain, known);
    return known;
  };
  let open = 0;

  return async (c) => {
    const headers: Record<string, string> = { 'Content-Type': CONTENT_TYPE, Vary: 'Accept-Encoding' };
    if (c.req.method === 'HEAD') return c.body(null, 200, headers);
    if (open >= MAX_SCRAPES) return c.text('Too many scrapes at once.\n', 503);
    open += 1;
    const close = () => {
      open -= 1;
    };
    try {
      const plain = await scrape();
      const gzip = acceptsGzip(c.req.header('Accept-Encoding'));
      const body = gzip ? await compress(plain) : plain;
      if (gzip) headers['Content-Encoding'] = 'gzip';
      headers['Content-Length'] = String(body.bytes);
      return c.body(streamOf(body.chunks, close), 200, headers);
    } catch (error) {
      close();
      throw error;
    }
  };
}
