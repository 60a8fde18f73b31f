import { CAUSES_BY_SCOPE, type CauseCode, type Scope } from '../domain/problem.ts';
import { NODE_CAUSES } from './node-causes.ts';
import { KEY_CAUSES, PANEL_CAUSES } from './panel-causes.ts';
import { EXPORTER_CAUSES, SERVER_CAUSES } from './server-causes.ts';

/** How much a cause should worry its reader: a fact is normal, a warning limits what is observed, an error stops it. */
export type Severity = 'fact' | 'warning' | 'error';

/** What is known of a cause, whoever meets it. */
export interface CauseFacts {
  /** A few words, as a heading or a table cell has them. */
  readonly title: string;
  /** What it usually means, in one sentence or two. */
  readonly meaning: string;
  /** What to do, in one sentence or two. */
  readonly remedy: string;
  readonly severity: Severity;
  /** Only a person, or a job on the panel, ends it: retrying within minutes is useless. */
  readonly lasting: boolean;
  /** Where several servers meet it, it may be the node's or the panel's. */
  readonly escalates: boolean;
}

/** A cause with its code and scope. */
export interface Cause extends CauseFacts {
  readonly code: CauseCode;
  readonly scope: Scope;
}

const FACTS: Readonly<Record<CauseCode, CauseFacts>> = {
  ...SERVER_CAUSES,
  ...NODE_CAUSES,
  ...PANEL_CAUSES,
  ...KEY_CAUSES,
  ...EXPORTER_CAUSES,
};

/** Every cause by its code, in the order of the scopes. */
export const CAUSES: Readonly<Record<CauseCode, Cause>> = Object.fromEntries(
  Object.entries(CAUSES_BY_SCOPE).flatMap(([scope, codes]) =>
    codes.map((code) => [code, { code, scope: scope as Scope, ...FACTS[code] }]),
  ),
) as Record<CauseCode, Cause>;

/** Does the cause make the whole API unusable: the panel doesn't answer as one, or the key is of no use? */
export function isPanelWide({ scope, escalates }: Cause): boolean {
  return escalates && (scope === 'panel' || scope === 'key');
}
