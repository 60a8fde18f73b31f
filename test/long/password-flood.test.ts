import { request } from 'node:http';
import { hashSync } from 'bcryptjs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { SystemClock } from '../../src/domain/clock.ts';
import { HttpServer } from '../../src/http/server.ts';
import type { WebSettings } from '../../src/http/web-settings.ts';
import { basic } from '../integration/http/secure-client.ts';
import { eventually } from '../support/eventually.ts';
import { collectingLogger } from '../support/logger.ts';
import { PasswordFlood } from '../support/password-flood.ts';

const NAMES = Array.from({ length: 10 }, (_, index) => `user ${index}`);
const HASH = hashSync('secret', 8);
/** Several users, because a password that was accepted once isn't checked again. */
const USERS = new Map(NAMES.map((name) => [name, HASH]));

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** The exporter's own web server, with passwords that take much longer to check than to guess. */
async function serve(settings: Partial<WebSettings> = {}): Promise<number> {
  const server = new HttpServer({
    listen: { host: '127.0.0.1', port: 0 },
    routes: { fetch: () => new Response('metrics') },
    clock: new SystemClock(),
    logger: collectingLogger(),
    settings: {
      current: { users: USERS, headers: {}, ...settings },
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
  await vi.waitFor(() => expect(attack.refused).toBe(addresses), 60_000);
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

/** The status that each user with the right password receives, each from a new address. */
async function statusesOfRightUsers(port: number): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (const [index, name] of NAMES.entries()) {
    statuses.push(await statusFrom(port, `127.2.0.${index + 1}`, basic(name, 'secret')).catch(() => 0));
  }
  return statuses;
}

const ALL_IN = NAMES.map(() => 200);

describe('a flood of passwords', () => {
  it("from a thousand addresses doesn't lock out a user with the right one, even at a new address", {
    timeout: 120_000,
  }, async () => {
    const port = await serve();
    const attack = await flood(port, 1_000);
    expect(await statusesOfRightUsers(port)).toEqual(ALL_IN);
    // On a slow machine, most addresses wait for their first answer until the users are through.
    await eventually(() => expect(new Set(attack.statuses.keys())).toEqual(new Set([401, 429, 503])));
  });

  it("doesn't use up the rate limit of users with the right one", async () => {
    const port = await serve({ rateLimit: { intervalMs: 3_600_000, burst: NAMES.length } });
    const attack = await flood(port, 100);
    await eventually(() => expect(attack.statuses.get(429)).toBeGreaterThan(100));
    expect(await statusesOfRightUsers(port)).toEqual(ALL_IN);
    expect(await statusFrom(port, '127.2.0.1', basic('user 0', 'secret'))).toBe(429);
  });
});

it("requests without a password don't use up the rate limit of users with one", async () => {
  const port = await serve({ rateLimit: { intervalMs: 3_600_000, burst: NAMES.length } });
  const unauthenticated = Array.from({ length: 3 * NAMES.length }, () => statusFrom(port, '127.3.0.1', {}));
  const statuses = await Promise.all(unauthenticated);
  expect([401, 429].map((status) => statuses.filter((one) => one === status).length)).toEqual([10, 20]);
  expect(await statusesOfRightUsers(port)).toEqual(ALL_IN);
});
