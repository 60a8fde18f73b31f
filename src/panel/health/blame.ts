/**
 * Decides when a subject, such as a node or a path of the panel, is blamed for the failures of its
 * servers: an outage is suspected, then blamed once its trials have failed; pure. A server that
 * fails alone shows its own problem (`session/condition.ts`).
 */

import { CAUSES } from '../../diagnosis/causes.ts';
import { outageProblem } from '../../diagnosis/outage-problem.ts';
import type { Problem } from '../../domain/problems.ts';
import { PATHS, pathSubject, type Subject, subjectChannel } from '../subjects.ts';
import type { Outcome } from './outcome.ts';

/** An outage of one subject. Instants are monotonic milliseconds. */
export interface Outage {
  /** Undefined until something has failed. */
  readonly problem: Problem | undefined;
  readonly suspectedAt: number;
  /**
   * When the subject was blamed; undefined while it is only suspected, when no call is held and no
   * problem is shown.
   */
  readonly blamedAt: number | undefined;
  /** The earliest instant of the next trial. */
  readonly trialAt: number;
  /** The number of failed trials. */
  readonly trials: number;
  readonly trial: Trial | undefined;
}

/** A running trial. */
export interface Trial {
  readonly server: string;
  readonly since: number;
  /**
   * Whether a socket is tried with new credentials, because the panel may give another address for
   * the node.
   */
  readonly isFresh: boolean;
}

/**
 * Milliseconds between the starts of trials: 15 s after the first failure, 30 s after the second,
 * then always 60 s.
 */
export const TRIAL_GAPS_MS: readonly number[] = [15_000, 30_000, 60_000];
/**
 * The same for the panel and for a node's sockets, whose recovery should be noticed within 30 s,
 * because a whole fleet waits for it. These trials take no calls from others: a connect rarely
 * needs one, and while the panel is down, no other calls are made.
 */
export const SHORT_TRIAL_GAPS_MS: readonly number[] = [15_000, 25_000];
/**
 * The same for consoles. It is long, because only a person grants permissions, and each trial uses
 * part of people's own limit.
 */
const CONSOLE_TRIAL_GAPS_MS: readonly number[] = [300_000];

/** Milliseconds from the start of a trial to the next one after `failed` failed trials. */
export function trialGapMs(subject: Subject, failed: number): number {
  const isShort = subject === 'panel' || subjectChannel(subject) === 'sockets';
  const ofOthers = isShort ? SHORT_TRIAL_GAPS_MS : TRIAL_GAPS_MS;
  const gaps = subject === 'consoles' ? CONSOLE_TRIAL_GAPS_MS : ofOthers;
  return gaps[Math.min(Math.max(failed, 1), gaps.length) - 1] ?? 0;
}

export function suspected(problem: Problem | undefined, now: number, trialAt: number): Outage {
  return { problem, suspectedAt: now, blamedAt: undefined, trialAt, trials: 0, trial: undefined };
}

/**
 * Makes a trial of the panel due at once. A panel that is down stays down until that trial has
 * ended.
 */
export function withCheck(outage: Outage | undefined, now: number): Outage {
  return { ...(outage ?? suspected(undefined, now, now)), trialAt: now, trial: undefined };
}

/** Makes the next trial due at once, unless one is running. */
export function hastened(outage: Outage, now: number): Outage {
  return { ...outage, trialAt: Math.min(outage.trialAt, now) };
}

/** Starts the trial of a server. */
export function withTrial(outage: Outage, server: string, now: number): Outage {
  return { ...outage, trial: { server, since: now, isFresh: outage.trials % 2 === 1 } };
}

/**
 * The outage after a failed trial, or after one without a result (undefined). The subject is blamed
 * once enough trials have failed: two for the panel, one for others. The next trial is due one gap
 * after the start of this one. For a path that failed for another cause than before, it is the
 * first gap, because the chosen node may be the cause.
 */
export function blamedIfTrialFailed(
  outage: Outage,
  subject: Subject,
  problem: Problem | undefined,
  now: number,
): Outage {
  if (outage.trial === undefined) return outage;
  const trials = outage.trials + (problem === undefined ? 0 : 1);
  // For a rejected key, one trial is enough, because only the panel itself rejects keys.
  const isRound = subject === 'panel' && problem !== undefined && CAUSES[problem.cause].scope !== 'key';
  const needed = isRound ? 2 : 1;
  const isBlamed = problem !== undefined && trials >= needed;
  const isOther = isOfPath(subject) && problem !== undefined && problem.cause !== outage.problem?.cause;
  return {
    ...outage,
    problem: problem ?? outage.problem,
    blamedAt: outage.blamedAt ?? (isBlamed ? now : undefined),
    trialAt: outage.trial.since + trialGapMs(subject, isOther ? 1 : trials - needed + 1),
    trials,
    trial: undefined,
  };
}

/**
 * The displayed problem of a blamed subject, which is that of the subject and not of the failed
 * call.
 */
export function shownProblem(subject: Subject, outage: Outage | undefined): Problem | undefined {
  const { problem, blamedAt } = outage ?? {};
  if (problem === undefined || blamedAt === undefined) return undefined;
  if (subject === 'consoles' || subject === 'panel') return outageProblem(subject, problem);
  return outageProblem(PATHS.find((one) => subject === pathSubject(one)) ?? 'node', problem);
}

/** The problem of the subject that a server tried; undefined if something else failed. */
export function trialProblem(subject: Subject, { signs, problem }: Outcome): Problem | undefined {
  const ofOthers = isOfPath(subject) || subject === 'panel' ? signs.path : signs.node;
  const sign = subject === 'consoles' ? signs.console : ofOthers;
  return sign === 'fails' || sign === 'may fail' ? problem : undefined;
}

function isOfPath(subject: Subject): boolean {
  return subject.startsWith('path ');
}
