import { CAUSES, shortTitle } from '../diagnosis/causes.ts';
import { verdictOf } from '../diagnosis/outcome.ts';
import type { Problem } from '../domain/problem.ts';
import type { CollectionMode, Expect, ServerState, ServerTarget } from '../domain/server.ts';
import type { ApiEndpoint } from '../domain/telemetry.ts';
import type { Resources } from '../panel/dialect.ts';
import { problemOf } from '../panel/errors.ts';
import type { Asked } from '../query/ask.ts';
import { lastingRefusal } from '../session/failure.ts';
import { answeredResult } from '../session/poller.ts';
import { type Attempt, Canceled, failedCall, messageOf, problemFinding } from './attempt.ts';
import { CONSOLE_STEPS, type ConsoleResult, type ConsoleStep } from './console-trial.ts';
import {
  type Finding,
  failed,
  passed,
  QUERY_STEP,
  SERVER_STEPS,
  type ServerReport,
  type ServerStep,
  skipped,
} from './report.ts';

/** What was tried of one server; attempts that weren't made are absent. */
export interface ServerAttempts {
  readonly mode: CollectionMode;
  readonly expect: Expect;
  readonly resources?: Attempt<Resources>;
  readonly console?: ConsoleResult;
  /** The result of querying the game, or why there is none; absent if the game isn't queried. */
  readonly query?: Asked | string;
}

/** Whether further calls to the panel about this server are pointless. */
export function endsServer(attempt: Attempt<unknown>): boolean {
  if (attempt.ok) return false;
  return attempt.error instanceof Canceled || lastingRefusal(problemOf(attempt.error))?.pollable === false;
}

/** The findings from everything that was tried of a server; the steps are in display order. */
export function serverOutcome(tried: ServerAttempts): Pick<ServerReport, 'steps' | 'held'> {
  const steps = serverFindings(tried);
  // If a server may be off, a state that the panel holds it in is normal.
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
export function stateOf({ resources, console }: ServerAttempts): ServerState | undefined {
  return console?.state ?? (resources?.ok === true ? resources.value.sample?.state : undefined);
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
function endedCalls({ resources, console }: ServerAttempts): readonly EndedCall[] {
  const calls: EndedCall[] = [];
  if (resources?.ok === true) calls.push({ endpoint: 'resources' });
  else if (resources !== undefined && !(resources.error instanceof Canceled)) {
    calls.push({ endpoint: 'resources', problem: problemOf(resources.error) });
  }
  if (console?.credentials !== undefined) calls.push({ endpoint: 'websocket' });
  else if (console?.failure !== undefined && !(console.failure.problem instanceof Canceled)) {
    calls.push({ endpoint: 'websocket', problem: console.failure.problem });
  }
  return calls;
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
    ? skipped('found', 'unknown: no call was answered')
    : problemFinding('found', refused);
}

const POLL_MODE = 'not tested: mode is poll';

function consoleFindings({ mode, resources, console }: ServerAttempts): readonly Finding<ServerStep>[] {
  if (console === undefined) {
    const why = mode === 'poll' ? POLL_MODE : `not tested: ${skipReason(resources)}`;
    return CONSOLE_STEPS.map((step) => skipped(step, why));
  }
  const { failure } = console;
  if (failure === undefined) return CONSOLE_STEPS.map((step) => passed(step, passedDetail(step, console)));
  const { step: failedStep, problem } = failure;
  const failedAt = CONSOLE_STEPS.indexOf(failedStep);
  return CONSOLE_STEPS.map((step, index) => {
    if (index < failedAt) return passed(step, passedDetail(step, console));
    if (index === failedAt) return problemFinding(step, problem);
    const isStopped = problem instanceof Canceled && problem.code === undefined;
    const why = failedStep === 'credentials' ? 'there is no token' : `the ${failedStep} failed`;
    return skipped(step, isStopped ? problem.message : `not tested: ${why}`);
  });
}

function passedDetail(step: ConsoleStep, { credentials, origin, state }: ConsoleResult): string {
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

function skipReason(resources: Attempt<Resources> | undefined): string {
  if (resources === undefined || resources.ok) return 'the panel did not answer';
  if (resources.error instanceof Canceled) return messageOf(resources.error);
  const problem = problemOf(resources.error);
  const reason = lastingRefusal(problem)?.reason;
  return reason === undefined ? problem.detail : `the panel reports ${reason}`;
}

function resourcesFinding({ mode, resources }: ServerAttempts): Finding<ServerStep> {
  if (resources === undefined) return skipped('resources', `not tested: mode is ${mode}`);
  if (!resources.ok) return failedCall('resources', resources.error);
  const result = answeredResult(resources.value);
  return result.type === 'answered'
    ? passed('resources', resources.value.sample?.state ?? 'answered')
    : failed('resources', result.problem.cause, result.problem.detail);
}

function queryFinding(query: Asked | string): Finding<ServerStep> {
  if (typeof query === 'string') return skipped(QUERY_STEP, query);
  const { problem, players, playersMax, durationSeconds } = query;
  if (problem !== undefined) return problemFinding(QUERY_STEP, problem);
  const of = playersMax === undefined ? '' : ` of ${playersMax}`;
  return passed(
    QUERY_STEP,
    `${players ?? 0}${of} players; answered in ${Math.round(durationSeconds * 1_000)} ms`,
  );
}
