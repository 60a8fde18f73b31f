// The types and kinds of the tables of causes.
import type { CauseCode, CauseCodes, Scope } from '../domain/problems.ts';

/**
 * How serious a cause is: a fact is normal, a warning limits what is monitored, an error stops it.
 */
export type Severity = 'fact' | 'warning' | 'error';

/** The facts about a cause, independent of where it occurs. */
export interface Cause {
  readonly code: CauseCode;
  readonly scope: Scope;
  /** A short text for a heading or a table cell. */
  readonly title: string;
  /** What it usually means, in one sentence or two. */
  readonly meaning: string;
  /** What to do, in one sentence or two. */
  readonly remedy: string;
  readonly severity: Severity;
  /**
   * Whether only a person, or a job on the panel, can end it, so that retrying within minutes is
   * useless.
   */
  readonly lasting: boolean;
}

type Kind = Pick<Cause, 'severity' | 'lasting'>;

/**
 * A state in which the panel blocks a server. It is normal, and ends without the exporter's help.
 */
export const LASTING_FACT: Kind = { severity: 'fact', lasting: true };

/** A normal condition that may end at any time. */
export const PASSING_FACT: Kind = { severity: 'fact', lasting: false };

/** A failure that is often temporary, or that stops nothing. */
export const PASSING_WARNING: Kind = { severity: 'warning', lasting: false };

/** A failure that prevents servers from being monitored, perhaps all of a node or panel. */
export const PASSING_ERROR: Kind = { severity: 'error', lasting: false };

/**
 * A failure that lasts until someone changes the configuration, a permission, the key, the panel or
 * the node.
 */
export const LASTING_ERROR: Kind = { severity: 'error', lasting: true };

/** The remedy for a wrong clock. */
export const NTP = 'Enable time synchronization (NTP)';

type Texts = readonly [title: string, meaning: string, remedy: string];

/** Defines the causes of one scope and kind. */
export function causes<Subject extends Scope, Code extends CauseCodes[Subject]>(
  scope: Subject,
  kind: Kind,
  texts: Readonly<Record<Code, Texts>>,
): Readonly<Record<Code, Cause>> {
  const rows = Object.entries<Texts>(texts).map(([code, [title, meaning, remedy]]) => [
    code,
    { code, scope, ...kind, title, meaning, remedy },
  ]);
  return Object.fromEntries(rows) as Record<Code, Cause>;
}
