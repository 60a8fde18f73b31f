/** Which failures make a subject suspected; pure, over what the tallies count. */

import type { Problem } from '../../domain/problems.ts';
import { NEVER } from '../../domain/time.ts';
import {
  type Channel,
  nodePolls,
  nodeSockets,
  PATHS,
  type Path,
  pathSubject,
  type Subject,
} from '../subjects.ts';
import type { Group } from './evidence-group.ts';
import type { Tally } from './tally.ts';

/** The most servers that have to fail. */
const SERVERS_NEEDED = 3;

/** Facts about other subjects that the decision needs. */
export interface Known {
  readonly find: (subject: Subject) => Tally | undefined;
  readonly isBlamed: (subject: Subject) => boolean;
  /** When the panel last worked, and accepted the key. */
  readonly provenAt: number;
}

/**
 * The problem of a suspected subject; `unproven` if the subject will be suspected as soon as
 * another node's server works on the path. Suspected are:
 *
 * - the panel, if a call failed in a way that may be the panel's, and none has worked since that
 *   call started;
 * - a path, if three of its servers failed, on at least two nodes, or all of them, if these are at
 *   least two, and another path has worked since; servers of unknown nodes count as those of
 *   several, so that a path that fails before the list is read takes few calls;
 * - the server list, if it failed, and another path has worked since;
 * - the account's consoles, if three servers (or all, at least two) were denied for the same cause,
 *   the panel has accepted the key since, and no server is granted its console;
 * - a node's sockets or its polls, if three of its servers (or all) failed in a way that only the
 *   node causes; or if as many, at least two, failed in a way that the panel causes, too, and
 *   another node's server has worked there after the last of them, which a refusal of a single
 *   server doesn't prove; or if one failed during an outage of the node's other subject.
 */
export function findSuspicion(tally: Tally, known: Known): Problem | 'unproven' | undefined {
  if (tally.subject === 'panel') return tally.newestProblem();
  if (tally.subject === 'consoles') return ofConsoles(tally, known);
  return tally.node === undefined ? ofPath(tally, known) : ofNode(tally, tally.node, known);
}

/** The path of the API by which the channel's servers are asked. */
export function pathBehind(channel: Channel): Path {
  return channel === 'sockets' ? 'websocket' : channel;
}

function ofNode(tally: Tally, node: string, { find, isBlamed }: Known): Problem | 'unproven' | undefined {
  const isSockets = tally.channel === 'sockets';
  // If the node's other subject has an outage, the next failure has the same reason.
  if (isBlamed(isSockets ? nodePolls(node) : nodeSockets(node))) return tally.newestProblem();
  const needed = Math.min(SERVERS_NEEDED, tally.counted);
  if (tally.failedIn('fails') >= needed && tally.failedIn('fails') > 0)
    return tally.newestProblemIn(tally.group('fails'));
  if (tally.failed < Math.max(2, needed)) return undefined;
  const worksAt = find(pathSubject(pathBehind(tally.channel)))?.worksAtBeside(node) ?? NEVER;
  // The first failure may be of a server that is rarely asked, and much older than the outage.
  return worksAt > tally.failedAt ? tally.newestProblem() : 'unproven';
}

function ofPath(tally: Tally, known: Known): Problem | undefined {
  const { failingGroups, failed, counted, channel } = tally;
  if (failed < Math.min(SERVERS_NEEDED, counted)) return undefined;
  const isOfNodes = failingGroups >= 2 || tally.isFailing(undefined);
  const isOfSeveral = failed >= 2 && (isOfNodes || failed === counted);
  if (!isOfSeveral && channel !== 'listing') return undefined;
  return worksSince(known, tally.failsSince, channel) ? tally.newestProblem() : undefined;
}

function ofConsoles(tally: Tally, { provenAt }: Known): Problem | undefined {
  const needed = Math.max(2, Math.min(SERVERS_NEEDED, tally.counted));
  // Of several causes that are frequent enough, the one that began first.
  let first: Group | undefined;
  for (const group of tally.failing) {
    if (group.failed < needed) continue;
    const isFirst = first === undefined || group.failsSince < first.failsSince;
    if (isFirst || (group.failsSince === first?.failsSince && String(group.key) < String(first?.key)))
      first = group;
  }
  // A panel that refuses the key denies consoles, too, and may respond to other paths before it
  // checks the key.
  return first !== undefined && provenAt >= first.failsSince ? tally.newestProblemIn(first) : undefined;
}

/** Has another path worked since the first of the failed calls started? */
function worksSince({ find }: Known, since: number, but: Channel): boolean {
  return PATHS.some((path) => path !== but && (find(pathSubject(path))?.worksAt ?? NEVER) > since);
}
