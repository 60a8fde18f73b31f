import { CAUSES, shortTitle } from '../diagnosis/causes.ts';
import { verdictOf } from '../diagnosis/outcome.ts';
import type { Problem } from '../domain/problem.ts';
import type { CollectionMode, Expect, ServerState, ServerTarget } from '../domain/server.ts';
import type { ApiEndpoint } from '../domain/telemetry.ts';
import type { Asked } from '../query/client.ts';
import { lastingRefusal } from '../session/failure.ts';
import { Canceled } from './canceled.ts';
import {
  CONSOLE_STEPS,
  type ConsoleStep,
  type Finding,
  passed,
  problemFinding,
  QUERY_STEP,
  SERVER_STEPS,
  type ServerReport,
  type ServerStep,
  skipped,
} from './report.ts';
import type { TrialResult } from './trial.ts';

/** What was tried of one server; what wasn't is absent. */
export interface ServerAttempts {
  readonly mode: CollectionMode;
  readonly expect: Expect;
  /** What was sent as `Origin`. */
  readonly origin: string;
  readonly poll?: TrialResult;
  readonly socket?: TrialResult;
  /** The result of querying the game, or why there is none; absent if the game isn't queried. */
  readonly query?: Asked | string;
}

/** Whether further calls to the panel about this server are pointless. */
export function endsServer({ problem, isAnswered }: TrialResult): boolean {
  if (problem === undefined || isAnswered) return false;
  return problem instanceof Canceled || lastingRefusal(problem)?.pollable === false;
}

/** The findings from everything that was tried of a server; the steps are in display order. */
export function serverOutcome(tried: ServerAttempts): Pick<ServerReport, 'steps' | 'held'> {
  const steps = serverFindings(tried);
  // If a server is allowed to be off, a state that the panel holds it in is normal.
  const isNormal = ({ cause }: Finding) =>
    tried.expect !== 'running' && cause !== undefined && CAUSES[cause].severity === 'fact';
  const cause = steps.find(isNormal)?.cause;
  if (cause === undefined) return { steps };
  const held = `${shortTitle(cause)}; not a problem with expect: ${tried.expect}`;
  return { held, steps: steps.map((finding) => (isNormal(finding) ? skipped(finding.step, held) : finding)) };
}

function serverFindings(tried: ServerAttempts): readonly Finding<ServerStep>[] {
  const found = foundFinding(tried);
  const query = tried.query === undefined ? [] : [queryFinding(tried.query)];
  if (found.result === 'failed') {
    const why = `not tested: ${found.cause === 'not_found' ? 'server not found' : 'access was refused'}`;
    return [found, ...SERVER_STEPS.slice(1).map((step) => skipped(step, why)), ...query];
  }
  return [found, ...consoleFindings(tried), resourcesFinding(tried), ...query];
}

/** The server's power state; undefined if nothing reported it. */
export function stateOf({ poll, socket }: ServerAttempts): ServerState | undefined {
  return socket?.state ?? poll?.state;
}

/** The report on a server that was not tried. */
export function untested({ name, id, query }: ServerTarget, why: string): ServerReport {
  const steps: readonly ServerStep[] = query === undefined ? SERVER_STEPS : [...SERVER_STEPS, QUERY_STEP];
  return { name, id, steps: steps.map((step) => skipped(step, why)), durationMs: 0 };
}

/** The result of a call about the server; it succeeded if there is no problem. */
interface EndedCall {
  readonly endpoint: ApiEndpoint;
  readonly problem?: Problem;
}

/** The calls that ended by themselves; canceled calls are inconclusive. */
function endedCalls({ poll, socket }: ServerAttempts): readonly EndedCall[] {
  return [...endedCall('resources', poll), ...endedCall('websocket', socket)];
}

