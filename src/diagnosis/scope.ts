import type { CauseCode, Problem, Scope } from '../domain/problem.ts';
import type { ApiEndpoint } from '../domain/telemetry.ts';
import { CAUSES, isPanelWide } from './causes.ts';

/**
 * What the end of one call says of the panel as a whole:
 * `proof` it answered and accepted the key; `reached` it answered; `decisive` it, or the key, is of no use; `doubt` the same may be
 * true, but a single path or node can look like that; `nothing` neither.
 */
export type Weight = 'proof' | 'reached' | 'decisive' | 'doubt' | 'nothing';

/** Causes that come before the panel could have asked a node, or before any path was looked at. */
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

/** Answers in the panel's own form that may come before it looks at the key. */
const BEFORE_THE_KEY: ReadonlySet<CauseCode> = new Set(['rate_limited', 'console_limit', 'bad_request']);

/**
 * Weighs the end of one call; undefined is a success.
 *
 * | cause | `/resources` | other endpoints |
 * |---|---|---|
 * | none, or a refusal in the panel's form that speaks of a server or node | proof | proof |
 * | 404 of the listing: a panel without one | – | reached |
 * | rate limit, 400 | reached | reached |
 * | 401, which may be a permission's | doubt | doubt; the listing needs no permission: decisive |
 * | no connection (DNS, TCP, TLS, proxy) | decisive | decisive |
 * | timeout | doubt: it waits for a node (`node_silent`) | decisive |
 * | a foreign form, 5xx | doubt | doubt: a firewall may block one path |
 * | the key is refused in so many words | decisive | decisive |
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

/** The panel's trouble is assumed once so many subjects met it, or all of them when there are fewer. */
const SUBJECTS_NEEDED = 3;

/** So many failures in a row are worth a call that asks no node, even if they are all about the same server: it may be the only one that asks. */
const FAILURES_NEEDED = 5;

/** What is known against a panel that still counts as well. */
export interface Evidence {
  /** Whom the calls were about that ended decisively: a server, or the panel itself. */
  readonly decisive: readonly string[];
  /** The scope of those ends: a key that is refused and a panel that can't be reached are told apart. */
  readonly scope: Scope | undefined;
  readonly doubts: readonly string[];
  /** The newest problem behind a doubt. */
  readonly doubt: Problem | undefined;
  /** Calls in a row that ended decisively or in doubt. */
  readonly failures: number;
  /** Enough for the panel's trouble, if that is what it is: a call that asks no node should tell. */
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

/** The end of one call to a panel. */
export interface CallEnd {
  readonly endpoint: ApiEndpoint;
  /** Whom the call was about: trouble must be met by several before it is the panel's. */
  readonly subject: string;
  /** Undefined for a success. */
  readonly problem: Problem | undefined;
  /** The call was made to settle doubts: it asks no node, and its end decides. */
  readonly isVerification: boolean;
  readonly fleetSize: number;
}

export type Judgment =
  /** As far as is known; the evidence says whether there is doubt. */
  | { readonly type: 'well'; readonly evidence: Evidence }
  /** The panel, or its key, is of no use to any server. */
  | { readonly type: 'down'; readonly problem: Problem };

/** Whether the trouble is the panel's, after one more call has ended; pure. */
export function judge(before: Evidence, end: CallEnd): Judgment {
  const { endpoint, problem, isVerification } = end;
  const weight = weigh(endpoint, problem?.cause);
  if (problem === undefined || weight === 'proof') return { type: 'well', evidence: NO_EVIDENCE };
  if (isVerification) return verified(before, weight, problem);
  if (weight === 'nothing') return { type: 'well', evidence: before };
  if (weight === 'reached') return { type: 'well', evidence: afterAnswer(before) };
  const needed = neededSubjects(end.fleetSize);
  const evidence =
    weight === 'decisive' ? withDecisive(before, end, problem) : withDoubt(before, end, problem);
  if (evidence.decisive.length >= needed && weight === 'decisive') return { type: 'down', problem };
  // Whoever met a connection failure before counts as well: a panel may break down in more than one way at a time.
  const met = new Set([...evidence.doubts, ...evidence.decisive]).size;
  const isDoubtful = met >= needed || evidence.failures >= FAILURES_NEEDED;
  return { type: 'well', evidence: { ...evidence, isDoubtful } };
}

/** How many subjects must meet trouble before it may be that of all `fleetSize` servers. */
export function neededSubjects(fleetSize: number): number {
  return Math.max(1, Math.min(SUBJECTS_NEEDED, fleetSize));
}

/** The panel was reached, which says nothing about its key. */
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
  // The panel answered, but has no listing that could vouch for the key: servers that were all refused are all there is to go by.
  if (weight === 'reached' && (doubt?.cause === 'unauthorized' || doubt?.cause === 'key_refused'))
    return { type: 'down', problem: asKeyProblem(doubt) };
  return { type: 'well', evidence: NO_EVIDENCE };
}

/** A 401 that every server meets is the key's. */
function asKeyProblem(problem: Problem): Problem {
  return problem.cause === 'unauthorized' ? { ...problem, cause: 'key_refused' } : problem;
}

const including = (subjects: readonly string[], subject: string) =>
  subjects.includes(subject) ? subjects : [...subjects, subject];
