import { type Context, Hono } from 'hono';
import { createBodyWriter, type Encoding } from '../metrics/body-writer.ts';
import type { StatusBoard } from '../status/board.ts';
import { type JsonSource, jsonView } from '../status/json-view.ts';
import { serverKey } from '../status/ledger.ts';
import { HISTORY_SERIES, type HistorySeries } from '../status/protocol.ts';
import { type Asset, loadAssets } from './assets.ts';
import { acceptsGzip } from './body.ts';

/** Paths that answer whatever a request asks for. */
export const STATUS_PATHS = ['/api/v1/servers', '/api/v1/history', '/api/v1/stream'] as const;

/** Histories that one request may ask for: more than the rows of any screen. */
const MAX_HISTORIES = 100;

/** What these routes show. */
export type StatusDependencies = Omit<JsonSource, 'rates'> & { readonly status: StatusBoard };

/** The status page's own paths: its files, the JSON view, histories, and the stream of changes. */
export function createStatusRoutes(dependencies: StatusDependencies): Hono {
  const { status } = dependencies;
  const app = new Hono();
  const whole = sharedJson(dependencies);
  let assets: Promise<ReadonlyMap<string, Asset>> | undefined;

  app.get('/assets/*', async (c) => {
    assets ??= loadAssets();
    const asset = (await assets).get(c.req.path.slice('/assets/'.length));
    return asset === undefined ? c.notFound() : answerAsset(c, asset);
  });
  app.get('/api/v1/servers', async (c) => {
    const encoding = encodingFor(c);
    const headers = { ...JSON_TYPE, Vary: 'Accept-Encoding', ...encodingHeader(encoding) };
    if (c.req.method === 'HEAD') return c.body(null, 200, headers);
    return c.body(await whole(encoding), 200, headers);
  });
  app.get('/api/v1/history', (c) => history(c, status));
  app.get('/api/v1/stream', (c) => stream(c, status));
  return app;
}

const JSON_TYPE = { 'Content-Type': 'application/json; charset=utf-8' };

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

/** The JSON view; however many ask at once, there is one for each encoding. */
function sharedJson(source: StatusDependencies): (encoding: Encoding) => Promise<Uint8Array<ArrayBuffer>> {
  const { status } = source;
  const inFlight = new Map<Encoding, Promise<Uint8Array<ArrayBuffer>>>();
  const rates: JsonSource['rates'] = ({ target }) => status.rates(serverKey(target.panel, target.id));
  return (encoding) => {
    let body = inFlight.get(encoding);
    if (body === undefined) {
      body = encoded(jsonView({ ...source, rates }), encoding).finally(() => inFlight.delete(encoding));
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

function history(c: Context, status: StatusBoard): Response {
  const keys = c.req.queries('server') ?? [];
  const series = c.req.queries('series') ?? HISTORY_SERIES;
  if (keys.length === 0 || keys.length > MAX_HISTORIES || !series.every(isSeries)) {
    const error =
      `expected 1 to ${MAX_HISTORIES} parameters server=<panel>/<server_id>, ` +
      `and any of series=${HISTORY_SERIES.join('|')}`;
    return c.json({ error }, 400);
  }
  const histories = keys.map((key) => status.history(key, series)).filter((found) => found !== undefined);
  return c.json({ servers: histories });
}

function isSeries(name: string): name is HistorySeries {
  return (HISTORY_SERIES as readonly string[]).includes(name);
}

function stream(c: Context, status: StatusBoard): Response {
  // The second tells proxies such as nginx to hold nothing back.
  const headers = { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' };
  if (c.req.method === 'HEAD') return c.body(null, 200, headers);
  const events = status.watch();
  if (events === undefined) {
    return c.text('Too many viewers; try again in a while.\n', 503, { 'Retry-After': '10' });
  }
  return c.body(events, 200, headers);
}
