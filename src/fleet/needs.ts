// The needs of a panel's servers, compared with the limits; pure.

import type { Problem } from '../domain/problems.ts';
import type { BudgetReading, NeedsReading } from '../domain/reading.ts';
import type { ServerTarget } from '../domain/server.ts';
import { LIST_MS } from '../panel/node-polls.ts';
import type { SharedSockets } from './shared-sockets.ts';

/** A token that is valid for ten minutes is renewed after about eight. */
export const CALLS_PER_SOCKET_AND_MINUTE = 1 / 8;

/**
 * Calls per poll interval for polled servers if one call lists all servers of a node. The list of
 * each node is requested every `LIST_MS`, and there is never more than one call per server.
 */
export function pollsByNode(polled: number, nodes: number, pollIntervalMs: number): number {
  return Math.min(polled, Math.ceil(nodes * (pollIntervalMs / LIST_MS)));
}

/** The sockets and calls that are required to monitor a panel's servers as configured. */
export interface Needs extends Omit<NeedsReading, 'allowedSockets'> {
  readonly servers: number;
}

/** Does this server need a console socket? A server that the panel blocks needs nothing. */
export function isStreamed({ mode, blocked }: Pick<ServerTarget, 'mode' | 'blocked'>): boolean {
  return blocked === undefined && mode !== 'poll';
}

/**
 * The needs of these servers, except calls for lists; pure. A server that the panel blocks needs
 * nothing. `isByNode` is set if the panel lists the resources of all of a node's servers.
 */
export function countNeeds(
  servers: readonly Pick<ServerTarget, 'mode' | 'blocked' | 'nodeId'>[],
  pollIntervalMs: number,
  listsPerMinute: number,
  isByNode = false,
): Needs {
  let requiredSockets = 0;
  let polls = 0;
  let listed = 0;
  const nodes = new Set<string>();
  // A single pass, because each pass over thousands of servers takes milliseconds.
  for (const { mode, blocked, nodeId } of servers) {
    if (blocked !== undefined) continue;
    if (isStreamed({ mode, blocked })) {
      requiredSockets += 1;
      continue;
    }
    polls += 1;
    if (!isByNode || nodeId === undefined) continue;
    listed += 1;
    nodes.add(nodeId);
  }
  const pollCalls = polls - listed + pollsByNode(listed, nodes.size, pollIntervalMs);
  const sockets = requiredSockets * CALLS_PER_SOCKET_AND_MINUTE;
  return {
    servers: servers.length,
    requiredSockets,
    polls,
    requiredCallsPerMinute: sockets + (pollCalls * 60_000) / pollIntervalMs + listsPerMinute,
  };
}

/** The problem of a rate limit that is too low for the servers; undefined if it is high enough. */
export function budgetProblem(
  { servers, requiredCallsPerMinute }: Needs,
  { isPinned, limitPerMinute }: Pick<BudgetReading, 'isPinned' | 'limitPerMinute'>,
): Problem | undefined {
  if (requiredCallsPerMinute <= limitPerMinute) return undefined;
  const [needed, allowed] = [requiredCallsPerMinute, limitPerMinute].map((calls) =>
    Number(calls.toFixed(calls < 10 ? 2 : 1)),
  );
  const count = `${servers} ${servers === 1 ? 'server needs' : 'servers need'}`;
  const source = isPinned ? '`requests_per_minute`' : 'the API budget';
  return {
    cause: 'budget_too_small',
    detail: `${count} ${needed} API calls per minute, but ${source} allows ${allowed}: sockets reconnect late and polls are delayed, so servers have gaps in their data`,
  };
}

/**
 * The problem of a limit on open files that leaves some servers without a console socket; undefined
 * if there is none.
 */
export function descriptorProblem(
  { requiredSockets }: Needs,
  {
    descriptors,
    requiredDescriptors,
    part,
  }: Pick<SharedSockets, 'descriptors' | 'requiredDescriptors' | 'part'>,
): Problem | undefined {
  const without = requiredSockets - part;
  if (without <= 0) return undefined;
  const room = `the limit of ${descriptors} open files leaves room for ${part} console sockets`;
  const others = `${without} ${without === 1 ? 'server has' : 'servers have'} none and can only be polled`;
  return { cause: 'descriptors', detail: `${room}; ${others}; required limit: ${requiredDescriptors}` };
}
