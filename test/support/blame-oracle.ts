// A slow, stateless version of the ledger, whose decisions about outages must be the same.
import { isBlockedAlone, type Signs } from '../../src/diagnosis/signs.ts';
import type { Problem } from '../../src/domain/problems.ts';
import * as outage from '../../src/panel/health/blame.ts';
import { type Outage, suspected, trialGapMs } from '../../src/panel/health/blame.ts';
import type { AskedServer, Outcome } from '../../src/panel/health/outcome.ts';
import {
  type Channel,
  PATHS,
  pathSubject,
  pollsSubject,
  type Subject,
  socketsSubject,
  subjectChannel,
  subjectNode,
} from '../../src/panel/subjects.ts';

/** A server on one channel. */
export interface Cell {
  readonly asked: AskedServer;
  readonly last?: Outcome | undefined;
}

/** The servers of each channel, by id. */
export type Cells = Readonly<Record<Channel, ReadonlyMap<string, Cell>>>;

export interface BlameState {
  readonly outages: ReadonlyMap<Subject, Outage>;
  /** The last time at which a call proved that the panel works. Infinite before the first proof. */
  readonly provenAt: number;
  /** The first time at which a call proved that. Infinite before it. */
  readonly knownSince: number;
  /** Outages of larger subjects that have ended. */
  readonly ended: ReadonlyMap<Subject, EndedOutage>;
}

interface EndedOutage {
  /** The outage explains failures up to this time. */
  readonly explainsUntil: number;
  readonly nextTrialAt: number;
}

const NEVER = Number.NEGATIVE_INFINITY;

export const NO_OUTAGES: BlameState = {
  outages: new Map(),
  provenAt: NEVER,
  knownSince: Number.POSITIVE_INFINITY,
  ended: new Map(),
};

/** The number of failing servers that always suffices for a suspicion. */
const SERVERS_NEEDED = 3;

/** How long a server's success contradicts failures of its node and path. */
const SUCCESS_LASTS_MS = 120_000;

/**
 * Derives outages from the last outcomes and the earlier outages. A pure function.
 *
 * | subject | suspected if |
 * |---|---|
 * | the panel | a call failed and the panel may be the cause, and no call has worked since it started |
 * | a path | three servers (or all) failed, of at least two nodes (or all, if they are at least two; a server without a known node counts as several), and another path worked since |
 * | the server list | it failed, and another path worked since |
 * | the account's consoles | three servers (or all, at least two) were denied for the same cause, the panel accepted the key since, and no console is granted or streams |
 * | a node's sockets, or its polls | three of its servers (or all) failed in a way that only the node can cause; or as many, at least two, in a way that the panel can cause too, and a server of another node worked there afterwards; or one, if the node's other channel has an outage |
 *
 * A success within the last two minutes contradicts a suspicion, except of the panel. The rejection
 * of a single server doesn't contradict the suspicion of a path, because the panel sends it before
 * it asks a node. A suspected subject is blamed after its first failed trial (the panel after two),
 * and its outage ends with any success.
 */
export function blame(cells: Cells, state: BlameState, now: number): BlameState {
  const before = tallyAll(cells, state);
  const outages = new Map<Subject, Outage>();
  const ended = new Map(state.ended);
  for (const [subject, outage] of state.outages) {
    const tally = before.get(subject);
    const { suspectedAt } = outage;
    // Successes that don't contradict may be older than the suspicion.
    const isOver = tally === undefined || tally.worksAt > suspectedAt || tally.contradictedAt >= suspectedAt;
    if (!isOver) outages.set(subject, outage);
    else if (subjectNode(subject) === undefined) ended.set(subject, endOf(subject, outage, state, now));
  }
  // Outages that have just ended also explain failures.
  const tallies = tallyAll(cells, { ...state, ended });
  for (const [subject, tally] of tallies) {
    if (outages.has(subject) || tally.failed.length === 0) continue;
    if (subject !== 'panel' && tally.contradictedAt > now - SUCCESS_LASTS_MS) continue;
    const problem = suspicion(subject, tally, cells, { outages, provenAt: state.provenAt });
    const trialAt = Math.max(now, ended.get(subject)?.nextTrialAt ?? now);
    if (problem !== undefined) outages.set(subject, suspected(problem, now, trialAt));
  }
  return { ...state, outages, ended };
}

