// The credentials of a server's console that a simulated panel issues.

import { randomUUID } from 'node:crypto';
import type { ApiHost } from './api-host.ts';
import type { SimulatedServer } from './simulated-server.ts';
import { signToken } from './tokens.ts';

/**
 * A new token with these permissions, and the address of the server's node for a client that
 * reached the panel at `host:port`.
 */
export async function issueCredentials(
  host: ApiHost,
  server: SimulatedServer,
  permissions: readonly string[],
  reachedAt: string | undefined,
): Promise<{ readonly token: string; readonly url: string }> {
  const { clock, settings } = host;
  const issuedAtMs = Math.floor(clock.toUnixMs(clock.now()));
  const expiresAtMs = issuedAtMs + settings.tokenLifetimeSeconds * 1_000;
  const claims = { serverUuid: server.uuid, issuedAtMs, expiresAtMs };
  const node = host.nodeSocketUrl(server.node, reachedAt);
  return {
    token: await signToken(host.tokenKey, claims, randomUUID(), permissions),
    url: server.advertised ?? `${node}/api/servers/${server.uuid}/ws`,
  };
}
