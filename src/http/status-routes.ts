import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import type { FleetReading } from '../domain/reading.ts';
import { createBodyWriter, type Encoding } from '../metrics/scrape.ts';
import { type Asset, loadAssets } from '../status-page/assets.ts';
import type { StatusBoard } from '../status-page/data/board.ts';
import { ALL_SERIES, type AnySeries } from '../status-page/data/protocol.ts';
import { isDiscoveryPending, targetGroups } from '../status-page/data/service-discovery.ts';
import { acceptsGzip } from './bodies.ts';
import { clientOf } from './client-address.ts';

/** Paths served by these routes, apart from the assets. */
export const STATUS_PATHS = ['/api/v1/servers', '/api/v1/sd', '/api/v1/history', '/api/v1/stream'] as const;

/** What accompanies a request: the response's own stream if it came over HTTP. */
export interface RouteEnv {
  readonly Bindings: Partial<Pick<HttpBindings, 'outgoing'>>;
}

/** The maximum number of histories per request: more than the rows of any screen. */
const MAX_HISTORIES = 100;

/** The status page's own paths (its files, the JSON view, histories, and the stream of changes), and service discovery. */
export function createStatusRoutes(board: StatusBoard, fleet: FleetReading): Hono<RouteEnv> {
  const app = new Hono<RouteEnv>();
  const targets = jsonRoute('application/json', () => targetGroups(fleet));
  let assets: Promise<ReadonlyMap<string, Asset>> | undefined;

  app.get('/assets/*', async (c) => {
    assets ??= loadAssets();
    const asset = (await assets).get(c.req.path.slice('/assets/'.length));
    return asset === undefined ? c.notFound() : answerAsset(c, asset);
  });
  app.get(
    '/api/v1/servers',
    jsonRoute('application/json; charset=utf-8', () => board.json()),
  );
  app.get('/api/v1/sd', (c) => (isDiscoveryPending(fleet) ? listingAwaited(c) : targets(c)));
  app.get('/api/v1/history', (c) => history(c, board));
  app.get('/api/v1/stream', (c) => stream(c, board));
  return app;
}

// After an error Prometheus keeps its targets; a list without the servers of a panel would end their series.
function listingAwaited(c: Context): Response {
  return c.text("Not ready yet: the panels' listings have not been read.\n", 503, { 'Retry-After': '10' });
}

/** Responds with all of these pieces. */
function jsonRoute(type: string, pieces: () => Iterable<string>): (c: Context) => Promise<Response> {
  const whole = sharedBody(pieces);
  return async (c) => {
    const encoding = encodingFor(c);
    const headers = { 'Content-Type': type, Vary: 'Accept-Encoding', ...encodingHeader(encoding) };
    if (c.req.method === 'HEAD') return c.body(null, 200, headers);
    return c.body(await whole(encoding), 200, headers);
  };
}

function answerAsset(c: Context, asset: Asset): Response {
  const encoding = encodingFor(c);
  const headers = {
    'Content-Type': asset.type,
    'Cache-Control': 'no-cache',
    ETag: asset.etag,
    Vary: 'Accept-Encoding',
  };
  if (c.req.header('If-None-Match')?.includes(asset.etag)) return c.body(null, 304, headers);
  const body = encoding === 'gzip' ? asset.gzip : asset.plain;
  return c.body(body, 200, { ...headers, ...encodingHeader(encoding) });
}

function encodingFor(c: Context): Encoding {
  return acceptsGzip(c.req.header('Accept-Encoding')) ? 'gzip' : 'identity';
}

function encodingHeader(encoding: Encoding): Record<string, string> {
  return encoding === 'gzip' ? { 'Content-Encoding': 'gzip' } : {};
}

/** A body made of these pieces; concurrent requests share one per encoding. */
function sharedBody(
  pieces: () => Iterable<string>,
): (encoding: Encoding) => Promise<Uint8Array<ArrayBuffer>> {
  const inFlight = new Map<Encoding, Promise<Uint8Array<ArrayBuffer>>>();
  return (encoding) => {
    let body = inFlight.get(encoding);
    if (body === undefined) {
      body = encoded(pieces(), encoding).finally(() => inFlight.delete(encoding));
      inFlight.set(encoding, body);
    }
    return body;
  };
}

async function encoded(pieces: Iterable<string>, encoding: Encoding): Promise<Uint8Array<ArrayBuffer>> {
  const writer = createBodyWriter(encoding);
  try {
    for (const piece of pieces) {
      await writer.write(Buffer.from(piece));
      await new Promise((resolve) => setImmediate(resolve));
    }
    return Buffer.concat(await writer.end());
  } finally {
    writer.close();
  }
}

function history(c: Context, board: StatusBoard): Response {
  const keys = c.req.queries('server') ?? [];
  const series = c.req.queries('series') ?? ALL_SERIES;
  if (keys.length === 0 || keys.length > MAX_HISTORIES || !series.every(isSeries)) {
    const error =
      `expected 1 to ${MAX_HISTORIES} parameters server=<panel>/<server_id>, ` +
      `and any of series=${ALL_SERIES.join('|')}`;
    return c.json({ error }, 400);
  }
  const histories = keys.map((key) => board.history(key, series)).filter((found) => found !== undefined);
  return c.json({ servers: histories });
}

function isSeries(name: string): name is AnySeries {
  return (ALL_SERIES as readonly string[]).includes(name);
}

function stream(c: Context<RouteEnv>, board: StatusBoard): Response {
  // The second header tells proxies such as nginx not to buffer.
  const headers = { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' };
  if (c.req.method === 'HEAD') return c.body(null, 200, headers);
  const { outgoing } = c.env;
  const events = board.watch({
    client: clientOf(outgoing?.socket?.remoteAddress),
    cut: () => outgoing?.destroy(),
  });
  if (events === undefined) return c.text('Shutting down.\n', 503, { 'Retry-After': '10' });
  return c.body(events, 200, headers);
}