/** The state after the panel worked at this time. */
export const panelWorks = (state: BlameState, at: number): BlameState => ({
  ...state,
  provenAt: Math.max(state.provenAt, at),
  knownSince: Math.min(state.knownSince, at),
});

/** The state after a step of one outage. */
export const withCheck = (state: BlameState, now: number): BlameState =>
  replaced(state, 'panel', outage.withCheck(state.outages.get('panel'), now));
export const withTrial = (state: BlameState, subject: Subject, server: string, now: number): BlameState => {
  const before = state.outages.get(subject);
  return before === undefined ? state : replaced(state, subject, outage.withTrial(before, server, now));
};
export const blamedIfTrialFailed = (
  state: BlameState,
  subject: Subject,
  problem: Problem | undefined,
  now: number,
): BlameState => {
  const before = state.outages.get(subject);
  return before === undefined
    ? state
    : replaced(state, subject, outage.blamedIfTrialFailed(before, subject, problem, now));
};
function replaced(state: BlameState, subject: Subject, one: Outage): BlameState {
  return { ...state, outages: new Map(state.outages).set(subject, one) };
}

function endOf(
  subject: Subject,
  outage: Outage,
  { ended, knownSince }: BlameState,
  now: number,
): EndedOutage {
  const { problem, suspectedAt, blamedAt, trial } = outage;
  // If the panel had already worked and was only suspected, it never failed.
  const isExplanation = subject !== 'panel' || blamedAt !== undefined || suspectedAt <= knownSince;
  const explainsUntil = isExplanation ? now : (ended.get(subject)?.explainsUntil ?? NEVER);
  // The first check of a panel has no suspicion as its reason.
  const triedAt = problem === undefined ? undefined : trial?.since;
  return { explainsUntil, nextTrialAt: triedAt === undefined ? now : triedAt + trialGapMs(subject, 0) };
}

/** Later than any time. Individually blocked servers try their node after all others. */
const AFTER_OTHERS = 1e15;

/** Earlier than any time. */
const [STREAMS, NEVER_FAILED] = [-2, -1];

/**
 * The server that tries the subject: one that streams, then one that never failed there, then the
 * one with the oldest failure, in random order among equals. A path is tried by the node with the
 * oldest failure, and never by an individually blocked server. `random` is uniform in [0, 1).
 */
export function trialServer(
  subject: Subject,
  cells: Cells,
  random: () => number,
  mayTry: (server: string) => boolean = () => true,
): string | undefined {
  const channel = subjectChannel(subject);
  const node = subjectNode(subject);
  const servers = [...cells[channel]].flatMap(([server, { asked }]) => {
    const { problem, signs, at = 0 } = lastOf(channel, server, cells) ?? {};
    // A failure that the path may cause doesn't count as the server's own.
    const isBlocked = problem !== undefined && isBlockedAlone(problem) && signs?.path !== 'fails';
    if (node === undefined ? isBlocked : asked.node !== node) return [];
    const streams = cells.sockets.get(server)?.last?.streams === true;
    const failedAt = at + (isBlocked ? AFTER_OTHERS : 0);
    const rank = problem === undefined ? (streams ? STREAMS : NEVER_FAILED) : failedAt;
    return [{ server, node: asked.node, rank }];
  });
  const nodes = new Map<string | undefined, number>();
  for (const { node: of, rank } of servers) {
    const before = nodes.get(of) ?? rank;
    const latest = Math.max(before, rank);
    nodes.set(of, latest > NEVER_FAILED ? latest : Math.min(before, rank));
  }
  let chosen: (typeof servers)[number] | undefined;
  let equals = 0;
  for (const one of servers) {
    if (!mayTry(one.server)) continue;
    const nodeOrder = chosen === undefined ? -1 : (nodes.get(one.node) ?? 0) - (nodes.get(chosen.node) ?? 0);
    const order = chosen === undefined || nodeOrder !== 0 ? nodeOrder : one.rank - chosen.rank;
    if (order > 0) continue;
    equals = order === 0 ? equals + 1 : 1;
    if (equals > 1 && random() * equals >= 1) continue;
    chosen = one;
  }
  return chosen?.server;
}

