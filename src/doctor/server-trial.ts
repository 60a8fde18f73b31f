import type { Clock } from '../domain/clock.ts';
import type { ServerTarget } from '../domain/server.ts';
import type { PanelTelemetry } from '../domain/telemetry.ts';
import type { Credentials, Resources } from '../panel/dialect.ts';
import type { PanelGateway } from '../panel/panel-gateway.ts';
import { type AskOptions, askPlayers } from '../query/ask.ts';
import { SILENT_AFTER_MS } from '../session/machine.ts';
import { type Attempt, attempt, type Canceled } from './attempt.ts';
import { type ConsoleAccess, ConsoleTrial } from './console-trial.ts';
import { bounded, serverDeadlineMs } from './deadlines.ts';
import { QUERY_STEP, type ServerReport, type ServerStep } from './report.ts';
import { endsServer, type ServerAttempts, serverOutcome, stateOf } from './server-steps.ts';

/** The tools for querying games. */
export type QueryTools = Omit<AskOptions, 'clock'>;

/** Shared by the trials of one panel's servers. */
export interface ServerTrialOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly gateway: PanelGateway;
  readonly telemetry: PanelTelemetry;
  readonly requestTimeoutMs: number;
  readonly sockets: ConsoleAccess;
  readonly queries: QueryTools;
  /** The `Canceled` that ends a server's trial after this many milliseconds. */
  readonly late: (deadlineMs: number) => Canceled;
  /** Called with the token issued by the panel, and with the times of the request and the response, in Unix milliseconds. */
  readonly onToken: (token: string, from: number, to: number) => void;
  readonly onStep: (server: string, step: ServerStep) => void;
}

/** Tries one server, step by step; never rejects, and ends by its deadline. `known` is a result that is already available. */
export async function tryServer(
  target: ServerTarget,
  options: ServerTrialOptions,
  known?: Attempt<Resources>,
): Promise<ServerReport> {
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
    async (signal) => withQuery(await tryAll(target, options, signal, known), target, options, signal),
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
  known: Attempt<Resources> | undefined,
): Promise<ServerAttempts> {
  const { clock, gateway, telemetry, sockets, onStep } = options;
  const { id, name, mode, expect } = target;
  onStep(name, 'resources');
  const resources =
    known ??
    (mode === 'socket'
      ? undefined
      : await attempt(gateway.resources(id, { node: () => undefined, deadline: clock.now() }, signal)));
  const asked = { mode, expect, ...(resources === undefined ? {} : { resources }) };
  if (mode === 'poll' || (resources !== undefined && endsServer(resources))) return asked;
  const trial = new ConsoleTrial({
    ...sockets,
    target,
    clock,
    telemetry,
    credentials: (scope) => askCredentials(id, options, scope),
    onStep: (step) => onStep(name, step),
  });
  return { ...asked, console: await trial.run(signal) };
}

async function askCredentials(
  server: string,
  { clock, gateway, onToken }: ServerTrialOptions,
  signal: AbortSignal,
): Promise<Credentials> {
  const unixNow = () => clock.toUnixMs(clock.now());
  const from = unixNow();
  const credentials = await gateway.credentials(
    server,
    { node: () => undefined, deadline: clock.now() },
    signal,
  );
  onToken(credentials.token, from, unixNow());
  return credentials;
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
