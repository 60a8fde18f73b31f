// How tables of causes are written.
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
  /** Only a person, or a job on the panel, can end it: retrying within minutes is useless. */
  readonly lasting: boolean;
}

type Kind = Pick<Cause, 'severity' | 'lasting'>;

/**
 * A state in which the panel blocks a server: it is normal, and ends without the exporter's help.
 */
export const STATE: Kind = { severity: 'fact', lasting: true };

/** Something normal that may end at any time. */
export const QUIET: Kind = { severity: 'fact', lasting: false };

/** Something that is often temporary, or that stops nothing. */
export const PASSING: Kind = { severity: 'warning', lasting: false };

/** Servers can't be monitored, perhaps none of a node or a panel. */
export const DOWN: Kind = { severity: 'error', lasting: false };

/**
 * Servers can't be monitored until someone changes the configuration, a permission, the key, the
 * panel or the node.
 */
export const WRONG: Kind = { severity: 'error', lasting: true };

/** What to do about a clock. */
export const NTP = 'Enable time synchronization (NTP)';

type Texts = readonly [title: string, meaning: string, remedy: string];

/** Causes of one scope and kind. */
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
