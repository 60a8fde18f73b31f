import type { ServerTarget } from '../domain/server.ts';
import { bounded } from '../domain/until-aborted.ts';
import { type AskOptions, askPlayers } from '../query/ask.ts';
import { SILENT_AFTER_MS } from '../session/machine.ts';
import type { Canceled } from './canceled.ts';
import { QUERY_STEP, type ServerReport, type ServerStep } from './report.ts';
import { endsServer, type ServerAttempts, serverOutcome, stateOf } from './server-steps.ts';
import { serverDeadlineMs, Trial, type TrialOptions } from './trial.ts';

/** The tools for querying games. */
export type QueryTools = Omit<AskOptions, 'clock'>;

/** Shared by the trials of one panel's servers. */
export interface ServerTrialOptions extends TrialOptions {
  readonly signal: AbortSignal;
  readonly requestTimeoutMs: number;
  readonly queries: QueryTools;
  /** The `Canceled` that ends a server's trial after this many milliseconds. */
  readonly late: (deadlineMs: number) => Canceled;
  readonly onStep: (server: string, step: ServerStep) => void;
}

/** Tries one server, step by step; never rejects, and ends by its deadline. */
export async function tryServer(target: ServerTarget, options: ServerTrialOptions): Promise<ServerReport> {
  const { clock, gateway, late, requestTimeoutMs, sockets } = options;
  const startedAt = clock.now();
  const deadlineMs = serverDeadlineMs({
    ...sockets.settings,
    requestTimeoutMs,
    statsTimeoutMs: SILENT_AFTER_MS,
    perMinute: gateway.budget().limitPerMinute,
  });
  const tried = await bounded(
    options,
    deadlineMs,
    () => late(deadlineMs),
    async (signal) => withQuery(await tryAll(target, options, signal), target, options, signal),
  );
  return {
    name: target.name,
    id: target.id,
    ...serverOutcome(tried),
    durationMs: clock.now() - startedAt,
  };
}

async function tryAll(
  target: ServerTarget,
  options: ServerTrialOptions,
  signal: AbortSignal,
): Promise<ServerAttempts> {
  const { mode, expect } = target;
  const tryBy = (way: 'socket' | 'poll') => new Trial(target, way, options).run(signal);
  const poll = mode === 'socket' ? undefined : await tryBy('poll');
  const { origin } = options.sockets.settings;
  const tried = { mode, expect, origin, poll };
  const isDone = mode === 'poll' || (poll !== undefined && endsServer(poll));
  return isDone ? tried : { ...tried, socket: await tryBy('socket') };
}

/** Queries the game of a running server, as the exporter does. */
async function withQuery(
  tried: ServerAttempts,
  target: ServerTarget,
  { clock, queries, onStep }: ServerTrialOptions,
  signal: AbortSignal,
): Promise<ServerAttempts> {
  if (target.query === undefined) return tried;
  const state = stateOf(tried);
  if (signal.aborted || state === undefined)
    return { ...tried, query: 'not tested: the power state is unknown' };
  if (state !== 'running') return { ...tried, query: `not tested: the server is ${state}` };
  onStep(target.name, QUERY_STEP);
  return { ...tried, query: await askPlayers(target, { ...queries, clock }, signal) };
}
