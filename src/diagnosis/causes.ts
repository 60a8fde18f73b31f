// All causes by code.
import type { CauseCode, Problem } from '../domain/problems.ts';
import { BLOCKED_REASONS, type BlockedReason } from '../domain/server.ts';
import { withAdvice } from '../text/sentences.ts';
import type { Cause } from './cause-table.ts';
import { EXPORTER_CAUSES } from './exporter-causes.ts';
import { KEY_CAUSES } from './key-causes.ts';
import { NODE_CAUSES } from './node-causes.ts';
import { PANEL_CAUSES } from './panel-causes.ts';
import { SERVER_CAUSES } from './server-causes.ts';

/** Every cause by code, in the order of the scopes. */
export const CAUSES: Readonly<Record<CauseCode, Cause>> = {
  ...SERVER_CAUSES,
  ...NODE_CAUSES,
  ...PANEL_CAUSES,
  ...KEY_CAUSES,
  ...EXPORTER_CAUSES,
};

/**
 * The title without its first word, where the server, node or panel is already named: `unreachable`
 * for `node unreachable`.
 */
export function shortTitle(code: CauseCode): string {
  const { scope, title } = CAUSES[code];
  return title.startsWith(`${scope} `) ? title.slice(scope.length + 1) : title;
}

/** Whether the cause is a normal condition, such as a suspension, and not a failure. */
export function isFact(cause: CauseCode | undefined): boolean {
  return cause !== undefined && CAUSES[cause].severity === 'fact';
}

/** The detail of a problem, followed by the remedy. */
export function withRemedy({ cause, detail }: Problem): string {
  return withAdvice(detail, CAUSES[cause].remedy);
}

/**
 * A problem on one line that begins with the name of its subject: what happened, the detail, and
 * what to do.
 */
export function problemLine(problem: Problem): string {
  return `${shortTitle(problem.cause)}: ${withRemedy(problem)}`;
}

/**
 * The state or refusal that prevents a server from being monitored until someone changes it;
 * undefined for every other cause. Problems of the panel or its API key block no server: they are
 * reported once, for the panel.
 */
export function blockedReason(cause: CauseCode): BlockedReason | undefined {
  const { scope, lasting } = CAUSES[cause];
  if (!lasting || scope === 'key' || scope === 'panel') return undefined;
  return BLOCKED_REASONS.find((reason) => reason === cause) ?? 'forbidden';
}