function endedCall(endpoint: ApiEndpoint, tried: TrialResult | undefined): readonly EndedCall[] {
  if (tried === undefined) return [];
  const { isAnswered, problem } = tried;
  if (isAnswered) return [{ endpoint }];
  return problem === undefined || problem instanceof Canceled ? [] : [{ endpoint, problem }];
}

function foundFinding(tried: ServerAttempts): Finding<ServerStep> {
  const calls = endedCalls(tried);
  const problems = calls.flatMap(({ problem }) => problem ?? []);
  const missing = problems.find(({ cause }) => cause === 'not_found');
  if (missing !== undefined) return problemFinding('found', missing);
  const isProof = ({ endpoint, problem }: EndedCall) =>
    verdictOf({ endpoint, cause: problem?.cause, fromPanel: true }).panel === 'works';
  if (calls.some(isProof)) {
    return passed('found', 'the panel has this server');
  }
  const refused = problems.find(({ cause }) => cause === 'unauthorized' || CAUSES[cause].scope === 'key');
  return refused === undefined
    ? skipped('found', 'unknown: no call got a response')
    : problemFinding('found', refused);
}

const POLL_MODE = 'not tested: mode is poll';

function consoleFindings(tried: ServerAttempts): readonly Finding<ServerStep>[] {
  const { mode, poll, socket } = tried;
  if (socket === undefined) {
    const why = mode === 'poll' ? POLL_MODE : `not tested: ${skipReason(poll)}`;
    return CONSOLE_STEPS.map((step) => skipped(step, why));
  }
  const { step: last, problem } = socket;
  return CONSOLE_STEPS.map((step) => {
    if (problem === undefined || SERVER_STEPS.indexOf(step) < SERVER_STEPS.indexOf(last))
      return passed(step, passedDetail(step, tried.origin, socket));
    if (step === last) return problemFinding(step, problem);
    const isStopped = problem instanceof Canceled && problem.code === undefined;
    const why = last === 'credentials' ? 'there is no token' : `the ${last} failed`;
    return skipped(step, isStopped ? problem.message : `not tested: ${why}`);
  });
}

function passedDetail(step: ConsoleStep, origin: string, { credentials, state }: TrialResult): string {
  switch (step) {
    case 'credentials':
      return `token valid for ${Math.round((credentials?.lifetimeMs ?? 0) / 60_000)} min`;
    case 'upgrade':
      return `${hostOf(credentials?.socketUrl ?? '')} accepted Origin ${origin}`;
    case 'auth':
      return 'the node accepted the token';
    case 'stats':
      return state ?? 'received';
  }
}

const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : 'the node');

function skipReason(poll: TrialResult | undefined): string {
  const problem = poll?.problem;
  if (problem === undefined) return 'the panel did not respond';
  if (problem instanceof Canceled) return problem.message;
  const reason = lastingRefusal(problem)?.reason;
  return reason === undefined ? problem.detail : `the panel reports ${reason}`;
}

function resourcesFinding({ mode, poll }: ServerAttempts): Finding<ServerStep> {
  if (poll === undefined) return skipped('resources', `not tested: mode is ${mode}`);
  const { problem, state } = poll;
  return problem === undefined
    ? passed('resources', state ?? 'responded')
    : problemFinding('resources', problem);
}

function queryFinding(query: Asked | string): Finding<ServerStep> {
  if (typeof query === 'string') return skipped(QUERY_STEP, query);
  const { problem, players, bots = 0, playersMax, answeredAt, durationSeconds } = query;
  if (problem !== undefined) return problemFinding(QUERY_STEP, problem);
  const of = playersMax === undefined ? '' : ` of ${playersMax}`;
  const counted = players === undefined ? 'players hidden' : `${players}${of} players`;
  const withBots = bots === 0 ? counted : `${counted} and ${bots} bots`;
  const where = answeredAt === undefined ? '' : ` from ${answeredAt}`;
  return passed(QUERY_STEP, `${withBots}; response${where} in ${Math.round(durationSeconds * 1_000)} ms`);
}
