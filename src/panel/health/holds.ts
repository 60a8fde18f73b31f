/** Holds calls and sockets while a subject that they need has an outage. */
import type { Call } from '../scheduler/call.ts';
import { nodePolls, nodeSockets, pathSubject, type Subject } from '../subjects.ts';
import type { Health } from './health.ts';

/** Other calls wait this long for the first canary. */
const FIRST_CALL_MS = 3_000;

/** The subject that holds the call, and until when; undefined if nothing does. */
export function findHold(
  call: Call,
  health: Pick<Health, 'isKnown' | 'isBlamed' | 'outage'>,
): { readonly subject: Subject; readonly until: number } | undefined {
  const subjects = neededBy(call);
  const blamed = subjects.find((subject) => health.isBlamed(subject));
  if (blamed !== undefined) return { subject: blamed, until: Number.POSITIVE_INFINITY };
  if (health.isKnown || subjects.length === 0) return undefined;
  // Before the panel is known, only canaries start.
  const first = health.outage('panel')?.trial;
  return first && { subject: 'panel', until: first.since + FIRST_CALL_MS };
}

/**
 * May the server's socket be opened? Only if its node's sockets aren't blamed, or if the server
 * tries them.
 */
export function mayConnect(
  health: Pick<Health, 'isBlamed' | 'outage'>,
  server: string,
  node: string | undefined,
): boolean {
  if (node === undefined || !health.isBlamed(nodeSockets(node))) return true;
  return health.outage(nodeSockets(node))?.trial?.server === server;
}

/**
 * The subjects whose outages hold the call, from the panel down to the node. A trial is held only
 * by the subjects before its own: a trial of a node's sockets only by panel, path and consoles.
 */
function neededBy(call: Call): readonly Subject[] {
  const { path, isRenewal } = call;
  const [node, tries] = [call.node(), call.tries()];
  // The only call for the server list is also the trial of its path.
  const subjects: Subject[] = path === 'listing' ? ['panel'] : ['panel', pathSubject(path)];
  if (path === 'websocket') subjects.push('consoles');
  if (path === 'websocket' && node !== undefined && isRenewal !== true) subjects.push(nodeSockets(node));
  if (path === 'resources' && node !== undefined) subjects.push(nodePolls(node));
  const own = tries === undefined ? -1 : subjects.indexOf(tries);
  return own < 0 ? subjects : subjects.slice(0, own);
}
