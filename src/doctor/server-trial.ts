import type { Clock } from '../domain/clock.ts';
import type { ServerTarget } from '../domain/server.ts';
import type { Credentials, Resources } from '../panel/decode.ts';
import { SILENCE_MS } from '../session/transitions.ts';
import { type Attempt, attempt, Cut } from './attempt.ts';
import { bounded } from './bounded.ts';
import { serverDeadlineMs, spokenDuration } from './estimate.ts';
import type { Contact } from './panel-cause.ts';
import type { PanelLine } from './panel-line.ts';
import type { ServerReport, ServerStep } from './report.ts';
import { endsServer, type ServerAttempts, serverFindings } from './server-steps.ts';
import type { SocketResult } from './socket-result.ts';
import { SocketTrial, type SocketTrialOptions } from './socket-trial.ts';

/** What the trials of one panel's servers share. */
export interface ServerTrialOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly line: PanelLine;
  readonly contact: Contact;
  readonly requestTimeoutMs: number;
  readonly sockets: Omit<SocketTrialOptions, 'clock' | 'telemetry' | 'onStep'>;
  /** Told how long a call for credentials took, in Unix milliseconds, and the token that came of it. */
  readonly onToken: (token: string, from: number, to: number) => void;
  readonly onStep: (server: string, step: ServerStep) => void;
}

/** Tries one server, step by step; never rejects, and ends by its deadline. `known` is an answer that is there already. */
export async function tryServer(
  target: ServerTarget,
  options: ServerTrialOptions,
  known?: Attempt<Resources>,
): Promise<ServerReport> {
  const { clock, line, contact } = options;
  const startedAt = clock.now();
  const { requestTimeoutMs, sockets } = options;
  const deadlineMs = serverDeadlineMs({
    ...sockets,
    requestTimeoutMs,
    statsTimeoutMs: SILENCE_MS,
    perMinute: line.perMinute,
  });
  const tried = await bounded(
    options,
    deadlineMs,
    () => lateCut(line, deadlineMs),
    (signal) => tryAll(target, options, signal, known),
  );
  return {
    name: target.name,
    id: target.id,
    steps: serverFindings(tried, contact),
    durationMs: clock.now() - startedAt,
  };
}

/** Why the time is over: the panel held the calls back, or something else is slow. */
export function lateCut(line: PanelLine, deadlineMs: number): Cut {
  const time = spokenDuration(deadlineMs);
  if (line.paused)
    return new Cut(`no call came through within ${time}: ${line.throttled ?? ''}`, 'rate_limited');
  return new Cut(`not done within ${time}`, 'deadline');
}

async function tryAll(
  { id, name, mode }: ServerTarget,
  options: ServerTrialOptions,
  signal: AbortSignal,
  known: Attempt<Resources> | undefined,
): Promise<ServerAttempts> {
  const { line, onStep } = options;
  onStep(name, 'resources');
  const resources = known ?? (mode === 'socket' ? undefined : await attempt(line.resources(id, signal)));
  const asked = { mode, ...(resources === undefined ? {} : { resources }) };
  if (mode === 'poll' || (resources !== undefined && endsServer(resources))) return asked;
  onStep(name, 'credentials');
  const credentials = await attempt(askCredentials(id, options, signal));
  if (!credentials.ok) return { ...asked, credentials };
  return { ...asked, credentials, socket: await trySocket(name, options, credentials.value, signal) };
}

async function askCredentials(
  server: string,
  { line, onToken }: ServerTrialOptions,
  signal: AbortSignal,
): Promise<Credentials> {
  let [sentAt, answeredAt] = [0, 0];
  const credentials = await line.credentials(server, signal, (from, to) => {
    [sentAt, answeredAt] = [from, to];
  });
  onToken(credentials.token, sentAt, answeredAt);
  return credentials;
}

function trySocket(
  server: string,
  { clock, line, sockets, onStep }: ServerTrialOptions,
  credentials: Credentials,
  signal: AbortSignal,
): Promise<SocketResult> {
  const { telemetry } = line;
  const trial = new SocketTrial(
    { ...sockets, clock, telemetry, onStep: (step) => onStep(server, step) },
    credentials,
  );
  return trial.run(signal);
}
