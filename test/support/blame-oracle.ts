/**
 * What has an outage, decided over all cells each time: slow and short. The ledger has to decide the same, whatever happened before.
 */
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

/** The servers that are asked on each channel, by id. */
export type Cells = Readonly<Record<Channel, ReadonlyMap<string, Cell>>>;

export interface BlameState {
  readonly outages: ReadonlyMap<Subject, Outage>;
  /** When a call last showed that the panel works; infinite before the first. */
  readonly provenAt: number;
  /** When a call first did; infinite until then. */
  readonly knownSince: number;
  /** Larger outages that ended. */
  readonly ended: ReadonlyMap<Subject, EndedOutage>;
}

interface EndedOutage {
  /** Failures up to here are explained by it. */
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

/** The most servers that have to fail. */
const SERVERS_NEEDED = 3;

/** How long a server's last success speaks for its node and its path. */
const SUCCESS_LASTS_MS = 120_000;

/**
 * What has an outage, from the last outcomes and from what has begun; pure.
 *
 * | subject | suspected if |
 * |---|---|
 * | the panel | a call failed in a way that may be the panel's, and none has worked since its start |
 * | a path | three servers (or all) failed, of two nodes (or all, if they are at least two; unknown nodes count as several), and another path worked since |
 * | the server list | it failed, and another path worked since |
 * | the account's consoles | three servers (or all, at least two) were denied for the same cause, the panel accepted the key since, and none is granted or streams |
 * | a node's sockets, or its polls | three of its servers (or all) failed as only the node can cause it; or so many, at least two, as the panel can cause it too, and another node's server worked there after the last of them; or one, if the other way to the node has an outage |
 *
 * A success of the last two minutes contradicts, except for the panel; a refusal of a single server on a path is none, because
 * the panel refuses it before it asks a node. A suspect is blamed once its first trial has failed (the
 * panel: two), and its outage ends with any success.
 */
export function blame(cells: Cells, state: BlameState, now: number): BlameState {
  const before = tallyAll(cells, state);
  const outages = new Map<Subject, Outage>();
  const ended = new Map(state.ended);
  for (const [subject, outage] of state.outages) {
    const tally = before.get(subject);
    const { suspectedAt } = outage;
    // What doesn't contradict may have been known when the suspicion began.
    const isOver = tally === undefined || tally.worksAt > suspectedAt || tally.contradictedAt >= suspectedAt;
    if (!isOver) outages.set(subject, outage);
    else if (subjectNode(subject) === undefined) ended.set(subject, endOf(subject, outage, state, now));
  }
  // An outage that has just ended explains failures, too.
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

/** The panel worked at this instant. */
export const panelWorks = (state: BlameState, at: number): BlameState => ({
  ...state,
  provenAt: Math.max(state.provenAt, at),
  knownSince: Math.min(state.knownSince, at),
});

/** The steps of an outage, on a whole state. */
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
  // A panel that worked before and was only suspected worked all the time.
  const isExplanation = subject !== 'panel' || blamedAt !== undefined || suspectedAt <= knownSince;
  const explainsUntil = isExplanation ? now : (ended.get(subject)?.explainsUntil ?? NEVER);
  // The first check isn't because of a suspicion.
  const triedAt = problem === undefined ? undefined : trial?.since;
  return { explainsUntil, nextTrialAt: triedAt === undefined ? now : triedAt + trialGapMs(subject, 0) };
}

/** Later than any instant: servers that are refused for a reason of their own try their node last. */
const AFTER_OTHERS = 1e15;

/** Before any instant. */
const [STREAMS, NEVER_FAILED] = [-2, -1];

/**
 * The server that tries the subject, of those that may: one that streams, otherwise one that never failed there, otherwise whoever
 * failed least recently, at random among equals. A path is tried by a server of the node whose servers failed least recently, and
 * never by one that is blocked for a reason of its own. `random` is uniform in [0, 1).
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
    // A failure that the path may cause is no reason of the server's own.
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

/** A response about a failure may have waited for the node, so the panel worked when the call started. */
export function workedAt({ startedAt, at, problem, streams }: Outcome): number {
  if (streams === true) return Number.POSITIVE_INFINITY;
  return problem === undefined ? at : startedAt;
}

/** A failure, and whose it is. */
interface Failed extends Outcome {
  readonly problem: Problem;
  readonly node: string | undefined;
}

/** What the outcomes show of one subject. */
interface Tally {
  /** The servers that are asked there and not blocked for a reason of their own. */
  asked: number;
  /** The last success, and the last that contradicts failures. */
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
    // As long as it may be the path's failure, it is no reason of the server's own.
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

/** The last outcome; the panel's own error for a node, instead of a token, is one of its sockets, too. */
export function lastOf(channel: Channel, server: string, cells: Cells): Outcome | undefined {
  const own = cells[channel].get(server)?.last;
  if (channel !== 'sockets' || own?.streams === true) return own;
  const token = cells.websocket.get(server)?.last;
  return token?.signs.node === 'may fail' && token.at > (own?.at ?? NEVER) ? token : own;
}

type Outages = BlameState['outages'];

/** The problem of a subject whose servers fail often enough; undefined if they don't. */
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
  // If the other way to the node has an outage, the next failure says the same.
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
  // A node with an outage explains why its servers fail.
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
  // Of several causes that are frequent enough, the one that began first.
  const since = (group: readonly Failed[]) => Math.min(...group.map(({ startedAt }) => startedAt));
  const [alike] = [...new Set(failed.map(({ problem }) => problem.cause))]
    .toSorted()
    .map((cause) => failed.filter(({ problem }) => problem.cause === cause))
    .filter(({ length }) => length >= needed)
    .toSorted((one, other) => since(one) - since(other));
  // A panel that refuses the key denies consoles, too, and may respond to other paths before it checks the key.
  return alike !== undefined && provenAt >= since(alike) ? newest(alike) : undefined;
}

/** Did the panel refuse this server alone, without asking its node? */
const isRefusal = ({ problem, signs }: Outcome) => problem !== undefined && signs.node === undefined;

/** Has the path of one of these worked since the first of the failed calls started? */
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
