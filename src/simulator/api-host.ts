// The part of a simulated panel that its APIs use.

import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { Clock } from '../domain/clock.ts';
import type { CallTarget } from './api-gate.ts';
import type { SimulatedFleet } from './fleet.ts';
import { nodeName, type SimulatedServer } from './simulated-server.ts';
import type { SimulatorSettings } from './simulator-settings.ts';

export interface ApiHost {
  readonly clock: Clock;
  readonly settings: SimulatorSettings;
  readonly fleet: SimulatedFleet;
  readonly tokenKey: Uint8Array;
  /** Aborts when the panel stops, so that nothing keeps waiting. */
  readonly stopped: AbortSignal;
  /**
   * The base URL of a node's socket addresses for a client that reached the panel at `host:port`.
   */
  nodeSocketUrl(node: 0 | 1, reachedAt: string | undefined): string;
}

/** One call as Hono hands it to a route. */
export type ApiContext = Context<{ Bindings: HttpBindings }>;

/** The server that a call's path names by its UUID or short id. */
export interface NamedServer {
  /** Undefined if no server has this id. */
  readonly found: SimulatedServer | undefined;
  /** Undefined if the account has no access to it, either. */
  readonly accessible: SimulatedServer | undefined;
  /** The server and its node, for the gate's rate limits and faults. */
  readonly target: Pick<CallTarget, 'server' | 'node'>;
}

export function namedServer(host: ApiHost, id: string): NamedServer {
  const found = host.fleet.findById(id);
  const accessible = found !== undefined && hasAccess(host, found) ? found : undefined;
  return { found, accessible, target: { server: found?.uuid ?? id, node: found && nodeName(found) } };
}

/** Administrators have access to every server. */
export function hasAccess({ settings }: ApiHost, { owned }: SimulatedServer): boolean {
  return owned || settings.admin;
}
