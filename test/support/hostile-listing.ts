// A hostile panel that attacks with its server list.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/**
 * Starts a panel that rejects every call except for its server list, which it sends as fast as it
 * can. Returns its address.
 */
export async function startListingPanel(pages: (page: number) => string): Promise<string> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://panel');
    response.setHeader('x-ratelimit-limit', '1000000');
    response.setHeader('x-ratelimit-remaining', '1000000');
    response.setHeader('content-type', 'application/json');
    if (pathname === '/api/client') response.end(pages(Number(searchParams.get('page'))));
    else response.writeHead(404).end('{"errors":[{"code":"NotFoundHttpException","detail":"no"}]}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The panel's entry in the configuration. */
export const hostilePanel = (url: string, maxServers: number) =>
  [
    '  - name: hostile',
    `    url: ${url}`,
    '    api_key: ptlc_hostile',
    '    requests_per_minute: 100000',
    `    discover: { max_servers: ${maxServers} }`,
  ].join('\n');
