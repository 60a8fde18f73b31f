import type { Problem } from '../domain/problem.ts';

/**
 * Whether something works: `closed` while it does; `open` with a problem after enough failures without a success between them;
 * `doubtful` while it hasn't shown that it works, or has become slow. While a circuit isn't closed, one trial at a time may start.
 */
export type Circuit =
  | { readonly state: 'closed'; readonly failed: readonly string[]; readonly failures: number }
  | (Doubted & { readonly state: 'doubtful' })
  | (Doubted & { readonly state: 'open'; readonly problem: Problem; readonly openedAt: number });

interface Doubted {
  /** The distinct subjects or groups that failed since the last success. */
  readonly failed: readonly string[];
  readonly failures: number;
  /** The next trial may start at this monotonic instant. */
  readonly trialAt: number;
  /** How many gaps between trials have passed. */
  readonly trials: number;
  /** The trial that is under way, and when it started. */
  readonly trying?: { readonly subject: string; readonly since: number } | undefined;
}

export type CircuitEvent =
  | { readonly type: 'succeeded' }
  | {
      readonly type: 'failed';
      /** Who failed: if it is the trial's subject, the trial is over. */
      readonly subject: string;
      /** What counts as distinct, if that is more than the subject, such as its node. */
      readonly group?: string | undefined;
      readonly problem: Problem;
      readonly now: number;
      /** How many distinct subjects must fail. */
      readonly needed: number;
      /** A single failure suffices. */
      readonly isDecisive?: boolean;
    }
  /** Something else shows that its problem may be over. */
  | { readonly type: 'doubted' }
  /** Something takes so long that it may never end. */
  | { readonly type: 'late'; readonly now: number }
  /** The subject's trial started. */
  | { readonly type: 'tried'; readonly subject: string; readonly now: number }
  /** The subject's trial ended without showing anything. */
  | { readonly type: 'withdrawn'; readonly subject: string };

export const CLOSED: Circuit = { state: 'closed', failed: [], failures: 0 };

/** The circuit of something that hasn't shown yet that it works. */
export const DOUBTFUL: Circuit = {
  state: 'doubtful',
  failed: [],
  failures: 0,
  trialAt: Number.NEGATIVE_INFINITY,
  trials: 0,
};

/** Milliseconds between the starts of trials; the last gap repeats. */
export const TRIAL_GAPS_MS: readonly number[] = [15_000, 30_000, 60_000];

/** The most subjects that have to fail. */
const SUBJECTS_NEEDED = 3;

/** How many of this many subjects have to fail before the circuit opens. */
export function subjectsNeeded(subjects: number): number {
  return Math.max(1, Math.min(SUBJECTS_NEEDED, subjects));
}

/** The circuit after an event; pure. */
export function stepCircuit(circuit: Circuit, event: CircuitEvent, gaps = TRIAL_GAPS_MS): Circuit {
  switch (event.type) {
    case 'succeeded':
      return CLOSED;
    case 'failed':
      return afterFailure(circuit, event, gaps);
    case 'doubted':
      return circuit.state === 'open' ? { ...circuit, state: 'doubtful' } : circuit;
    case 'late':
      if (circuit.state !== 'closed') return circuit;
      return { ...circuit, state: 'doubtful', ...firstTrial(event.now, gaps) };
    case 'tried':
      return circuit.state === 'closed'
        ? circuit
        : { ...circuit, trying: { subject: event.subject, since: event.now } };
    case 'withdrawn':
      return isDoubted(circuit) && isTrialBy(circuit, event.subject)
        ? { ...circuit, trying: undefined }
        : circuit;
  }
}

/** Isn't the circuit closed? */
export function isDoubted(circuit: Circuit): circuit is Exclude<Circuit, { state: 'closed' }> {
  return circuit.state !== 'closed';
}

/** Is the subject's trial under way? */
export function isTrialBy(circuit: Circuit, subject: string): boolean {
  return isDoubted(circuit) && circuit.trying?.subject === subject;
}

/** The circuit's problem; a doubtful one has none. */
export function problemOfCircuit(circuit: Circuit): Problem | undefined {
  return circuit.state === 'open' ? circuit.problem : undefined;
}

function afterFailure(
  circuit: Circuit,
  {
    subject,
    group = subject,
    problem,
    now,
    needed,
    isDecisive = false,
  }: Extract<CircuitEvent, { type: 'failed' }>,
  gaps: readonly number[],
): Circuit {
  // Those that fail later don't matter, and may be servers with ever new names.
  const isCounted = circuit.state === 'open' || circuit.failed.includes(group);
  const failed = isCounted ? circuit.failed : [...circuit.failed, group];
  const failures = circuit.failures + 1;
  const isProven = isDecisive || (failed.length >= needed && failures >= 2);
  const trial = isDoubted(circuit) ? trialAfter(circuit, subject, gaps) : firstTrial(now, gaps);
  if (circuit.state === 'open') return { ...circuit, ...trial, failed, failures, problem };
  if (isProven) return { state: 'open', problem, openedAt: now, failed, failures, ...trial };
  if (circuit.state === 'closed') return { state: 'closed', failed, failures };
  return { ...circuit, ...trial, failed, failures };
}

/**
 * When the next trial is due: a gap after the start of the last, so that a trial that hangs doesn't postpone the next. A failure
 * that isn't the trial's changes nothing: its call started before.
 */
function trialAfter(
  { trialAt, trials, trying }: Doubted,
  subject: string,
  gaps: readonly number[],
): Pick<Doubted, 'trialAt' | 'trials' | 'trying'> {
  if (trying?.subject !== subject) return { trialAt, trials, trying };
  return { trialAt: trying.since + gapAfter(trials, gaps), trials: trials + 1, trying: undefined };
}

function firstTrial(now: number, gaps: readonly number[]) {
  return { trialAt: now + gapAfter(0, gaps), trials: 1, trying: undefined };
}

function gapAfter(trials: number, gaps: readonly number[]): number {
  return gaps[Math.min(trials, gaps.length - 1)] ?? 0;
}
