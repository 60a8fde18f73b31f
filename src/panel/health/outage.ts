/** An outage: suspected, then blamed once its trials have failed; pure steps between its states. */

import { CAUSES } from '../../diagnosis/causes.ts';
import { outageProblem } from '../../diagnosis/outage-problem.ts';
import type { Problem } from '../../domain/problems.ts';
import { PATHS, pathSubject, type Subject, subjectChannel } from '../subjects.ts';
import type { Outcome } from './outcome.ts';

/** Instants are monotonic milliseconds. */
export interface Outage {
  /** Undefined until something has failed. */
  readonly problem: Problem | undefined;
  readonly suspectedAt: number;
  /** Undefined while the subject is only suspected: no call is held and no problem shown before. */
  readonly blamedAt: number | undefined;
  /** The next trial may start at this instant. */
  readonly trialAt: number;
  /** Trials that failed. */
  readonly trials: number;
  readonly trial: Trial | undefined;
}

/** The trial under way. */
export interface Trial {
  readonly server: string;
  readonly since: number;
  /** A socket is tried with new credentials: the panel may give another address for the node. */
  readonly isFresh: boolean;
}

/**
 * Milliseconds between the starts of trials: 15 s after the first that failed, 30 s after the
 * second, then always 60 s.
 */
export const TRIAL_GAPS_MS: readonly number[] = [15_000, 30_000, 60_000];
/**
 * Of the panel and of a node's sockets: the recovery of either should be noticed within 30 s,
 * because a whole fleet waits for it. These trials take no calls from others: a connect rarely
 * needs one, and while the panel is down, no other calls are made.
 */
export const SHORT_TRIAL_GAPS_MS: readonly number[] = [15_000, 25_000];
/** Long, because only a person grants permissions, and each trial takes from people's own limit. */
const CONSOLE_TRIAL_GAPS_MS: readonly number[] = [300_000];

/** Milliseconds from the start of a trial to the next one, after `failed` failed trials. */
export function trialGapMs(subject: Subject, failed: number): number {
  const isShort = subject === 'panel' || subjectChannel(subject) === 'sockets';
  const ofOthers = isShort ? SHORT_TRIAL_GAPS_MS : TRIAL_GAPS_MS;
  const gaps = subject === 'consoles' ? CONSOLE_TRIAL_GAPS_MS : ofOthers;
  return gaps[Math.min(Math.max(failed, 1), gaps.length) - 1] ?? 0;
}

export function suspected(problem: Problem | undefined, now: number, trialAt: number): Outage {
  return { problem, suspectedAt: now, blamedAt: undefined, trialAt, trials: 0, trial: undefined };
}

/** Makes a trial of the panel due at once. A panel that is down stays down until that trial. */
export function withCheck(outage: Outage | undefined, now: number): Outage {
  return { ...(outage ?? suspected(undefined, now, now)), trialAt: now, trial: undefined };
}

/** Makes the next trial due at once, unless one is under way. */
export function hastened(outage: Outage, now: number): Outage {
  return { ...outage, trialAt: Math.min(outage.trialAt, now) };
}

/** A server's trial begins. */
export function withTrial(outage: Outage, server: string, now: number): Outage {
  return { ...outage, trial: { server, since: now, isFresh: outage.trials % 2 === 1 } };
}

/**
 * The outage after a trial that failed with this problem, or that proved nothing (undefined). It is
 * blamed once enough trials have failed: two of the panel, one of others. The next trial is due one
 * gap after the start of this one; of a path, the first gap if it failed for another cause than
 * before, because that may be the cause of the node that was chosen.
 */
export function blamedIfTrialFailed(
  outage: Outage,
  subject: Subject,
  problem: Problem | undefined,
  now: number,
): Outage {
  if (outage.trial === undefined) return outage;
  const trials = outage.trials + (problem === undefined ? 0 : 1);
  // One trial is enough for a rejected key: only the panel itself rejects keys.
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
 * The problem of a blamed subject as it is shown: that of the subject, not of the call that failed.
 */
export function shownProblem(subject: Subject, outage: Outage | undefined): Problem | undefined {
  const { problem, blamedAt } = outage ?? {};
  if (problem === undefined || blamedAt === undefined) return undefined;
  if (subject === 'consoles' || subject === 'panel') return outageProblem(subject, problem);
  return outageProblem(PATHS.find((one) => subject === pathSubject(one)) ?? 'node', problem);
}

/** The problem of a subject that a server tried; undefined if something else failed. */
export function trialProblem(subject: Subject, { signs, problem }: Outcome): Problem | undefined {
  const ofOthers = isOfPath(subject) || subject === 'panel' ? signs.path : signs.node;
  const sign = subject === 'consoles' ? signs.console : ofOthers;
  return sign === 'fails' || sign === 'may fail' ? problem : undefined;
}

function isOfPath(subject: Subject): boolean {
  return subject.startsWith('path ');
}
