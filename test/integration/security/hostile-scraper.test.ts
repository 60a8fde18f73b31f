import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HttpServer } from '../../../src/http/http-server.ts';
import type { StatusBoard } from '../../../src/status-page/data/board.ts';
import { eventually } from '../../support/eventually.ts';
import { collectingLogger } from '../../support/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { fleetReading, streamingReading } from '../../support/readings.ts';
import { exporterRoutes } from '../../support/routes.ts';
import { connectRaw, PATIENT, type RawClient } from '../http/raw-client.ts';

let server: HttpServer;
let board: StatusBoard;
let url: string;
let port: number;
let clients: RawClient[];
let logger: ReturnType<typeof collectingLogger>;

beforeEach(async () => {
  const clock = new ManualClock();
  const fleet = fleetReading([streamingReading()]);
  clients = [];
  logger = collectingLogger();
  const shipped = exporterRoutes({ fleet, clock });
  ({ board } = shipped);
  const listen = { host: '127.0.0.1', port: 0 };
  server = new HttpServer({ listen, routes: shipped.routes, clock, logger, limits: PATIENT });
  ({ url, port } = await server.start());
});

afterEach(async () => {
  for (const { socket } of clients) socket.destroy();
  board.stop();
  await server.stop();
});

const PATHS = [
  '/',
  '/metrics',
  '/-/healthy',
  '/-/reload',
  '/api/v1/servers',
  '/api/v1/history?server=main/1a7ce997',
  '/api/v1/stream',
  '/assets/page.js',
  '/nowhere',
];
const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

describe('a page of another site, in the browser of a user who can reach the exporter', () => {
  it.each(PATHS)("can't read or embed %s", async (path) => {
    const { headers, body } = await fetch(`${url}${path}`, {
      headers: { Origin: 'https://evil.example.com' },
    });
    // Canceled, because the stream never ends.
    await body?.cancel();
    expect(headers.get('access-control-allow-origin')).toBeNull();
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('x-powered-by')).toBeNull();
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(headers.get('set-cookie')).toBeNull();
  });

  it.each(PATHS)('can change nothing by a request to %s', async (path) => {
    for (const method of METHODS) {
      const { status } = await fetch(`${url}${path}`, {
        method,
        ...(method === 'POST' ? { body: 'a=b' } : {}),
      });
      // `/-/reload` responds with 403, because reloads over HTTP are disabled.
      expect(path === '/-/reload' ? [403, 405] : [404, 405]).toContain(status);
    }
  });
});

describe('a scraper', () => {
  const CANARIES = [
    '/CANARY',
    '/metrics?CANARY',
    '/?CANARY',
    '/%43ANARY',
    '/api/v1/CANARY',
    '/api/v1/servers?CANARY',
    '/api/v1/sd?CANARY',
    '/api/v1/history?server=CANARY',
    '/api/v1/history?server=CANARY&series=CANARY',
    '/api/v1/stream?CANARY',
    '/assets/CANARY',
    '/assets/page.js?CANARY',
  ];

  it('finds nothing of its request in a response or in the log', async () => {
    const answers: string[] = [];
    for (const path of CANARIES) {
      const client = await connectRaw(port, clients);
      client.send(`GET ${path} HTTP/1.0\r\nHost: CANARY\r\nUser-Agent: CANARY\r\nReferer: CANARY\r\n\r\n`);
      // The stream never ends, so its first event counts as the response.
      await eventually(() => expect(client.closed || client.received.includes('event: full\n')).toBe(true));
      answers.push(client.received);
    }
    expect(answers.every((answer) => answer.startsWith('HTTP/1.1 '))).toBe(true);
    expect(answers.join('')).not.toContain('CANARY');
    expect(logger.lines).toEqual([]);
  });
});