/**
 * When the panel worked, according to this outcome. The response with an error may have waited for
 * the node, so only the start of the call is certain.
 */
export function workedAt({ startedAt, at, problem, streams }: Outcome): number {
  if (streams === true) return Number.POSITIVE_INFINITY;
  return problem === undefined ? at : startedAt;
}

/** A failure and the server's node. */
interface Failed extends Outcome {
  readonly problem: Problem;
  readonly node: string | undefined;
}

/** The evidence of all outcomes about one subject. */
interface Tally {
  /** The number of servers on the channel that aren't blocked individually. */
  asked: number;
  /** The last success, and the last success that contradicts failures. */
  worksAt: number;
  contradictedAt: number;
  readonly failed: Failed[];
}

function tallyAll(cells: Cells, { ended, provenAt }: BlameState): ReadonlyMap<Subject, Tally> {
  const panel: Tally = { asked: 0, worksAt: provenAt, contradictedAt: provenAt, failed: [] };
  const tallies = new Map<Subject, Tally>([['panel', panel]]);
  const add = (subject: Subject, node: string | undefined, last: Outcome | undefined, of: keyof Signs) => {
    let tally = tallies.get(subject);
    if (tally === undefined)
      tallies.set(subject, (tally = { asked: 0, worksAt: NEVER, contradictedAt: NEVER, failed: [] }));
    const problem = last?.problem;
    const sign = last?.signs[of];
    const isBlocked = problem !== undefined && isBlockedAlone(problem) && sign !== 'works';
    // A failure that the path may cause doesn't count as the server's own.
    if (isBlocked && last?.signs.path !== 'fails') return;
    tally.asked += 1;
    if (isBlocked || last === undefined || sign === undefined) return;
    if (sign === 'works') {
      tally.worksAt = Math.max(tally.worksAt, workedAt(last));
      if (of !== 'path' || !isRefusal(last))
        tally.contradictedAt = Math.max(tally.contradictedAt, workedAt(last));
    } else if (problem !== undefined) tally.failed.push({ ...last, problem, node });
  };
  const explainedUntil = (subject: Subject) => ended.get(subject)?.explainsUntil ?? NEVER;
  for (const path of PATHS) {
    const subject = pathSubject(path);
    const until = Math.max(explainedUntil('panel'), explainedUntil(subject));
    for (const { asked, last: found } of cells[path].values()) {
      const { node } = asked;
      const isExplained = found?.problem !== undefined && found.at <= until;
      const last = isExplained && found.signs.path === 'fails' ? undefined : found;
      const { problem } = last ?? {};
      if (!isExplained && problem !== undefined && last?.signs.panel === 'fails' && last.startedAt > provenAt)
        panel.failed.push({ ...last, problem, node });
      add(subject, node, last, 'path');
      if (path === 'resources' && node !== undefined) add(pollsSubject(node), node, last, 'node');
      if (path === 'websocket') add('consoles', node, last, 'console');
    }
  }
  for (const [server, { asked, last: own }] of cells.sockets) {
    const consoles = tallies.get('consoles');
    if (own?.streams === true && consoles !== undefined)
      consoles.worksAt = consoles.contradictedAt = Number.POSITIVE_INFINITY;
    if (asked.node === undefined) continue;
    add(socketsSubject(asked.node), asked.node, lastOf('sockets', server, cells), 'node');
  }
  return tallies;
}

/**
 * The last outcome of the server on the channel. For sockets, this may be the panel's error about
 * the node when a token was requested.
 */
export function lastOf(channel: Channel, server: string, cells: Cells): Outcome | undefined {
  const own = cells[channel].get(server)?.last;
  if (channel !== 'sockets' || own?.streams === true) return own;
  const token = cells.websocket.get(server)?.last;
  return token?.signs.node === 'may fail' && token.at > (own?.at ?? NEVER) ? token : own;
}

