import { request } from 'node:http';
import { hashSync } from 'bcryptjs';
import { afterEach, describe, expect, it } from 'vitest';
import { SystemClock } from '../../src/domain/clock.ts';
import { HttpServer } from '../../src/http/server.ts';
import { basic } from '../integration/http/secure-client.ts';
import { eventually } from '../support/eventually.ts';
import { collectingLogger } from '../support/logger.ts';
import { PasswordFlood } from '../support/password-flood.ts';

const NAMES = Array.from({ length: 10 }, (_, index) => `user ${index}`);
const HASH = hashSync('secret', 8);
const USERS = new Map(NAMES.map((name) => [name, HASH]));

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** The exporter's own web server, with passwords that take much longer to check than to guess. */
async function serve(): Promise<number> {
  const server = new HttpServer({
    listen: { host: '127.0.0.1', port: 0 },
    routes: { fetch: () => new Response('metrics') },
    clock: new SystemClock(),
    logger: collectingLogger(),
    settings: {
      current: { users: USERS, headers: {} },
      onChange: () => () => undefined,
    },
  });
  const { port } = await server.start();
  ends.push(() => server.stop());
  return port;
}

async function flood(port: number, addresses: number): Promise<PasswordFlood> {
  const attack = new PasswordFlood(port, addresses);
  ends.push(() => attack.end());
  await eventually(() => expect(attack.refused).toBe(addresses));
  return attack;
}

/** The status of one request from an address without earlier requests. */
function statusFrom(port: number, localAddress: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, localAddress, headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', reject);
    sent.end();
  });
}

describe('a flood of passwords', () => {
  it("from 300 addresses doesn't delay users whose password was right before, and ends as limited", {
    timeout: 120_000,
  }, async () => {
    const port = await serve();
    for (const name of NAMES) expect(await statusFrom(port, '127.2.0.1', basic(name, 'secret'))).toBe(200);
    const attack = await flood(port, 300);
    for (const [index, name] of NAMES.entries()) {
      expect(await statusFrom(port, `127.2.0.${index + 2}`, basic(name, 'secret'))).toBe(200);
    }
    // On a slow machine, most addresses wait for their first answer until the users are through.
    await eventually(() => expect(new Set(attack.statuses.keys())).toEqual(new Set([401, 429])));
  });
});
