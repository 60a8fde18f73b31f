import type { Problem } from '../domain/problem.ts';
import type { ServerTarget } from '../domain/server.ts';

/** A socket costs one call per token, and a token of ten minutes is renewed after about eight. */
const CALLS_PER_SOCKET_AND_MINUTE = 1 / 8;

/** What the configuration requires besides servers. */
export interface Wishes {
  readonly pollIntervalMs: number;
  readonly listingPerMinute: number;
  /** For the lists of single servers, such as backups. */
  readonly listsPerMinute: number;
}

/** What monitoring a panel's servers as configured takes. */
export interface Needs {
  /** Servers that should stream, and servers that are configured to be polled. */
  readonly sockets: number;
  readonly polls: number;
  readonly callsPerMinute: number;
}

/** What these servers need; pure arithmetic. A server that the panel blocks needs nothing. */
export function needsOf(
  servers: readonly Pick<ServerTarget, 'mode' | 'blocked'>[],
  { pollIntervalMs, listingPerMinute, listsPerMinute }: Wishes,
): Needs {
  const asking = servers.filter(({ blocked }) => blocked === undefined);
  const polls = asking.filter(({ mode }) => mode === 'poll').length;
  const sockets = asking.length - polls;
  const callsPerMinute =
    sockets * CALLS_PER_SOCKET_AND_MINUTE +
    (polls * 60_000) / pollIntervalMs +
    listingPerMinute +
    listsPerMinute;
  return { sockets, polls, callsPerMinute };
}

/** The calls per minute that are available, and who sets that number. */
export interface Allowance {
  readonly perMinute: number;
  readonly source: string;
}

/** What this many servers need, what is available, and the consequence if that is too little; undefined if it is enough. */
export function budgetProblem(
  { callsPerMinute }: Needs,
  servers: number,
  { perMinute, source }: Allowance,
): Problem | undefined {
  if (callsPerMinute <= perMinute) return undefined;
  const [needed, allowed] = [callsPerMinute, perMinute].map((calls) =>
    Number(calls.toFixed(calls < 10 ? 2 : 1)),
  );
  const count = `${servers} ${servers === 1 ? 'server needs' : 'servers need'}`;
  return {
    cause: 'budget_too_small',
    detail: `${count} ${needed} API calls per minute, but ${source} allows ${allowed}: sockets reconnect late and polls are delayed, so servers have gaps in their data`,
  };
}

/** How many servers have no console socket because of the process's file descriptors, and how many it may open; else undefined. */
export function descriptorProblem(
  { sockets }: Needs,
  allowedSockets: number,
  {
    descriptors,
    requiredDescriptors,
  }: { readonly descriptors: number; readonly requiredDescriptors: number },
): Problem | undefined {
  const without = sockets - allowedSockets;
  if (without <= 0) return undefined;
  const room = `the limit of ${descriptors} open files leaves room for ${allowedSockets} console sockets`;
  const others = `${without} ${without === 1 ? 'server has' : 'servers have'} none and can only be polled`;
  return { cause: 'descriptors', detail: `${room}; ${others}; required limit: ${requiredDescriptors}` };
}