type Outages = BlameState['outages'];

/** The problem for which the subject is suspected; undefined if there are too few failures. */
function suspicion(
  subject: Subject,
  tally: Tally,
  cells: Cells,
  { outages, provenAt }: Pick<BlameState, 'outages' | 'provenAt'>,
): Problem | undefined {
  if (subject === 'panel') return newest(tally.failed);
  if (subject === 'consoles') return ofConsoles(tally, provenAt);
  const channel = subjectChannel(subject);
  const node = subjectNode(subject);
  return node === undefined
    ? ofPath(channel, tally, cells, outages)
    : ofNode(node, channel, tally, cells, outages);
}

function ofNode(node: string, channel: Channel, tally: Tally, cells: Cells, outages: Outages) {
  const [path, otherWay] =
    channel === 'sockets'
      ? (['websocket', pollsSubject(node)] as const)
      : (['resources', socketsSubject(node)] as const);
  // If the node's other channel has an outage, one failure is enough.
  if (isBlamed(outages, otherWay)) return newest(tally.failed);
  const needed = Math.min(SERVERS_NEEDED, tally.asked);
  const certain = tally.failed.filter(({ signs }) => signs.node === 'fails');
  if (certain.length >= needed) return newest(certain);
  if (tally.failed.length < Math.max(2, needed)) return undefined;
  const failedAt = Math.max(...tally.failed.map(({ at }) => at));
  const works = ({ asked, last }: Cell) =>
    asked.node !== node && last?.signs.path === 'works' && !isRefusal(last) && workedAt(last) > failedAt;
  return [...cells[path].values()].some(works) ? newest(tally.failed) : undefined;
}

function ofPath(path: Channel, tally: Tally, cells: Cells, outages: Outages): Problem | undefined {
  // A node's outage explains the failures of its servers.
  const failed = tally.failed.filter(
    ({ node }) =>
      node === undefined ||
      !(isBlamed(outages, socketsSubject(node)) || isBlamed(outages, pollsSubject(node))),
  );
  if (failed.length < Math.min(SERVERS_NEEDED, tally.asked)) return undefined;
  const nodes = new Set(failed.map(({ node }) => node));
  const isOfSeveral =
    failed.length >= 2 && (nodes.size >= 2 || nodes.has(undefined) || failed.length === tally.asked);
  if (!isOfSeveral && path !== 'listing') return undefined;
  const worksElsewhere = PATHS.some((other) => other !== path && worksSince(cells[other].values(), failed));
  return worksElsewhere ? newest(failed) : undefined;
}

function ofConsoles({ asked, failed }: Tally, provenAt: number): Problem | undefined {
  const needed = Math.max(2, Math.min(SERVERS_NEEDED, asked));
  // If several causes are frequent enough, the one that began first.
  const since = (group: readonly Failed[]) => Math.min(...group.map(({ startedAt }) => startedAt));
  const [alike] = [...new Set(failed.map(({ problem }) => problem.cause))]
    .toSorted()
    .map((cause) => failed.filter(({ problem }) => problem.cause === cause))
    .filter(({ length }) => length >= needed)
    .toSorted((one, other) => since(one) - since(other));
  // A panel that rejects the key also denies consoles, and may respond on other paths before it
  // checks the key.
  return alike !== undefined && provenAt >= since(alike) ? newest(alike) : undefined;
}

/** Whether the panel rejected only this server, without asking its node. */
const isRefusal = ({ problem, signs }: Outcome) => problem !== undefined && signs.node === undefined;

/** Whether the path of one of these cells has worked since the first failed call started. */
function worksSince(others: Iterable<Cell>, failed: readonly Failed[]): boolean {
  const since = Math.min(...failed.map(({ startedAt }) => startedAt));
  for (const { last } of others) if (last?.signs.path === 'works' && workedAt(last) > since) return true;
  return false;
}

function isBlamed(outages: Outages, subject: Subject): boolean {
  return outages.get(subject)?.blamedAt !== undefined;
}

function newest(failed: readonly Failed[]): Problem | undefined {
  return failed.toSorted((one, other) => other.at - one.at)[0]?.problem;
}
