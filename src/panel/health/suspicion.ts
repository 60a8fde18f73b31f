/**
 * Decides from the tallies which failures make a subject suspected; pure. `blame.ts` decides when
 * a suspected one is blamed.
 */

import { NEVER } from '../../domain/clock.ts';
import type { Problem } from '../../domain/problems.ts';
import {
  type Channel,
  PATHS,
  type Path,
  pathSubject,
  pollsSubject,
  type Subject,
  socketsSubject,
} from '../subjects.ts';
import type { Group } from './evidence-group.ts';
import type { Tally } from './tally.ts';

/** The maximum number of servers that have to fail. */
const SERVERS_NEEDED = 3;

/** Facts about other subjects for the decision. */
export interface KnownFacts {
  readonly find: (subject: Subject) => Tally | undefined;
  readonly isBlamed: (subject: Subject) => boolean;
  /** When the panel last worked and accepted the key. */
  readonly provenAt: number;
}

/**
 * The problem of a suspected subject; `unproven` if the subject will be suspected as soon as a
 * server of another node works on the path. Suspected are:
 *
 * - the panel, if a call failed in a way that the panel may cause, and none has worked since that
 *   call started;
 * - a path, if three of its servers failed on at least two nodes, or all of its servers if there
 *   are at least two, and another path has worked since. Servers of unknown nodes count as those of
 *   several, so that a path that fails before the list is read costs few calls;
 * - the server list, if it failed and another path has worked since;
 * - the account's consoles, if three servers (or all, if at least two) were denied for the same
 *   cause, the panel has accepted the key since, and no server has access to its console;
 * - a node's sockets or polls, if three of its servers (or all) failed in a way that only the node
 *   causes. If the panel may cause the failures, too, at least two servers are required, and a
 *   server of another node must have worked there after the last failure; a rejection of a single
 *   server doesn't show that. During an outage of the node's other subject, one failure is enough.
 */
export function findSuspicion(tally: Tally, known: KnownFacts): Problem | 'unproven' | undefined {
  if (tally.subject === 'panel') return tally.newestProblem();
  if (tally.subject === 'consoles') return ofConsoles(tally, known);
  return tally.node === undefined ? ofPath(tally, known) : ofNode(tally, tally.node, known);
}

/** The path of the API for the servers of this channel. */
export function pathBehind(channel: Channel): Path {
  return channel === 'sockets' ? 'websocket' : channel;
}

function ofNode(
  tally: Tally,
  node: string,
  { find, isBlamed }: KnownFacts,
): Problem | 'unproven' | undefined {
  const isSockets = tally.channel === 'sockets';
  // If the node's other subject has an outage, the next failure has the same reason.
  if (isBlamed(isSockets ? pollsSubject(node) : socketsSubject(node))) return tally.newestProblem();
  const needed = Math.min(SERVERS_NEEDED, tally.counted);
  if (tally.failedIn('fails') >= needed && tally.failedIn('fails') > 0)
    return tally.newestProblemIn(tally.group('fails'));
  if (tally.failed < Math.max(2, needed)) return undefined;
  const worksAt = find(pathSubject(pathBehind(tally.channel)))?.worksAtBeside(node) ?? NEVER;
  // The first failure may be that of a rarely asked server, and much older than the outage.
  return worksAt > tally.failedAt ? tally.newestProblem() : 'unproven';
}

function ofPath(tally: Tally, known: KnownFacts): Problem | undefined {
  const { failingGroups, failed, counted, channel } = tally;
  if (failed < Math.min(SERVERS_NEEDED, counted)) return undefined;
  const isOfNodes = failingGroups >= 2 || tally.isFailing(undefined);
  const isOfSeveral = failed >= 2 && (isOfNodes || failed === counted);
  if (!isOfSeveral && channel !== 'listing') return undefined;
  return worksSince(known, tally.failsSince, channel) ? tally.newestProblem() : undefined;
}

function ofConsoles(tally: Tally, { provenAt }: KnownFacts): Problem | undefined {
  const needed = Math.max(2, Math.min(SERVERS_NEEDED, tally.counted));
  // Of several causes that are frequent enough, the one that began first.
  let first: Group | undefined;
  for (const group of tally.failing) {
    if (group.failed < needed) continue;
    const isFirst = first === undefined || group.failsSince < first.failsSince;
    if (isFirst || (group.failsSince === first?.failsSince && String(group.key) < String(first?.key)))
      first = group;
  }
  // A panel that rejects the key also denies consoles, and may respond to other paths before it
  // checks the key.
  return first !== undefined && provenAt >= first.failsSince ? tally.newestProblemIn(first) : undefined;
}

/** Has another path worked since the first failed call started? */
function worksSince({ find }: KnownFacts, since: number, but: Channel): boolean {
  return PATHS.some((path) => path !== but && (find(pathSubject(path))?.worksAt ?? NEVER) > since);
}
