/** Holds calls and sockets during an outage of a subject that they need. */
import type { Call } from '../scheduler/call.ts';
import { pathSubject, pollsSubject, type Subject, socketsSubject } from '../subjects.ts';
import type { Health } from './health.ts';

/** How long other calls wait for the first canary. */
const FIRST_CALL_MS = 3_000;

/** The subject that holds the call, and the end of the hold; undefined if nothing holds it. */
export function findHold(
  call: Call,
  health: Pick<Health, 'isKnown' | 'isBlamed' | 'outage'>,
): { readonly subject: Subject; readonly until: number } | undefined {
  const subjects = neededSubjects(call);
  const blamed = subjects.find((subject) => health.isBlamed(subject));
  if (blamed !== undefined) return { subject: blamed, until: Number.POSITIVE_INFINITY };
  if (health.isKnown || subjects.length === 0) return undefined;
  // Until the panel is known to work, only canaries start.
  const first = health.outage('panel')?.trial;
  return first && { subject: 'panel', until: first.since + FIRST_CALL_MS };
}

/**
 * May the server's socket be opened? Only if its node's sockets aren't blamed, or if the server has
 * to try them.
 */
export function mayConnect(
  health: Pick<Health, 'isBlamed' | 'outage'>,
  server: string,
  node: string | undefined,
): boolean {
  if (node === undefined || !health.isBlamed(socketsSubject(node))) return true;
  return health.outage(socketsSubject(node))?.trial?.server === server;
}

/**
 * The subjects whose outages hold the call, from the panel to the node. A trial is held only by
 * subjects before its own: a trial of a node's sockets only by the panel, path and consoles.
 */
function neededSubjects(call: Call): readonly Subject[] {
  const { path, isRenewal } = call;
  const [node, tries] = [call.node(), call.tries()];
  // The call for the server list is at the same time the trial of its path.
  const subjects: Subject[] = path === 'listing' ? ['panel'] : ['panel', pathSubject(path)];
  if (path === 'websocket') subjects.push('consoles');
  if (path === 'websocket' && node !== undefined && isRenewal !== true) subjects.push(socketsSubject(node));
  if (path === 'resources' && node !== undefined) subjects.push(pollsSubject(node));
  const own = tries === undefined ? -1 : subjects.indexOf(tries);
  return own < 0 ? subjects : subjects.slice(0, own);
}
