import type { CauseCode, Problem, Scope } from '../domain/problem.ts';
import type { ApiEndpoint } from '../domain/telemetry.ts';
import { CAUSES, isPanelWide } from './causes.ts';

/**
 * What the outcome of one call says about the panel as a whole:
 * `proof`: it answered and accepted the API key; `reached`: it answered; `decisive`: it, or the key, can't be used; `doubt`: the
 * same may be true, but a single path or node can cause this too; `nothing`: none of these.
 */
export type Weight = 'proof' | 'reached' | 'decisive' | 'doubt' | 'nothing';

/** Causes that occur before the panel could have asked a node, or before any path was evaluated. */
const ON_THE_WAY: ReadonlySet<CauseCode> = new Set([
  'dns',
  'connection',
  'connection_cut',
  'proxy',
  'https_needed',
  'tls_unknown_ca',
  'tls_expired',
  'tls_not_yet_valid',
  'tls_wrong_name',
  'tls_client_certificate',
  'tls_plain_port',
  'tls',
]);

/** Answers in the panel's own form that may precede its check of the API key. */
const BEFORE_THE_KEY: ReadonlySet<CauseCode> = new Set(['rate_limited', 'console_limit', 'bad_request']);

/**
 * Weighs the outcome of one call; undefined means success.
 *
 * | cause | `/resources` | other endpoints |
 * |---|---|---|
 * | none, or a refusal in the panel's form that concerns a server or node | proof | proof |
 * | 404 of the listing: the panel has none | – | reached |
 * | rate limit, 400 | reached | reached |
 * | 401, possibly a missing permission | doubt | doubt; decisive for the listing, which needs no permission |
 * | no connection (DNS, TCP, TLS, proxy) | decisive | decisive |
 * | timeout | doubt: it waits for a node (`node_silent`) | decisive |
 * | a foreign form, 5xx | doubt | doubt: a firewall may block one path |
 * | the API key is refused explicitly | decisive | decisive |
 */
export function weigh(endpoint: ApiEndpoint, cause: CauseCode | undefined): Weight {
  if (cause === undefined) return 'proof';
  if (cause === 'unauthorized' || cause === 'node_silent') return 'doubt';
  if (BEFORE_THE_KEY.has(cause)) return 'reached';
  const { scope } = CAUSES[cause];
  if (scope === 'server' || scope === 'node') return endpoint === 'listing' ? 'reached' : 'proof';
  if (!isPanelWide(CAUSES[cause])) return 'nothing';
  if (cause === 'key_refused') return endpoint === 'listing' ? 'decisive' : 'doubt';
  if (scope === 'key' || ON_THE_WAY.has(cause)) return 'decisive';
  if (cause === 'timeout') return 'decisive';
  return 'doubt';
}

/** The panel counts as down once this many subjects are affected, or all of them if there are fewer. */
const SUBJECTS_NEEDED = 3;

/**
 * This many consecutive failures justify a call that involves no node, even if they all concern the same server: it may be the
 * only one that makes calls.
 */
const FAILURES_NEEDED = 5;

/** The evidence against a panel that still counts as working. */
export interface Evidence {
  /** The subjects of the calls with a decisive outcome: a server, or the panel itself. */
  readonly decisive: readonly string[];
  /** The scope of those outcomes, which distinguishes a refused key from an unreachable panel. */
  readonly scope: Scope | undefined;
  readonly doubts: readonly string[];
  /** The newest problem behind a doubt. */
  readonly doubt: Problem | undefined;
  /** Consecutive calls with a decisive or doubtful outcome. */
  readonly failures: number;
  /** There is enough evidence to suspect the panel: a call that involves no node should decide. */
  readonly isDoubtful: boolean;
}

export const NO_EVIDENCE: Evidence = {
  decisive: [],
  scope: undefined,
  doubts: [],
  doubt: undefined,
  failures: 0,
  isDoubtful: false,
};

/** The outcome of one call to a panel. */
export interface CallEnd {
  readonly endpoint: ApiEndpoint;
  /** What the call was about: a problem must affect several subjects before it counts as the panel's. */
  readonly subject: string;
  /** Undefined on success. */
  readonly problem: Problem | undefined;
  /** The call was made to settle doubts: it involves no node, and its outcome decides. */
  readonly isVerification: boolean;
  readonly fleetSize: number;
}

export type Judgment =
  /** The panel works as far as is known; the evidence says whether there is doubt. */
  | { readonly type: 'healthy'; readonly evidence: Evidence }
  /** The panel, or its API key, can't serve any server. */
  | { readonly type: 'down'; readonly problem: Problem };

/** Whether the panel is in trouble after the outcome of one more call; pure. */
export function judge(before: Evidence, end: CallEnd): Judgment {
  const { endpoint, problem, isVerification } = end;
  const weight = weigh(endpoint, problem?.cause);
  if (problem === undefined || weight === 'proof') return { type: 'healthy', evidence: NO_EVIDENCE };
  if (isVerification) return verified(before, weight, problem);
  if (weight === 'nothing') return { type: 'healthy', evidence: before };
  if (weight === 'reached') return { type: 'healthy', evidence: afterAnswer(before) };
  const needed = neededSubjects(end.fleetSize);
  const evidence =
    weight === 'decisive' ? withDecisive(before, end, problem) : withDoubt(before, end, problem);
  if (evidence.decisive.length >= needed && weight === 'decisive') return { type: 'down', problem };
  // Subjects with an earlier connection failure count as well: a panel may fail in more than one way at a time.
  const affected = new Set([...evidence.doubts, ...evidence.decisive]).size;
  const isDoubtful = affected >= needed || evidence.failures >= FAILURES_NEEDED;
  return { type: 'healthy', evidence: { ...evidence, isDoubtful } };
}

/** How many subjects must be affected before the problem may be that of all `fleetSize` servers. */
export function neededSubjects(fleetSize: number): number {
  return Math.max(1, Math.min(SUBJECTS_NEEDED, fleetSize));
}

/** The evidence after the panel was reached, which says nothing about its API key. */
function afterAnswer(before: Evidence): Evidence {
  return before.scope === 'key' ? before : { ...before, decisive: [], scope: undefined, failures: 0 };
}

function withDecisive(before: Evidence, { subject }: CallEnd, { cause }: Problem): Evidence {
  const { scope } = CAUSES[cause];
  const decisive = including(scope === before.scope ? before.decisive : [], subject);
  return { ...before, decisive, scope, failures: before.failures + 1 };
}

function withDoubt(before: Evidence, { subject }: CallEnd, problem: Problem): Evidence {
  const doubts = including(before.doubts, subject);
  return { ...before, doubts, doubt: problem, failures: before.failures + 1 };
}

function verified({ doubt }: Evidence, weight: Weight, problem: Problem): Judgment {
  if (weight === 'decisive') return { type: 'down', problem };
  if (weight === 'doubt') return { type: 'down', problem: asKeyProblem(problem) };
  // The panel answered, but has no listing that could prove the key to be valid: the only evidence is that all servers were
  // refused.
  if (weight === 'reached' && (doubt?.cause === 'unauthorized' || doubt?.cause === 'key_refused'))
    return { type: 'down', problem: asKeyProblem(doubt) };
  return { type: 'healthy', evidence: NO_EVIDENCE };
}

/** A 401 that every server gets concerns the API key. */
function asKeyProblem(problem: Problem): Problem {
  return problem.cause === 'unauthorized' ? { ...problem, cause: 'key_refused' } : problem;
}

const including = (subjects: readonly string[], subject: string) =>
  subjects.includes(subject) ? subjects : [...subjects, subject];
