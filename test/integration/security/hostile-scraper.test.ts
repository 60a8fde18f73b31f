import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SystemClock } from '../../../src/domain/clock.ts';
import { createRoutes } from '../../../src/http/routes.ts';
import { HttpServer } from '../../../src/http/server.ts';
import type { Encoding } from '../../../src/metrics/body-writer.ts';
import { Scraper } from '../../../src/metrics/scrape.ts';
import { SelfMetrics } from '../../../src/metrics/self.ts';
import { collectingLogger } from '../../support/logger.ts';
import { fleetReading, streamingReading } from '../../support/readings.ts';
import { connectRaw, type RawClient } from '../http/raw-client.ts';

let server: HttpServer;
let url: string;
let port: number;
let clients: RawClient[];
let logger: ReturnType<typeof collectingLogger>;

beforeEach(async () => {
  const clock = new SystemClock();
  const fleet = fleetReading([streamingReading()]);
  const self = new SelfMetrics({ version: '1.2.3', revision: 'abc', fleet });
  const scraper = new Scraper({ fleet, self, clock });
  clients = [];
  logger = collectingLogger();
  const scrape = (encoding: Encoding) => scraper.scrape(encoding);
  const routes = createRoutes({ scrape, ready: () => true, fleet, clock, logger, version: '1.2.3' });
  server = new HttpServer({ listen: { host: '127.0.0.1', port: 0 }, routes, clock, logger });
  ({ url, port } = await server.start());
});

afterEach(async () => {
  for (const { socket } of clients) socket.destroy();
  await server.stop();
});

const PATHS = ['/', '/metrics', '/-/healthy', '/-/ready', '/-/reload', '/-/quit', '/nowhere'];
const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

describe('a page of another site, in the browser of somebody who can reach the exporter', () => {
  it.each(PATHS)('can neither read nor embed %s', async (path) => {
    const { headers } = await fetch(`${url}${path}`, { headers: { Origin: 'https://evil.example.com' } });
    expect(headers.get('access-control-allow-origin')).toBeNull();
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(headers.get('set-cookie')).toBeNull();
  });

  it.each(PATHS)('has no request to %s that does anything', async (path) => {
    for (const method of METHODS) {
      const { status } = await fetch(`${url}${path}`, {
        method,
        ...(method === 'POST' ? { body: 'a=b' } : {}),
      });
      // A reload has to be enabled first.
      expect(path === '/-/reload' ? [403, 405] : [404, 405]).toContain(status);
    }
  });
});

describe('a scraper', () => {
  it('finds nothing of its request in an answer or in the log', async () => {
    const answers: string[] = [];
    for (const path of ['/CANARY', '/metrics?CANARY', '/?CANARY', '/%43ANARY']) {
      const client = await connectRaw(port, clients);
      client.send(`GET ${path} HTTP/1.0\r\nHost: CANARY\r\nUser-Agent: CANARY\r\nReferer: CANARY\r\n\r\n`);
      await new Promise((resolve) => client.socket.once('close', resolve));
      answers.push(client.received);
    }
    expect(answers.every((answer) => answer.startsWith('HTTP/1.1 '))).toBe(true);
    expect(answers.join('')).not.toContain('CANARY');
    expect(logger.lines).toEqual([]);
  });
});
