import { CAUSES } from '../diagnosis/causes.ts';
import { isBlockedAlone, problemOfBlamed, type Signs } from '../diagnosis/outcome.ts';
import type { Problem } from '../domain/problems.ts';
import type { ServerTarget } from '../domain/server.ts';

/** The paths of the API by which servers are monitored. */
export const PATHS = ['listing', 'websocket', 'resources', 'backups', 'schedules'] as const;
export type Path = (typeof PATHS)[number];

/** Where servers are asked: a path of the API, or their console sockets. */
export const CHANNELS = [...PATHS, 'sockets'] as const;
export type Channel = (typeof CHANNELS)[number];

/** What can be in trouble besides a single server; `consoles` is whether the account is granted any. */
export type Subject = 'panel' | `path ${Path}` | 'consoles' | `sockets ${string}` | `polls ${string}`;

export const pathOf = (path: Path): Subject => `path ${path}`;
/** A node's sockets, and its polls as the panel makes them. */
export const socketsOf = (node: string): Subject => `sockets ${node}`;
export const pollsOf = (node: string): Subject => `polls ${node}`;

/** The node of a subject; undefined if it isn't a node's. */
export function nodeOf(subject: Subject): string | undefined {
  return /^(?:sockets|polls) (.*)$/s.exec(subject)?.[1];
}

/** Where the subject fails; the panel is asked on several. */
export function channelOf(subject: Subject): Channel {
  if (subject === 'consoles') return 'websocket';
  if (subject.startsWith('sockets ')) return 'sockets';
  return PATHS.find((path) => subject === pathOf(path)) ?? 'resources';
}

/** How the last call or socket of one server ended on one channel; instants are monotonic milliseconds. */
export interface Outcome {
  readonly startedAt: number;
  readonly at: number;
  /** Undefined on success. */
  readonly problem: Problem | undefined;
  readonly signs: Signs;
  /** A socket that streams works for as long as it does. */
  readonly streams?: boolean;
}

/** A server that is asked; its node may become known later. Both are absent for the server list. */
export interface AskedServer {
  readonly node?: string | undefined;
  readonly target?: Pick<ServerTarget, 'daemon'>;
}

/** A server on one channel. */
export interface Cell {
  readonly asked: AskedServer;
  readonly last?: Outcome | undefined;
}

/** The servers that are asked on each channel, by id. */
export type Cells = Readonly<Record<Channel, ReadonlyMap<string, Cell>>>;

/** The server of calls that are about none. */
export const NO_SERVER = '';

/** Something in trouble: first suspected, and blamed once its trials have failed as well. */
export interface Trouble {
  /** Undefined until something has failed. */
  readonly problem: Problem | undefined;
  readonly suspectedAt: number;
  /** Undefined while it is only suspected: nothing is held or shown before. */
  readonly blamedAt: number | undefined;
  /** The next trial may start at this instant. */
  readonly trialAt: number;
  /** Trials that failed. */
  readonly trials: number;
  readonly trial: Trial | undefined;
}

/** The trial under way. */
export interface Trial {
  readonly server: string;
  readonly since: number;
  /** A socket is tried with new credentials: the panel may give another address for the node. */
  readonly isFresh: boolean;
}

export interface BlameState {
  readonly troubles: ReadonlyMap<Subject, Trouble>;
  /** When a call last showed that the panel works; infinite before the first. */
  readonly provenAt: number;
  /** Larger troubles that ended. */
  readonly ended: ReadonlyMap<Subject, Ended>;
}

interface Ended {
  /** Failures up to here are explained by it. */
  readonly explainsUntil: number;
  readonly nextTrialAt: number;
}

const NEVER = Number.NEGATIVE_INFINITY;

export const NO_TROUBLES: BlameState = { troubles: new Map(), provenAt: NEVER, ended: new Map() };

/** The most servers that have to fail. */
const SERVERS_NEEDED = 3;

/** How long a server's last success speaks for its node and its path. */
const SUCCESS_LASTS_MS = 120_000;

/** Milliseconds between the starts of trials, after so many that failed; the last gap repeats. */
export const TRIAL_GAPS_MS: readonly number[] = [15_000, 30_000, 60_000];
/** A connect takes nothing from the rate unless it needs another token, and a node is to be noticed within 30 s of its return. */
const SOCKET_TRIAL_GAPS_MS: readonly number[] = [15_000, 25_000];
/** Only a person grants permissions, and each trial takes from people's own limit. */
const CONSOLE_TRIAL_GAPS_MS: readonly number[] = [300_000];

function trialGapMs(subject: Subject, failed: number): number {
  const ofOthers = channelOf(subject) === 'sockets' ? SOCKET_TRIAL_GAPS_MS : TRIAL_GAPS_MS;
  const gaps = subject === 'consoles' ? CONSOLE_TRIAL_GAPS_MS : ofOthers;
  return gaps[Math.min(Math.max(failed, 1), gaps.length) - 1] ?? 0;
}

/**
 * Who is in trouble, from the last outcomes and from what has begun; pure.
 *
 * | subject | suspected if |
 * |---|---|
 * | the panel | a call failed in a way that may be the panel's, and none has worked since its start |
 * | a path | three servers (or all) failed, of two nodes (or all, if they are at least two), and another path worked since |
 * | the server list | it failed, and another path worked since |
 * | the account's consoles | three servers (or all, at least two) were denied for the same cause, a call worked since, and none is granted or streams |
 * | a node's sockets, or its polls | three of its servers (or all) failed as only the node can cause it; or so many, at least two, as the panel can cause it too, and another node's server worked there since; or one, if the other way to the node is in trouble |
 *
 * A success of the last two minutes contradicts, except for the panel. A suspect is blamed once its first trial has failed (the
 * panel: two), and its trouble ends with any success.
 */
export function blame(cells: Cells, state: BlameState, now: number): BlameState {
  const tallies = tallyAll(cells, state);
  const troubles = new Map<Subject, Trouble>();
  const ended = new Map(state.ended);
  for (const [subject, trouble] of state.troubles) {
    const tally = tallies.get(subject);
    if (tally !== undefined && tally.worksAt < trouble.suspectedAt) troubles.set(subject, trouble);
    else if (nodeOf(subject) === undefined) ended.set(subject, endOf(subject, trouble, ended, now));
  }
  for (const [subject, tally] of tallies) {
    if (troubles.has(subject) || tally.failed.length === 0) continue;
    if (subject !== 'panel' && tally.worksAt > now - SUCCESS_LASTS_MS) continue;
    const problem = suspicion(subject, tally, cells, troubles);
    const trialAt = Math.max(now, ended.get(subject)?.nextTrialAt ?? now);
    if (problem !== undefined) troubles.set(subject, suspected(problem, now, trialAt));
  }
  return { ...state, troubles, ended };
}

function suspected(problem: Problem | undefined, now: number, trialAt: number): Trouble {
  return { problem, suspectedAt: now, blamedAt: undefined, trialAt, trials: 0, trial: undefined };
}

function endOf(subject: Subject, trouble: Trouble, ended: BlameState['ended'], now: number): Ended {
  const { problem, blamedAt, trial } = trouble;
  // A panel that was only suspected worked all the time.
  const isExplanation = subject !== 'panel' || blamedAt !== undefined;
  const explainsUntil = isExplanation ? now : (ended.get(subject)?.explainsUntil ?? NEVER);
  // The first check isn't because of a suspicion.
  const triedAt = problem === undefined ? undefined : trial?.since;
  return { explainsUntil, nextTrialAt: triedAt === undefined ? now : triedAt + trialGapMs(subject, 0) };
}

/** The panel is to be tried at once, whatever is known; one that is down stays so until then. */
export function withCheck(state: BlameState, now: number): BlameState {
  const { problem, ...before } = state.troubles.get('panel') ?? suspected(undefined, now, now);
  return replaced(state, 'panel', { ...before, problem, trialAt: now, trial: undefined });
}

/** A server's trial of the subject begins. */
export function withTrial(state: BlameState, subject: Subject, server: string, now: number): BlameState {
  const trouble = state.troubles.get(subject);
  if (trouble === undefined) return state;
  return replaced(state, subject, {
    ...trouble,
    trial: { server, since: now, isFresh: trouble.trials % 2 === 1 },
  });
}

/** The trial ended without a success: it failed with this problem, or showed nothing. The next comes a gap after its start. */
export function afterTrial(
  state: BlameState,
  subject: Subject,
  problem: Problem | undefined,
  now: number,
): BlameState {
  const trouble = state.troubles.get(subject);
  if (trouble?.trial === undefined) return state;
  const trials = trouble.trials + (problem === undefined ? 0 : 1);
  // Only the panel itself refuses a key.
  const isRound = subject === 'panel' && problem !== undefined && CAUSES[problem.cause].scope !== 'key';
  const needed = isRound ? 2 : 1;
  const isBlamed = problem !== undefined && trials >= needed;
  return replaced(state, subject, {
    ...trouble,
    problem: problem ?? trouble.problem,
    blamedAt: trouble.blamedAt ?? (isBlamed ? now : undefined),
    trialAt: trouble.trial.since + trialGapMs(subject, trials - needed + 1),
    trials,
    trial: undefined,
  });
}

function replaced(state: BlameState, subject: Subject, trouble: Trouble): BlameState {
  return { ...state, troubles: new Map(state.troubles).set(subject, trouble) };
}

/**
 * The server that tries the subject, of those that may: one that streams, of a node none of whose servers failed there, otherwise one
 * that never failed there, otherwise whoever failed least recently, at random among equals; undefined if each is blocked for a reason
 * of its own. `random` is uniform in [0, 1).
 */
export function trialServer(
  subject: Subject,
  cells: Cells,
  random: () => number,
  mayTry: (server: string) => boolean = () => true,
): string | undefined {
  const channel = channelOf(subject);
  const node = nodeOf(subject);
  // On these nodes, a failure may be the node's.
  const failing = new Set<string | undefined>();
  for (const { asked, last } of node === undefined ? cells[channel].values() : [])
    if (last?.problem !== undefined) failing.add(asked.node);
  let chosen: string | undefined;
  let chosenAt = Number.POSITIVE_INFINITY;
  let equals = 0;
  for (const [server, { asked }] of cells[channel]) {
    if ((node !== undefined && asked.node !== node) || !mayTry(server)) continue;
    const { problem, at = 0 } = lastOf(channel, server, cells) ?? {};
    if (problem !== undefined && isBlockedAlone(problem)) continue;
    // The node of a server that streams is not to blame.
    const streams = cells.sockets.get(server)?.last?.streams === true;
    const isWell = problem === undefined && streams && !failing.has(asked.node);
    const failedAt = isWell ? NEVER : problem === undefined ? -1 : at;
    if (failedAt > chosenAt) continue;
    equals = failedAt === chosenAt ? equals + 1 : 1;
    if (equals > 1 && random() * equals >= 1) continue;
    chosen = server;
    chosenAt = failedAt;
  }
  return chosen;
}

/** The problem of a subject that is blamed, as it is shown: that of the subject rather than of the call that failed. */
export function problemOfSubject(subject: Subject, { troubles }: BlameState): Problem | undefined {
  const { problem, blamedAt } = troubles.get(subject) ?? {};
  if (problem === undefined || blamedAt === undefined) return undefined;
  if (subject === 'consoles' || subject === 'panel') return problemOfBlamed(subject, problem);
  return problemOfBlamed(PATHS.find((one) => subject === pathOf(one)) ?? 'node', problem);
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
  /** The last success. */
  worksAt: number;
  readonly failed: Failed[];
}

function tallyAll(cells: Cells, { ended, provenAt }: BlameState): ReadonlyMap<Subject, Tally> {
  const panel: Tally = { asked: 0, worksAt: provenAt, failed: [] };
  const tallies = new Map<Subject, Tally>([['panel', panel]]);
  const add = (subject: Subject, node: string | undefined, last: Outcome | undefined, of: keyof Signs) => {
    let tally = tallies.get(subject);
    if (tally === undefined) tallies.set(subject, (tally = { asked: 0, worksAt: NEVER, failed: [] }));
    const problem = last?.problem;
    const sign = last?.signs[of];
    if (problem !== undefined && isBlockedAlone(problem) && sign !== 'works') return;
    tally.asked += 1;
    if (last === undefined || sign === undefined) return;
    const worksAt = last.streams === true ? Number.POSITIVE_INFINITY : last.at;
    if (sign === 'works') tally.worksAt = Math.max(tally.worksAt, worksAt);
    else if (problem !== undefined) tally.failed.push({ ...last, problem, node });
  };
  const explainedUntil = (subject: Subject) => ended.get(subject)?.explainsUntil ?? NEVER;
  for (const path of PATHS) {
    const subject = pathOf(path);
    const until = Math.max(explainedUntil('panel'), explainedUntil(subject));
    for (const { asked, last: found } of cells[path].values()) {
      const { node } = asked;
      const last = found?.signs.path === 'fails' && found.at <= until ? undefined : found;
      const { problem } = last ?? {};
      if (problem !== undefined && last?.signs.panel === 'fails' && last.startedAt > provenAt)
        panel.failed.push({ ...last, problem, node });
      add(subject, node, last, 'path');
      if (path === 'resources' && node !== undefined) add(pollsOf(node), node, last, 'node');
      if (path === 'websocket') add('consoles', node, last, 'console');
    }
  }
  for (const [server, { asked, last: own }] of cells.sockets) {
    const consoles = tallies.get('consoles');
    if (own?.streams === true && consoles !== undefined) consoles.worksAt = Number.POSITIVE_INFINITY;
    if (asked.node === undefined) continue;
    add(socketsOf(asked.node), asked.node, lastOf('sockets', server, cells), 'node');
  }
  return tallies;
}

/** The problem of a subject that a server tried, if that is what failed. */
export function problemShown(subject: Subject, { signs, problem }: Outcome): Problem | undefined {
  const ofOthers = nodeOf(subject) === undefined ? signs.path : signs.node;
  const sign = subject === 'consoles' ? signs.console : ofOthers;
  return sign === 'fails' || sign === 'may fail' ? problem : undefined;
}

/** The last outcome; the panel's own error for a node, instead of a token, is one of its sockets, too. */
export function lastOf(channel: Channel, server: string, cells: Cells): Outcome | undefined {
  const own = cells[channel].get(server)?.last;
  if (channel !== 'sockets' || own?.streams === true) return own;
  const token = cells.websocket.get(server)?.last;
  return token?.signs.node === 'may fail' && token.at > (own?.at ?? NEVER) ? token : own;
}

type Troubled = BlameState['troubles'];

/** The problem of a subject whose servers fail often enough; undefined if they don't. */
function suspicion(subject: Subject, tally: Tally, cells: Cells, troubles: Troubled): Problem | undefined {
  if (subject === 'panel') return newest(tally.failed);
  if (subject === 'consoles') return ofConsoles(tally, cells);
  const channel = channelOf(subject);
  const node = nodeOf(subject);
  return node === undefined
    ? ofPath(channel, tally, cells, troubles)
    : ofNode(node, channel, tally, cells, troubles);
}

function ofNode(node: string, channel: Channel, tally: Tally, cells: Cells, troubles: Troubled) {
  const [path, otherWay] =
    channel === 'sockets'
      ? (['websocket', pollsOf(node)] as const)
      : (['resources', socketsOf(node)] as const);
  // If the other way to the node is in trouble, the next failure says the same.
  if (isBlamed(troubles, otherWay)) return newest(tally.failed);
  const needed = Math.min(SERVERS_NEEDED, tally.asked);
  const certain = tally.failed.filter(({ signs }) => signs.node === 'fails');
  if (certain.length >= needed) return newest(certain);
  if (tally.failed.length < Math.max(2, needed)) return undefined;
  const others = [...cells[path].values()].filter(({ asked }) => asked.node !== node);
  return worksSince(others, tally.failed) ? newest(tally.failed) : undefined;
}

function ofPath(path: Channel, tally: Tally, cells: Cells, troubles: Troubled): Problem | undefined {
  // A node in trouble explains why its servers fail.
  const failed = tally.failed.filter(
    ({ node }) =>
      node === undefined || !(isBlamed(troubles, socketsOf(node)) || isBlamed(troubles, pollsOf(node))),
  );
  if (failed.length < Math.min(SERVERS_NEEDED, tally.asked)) return undefined;
  const nodes = new Set(failed.map(({ node }) => node));
  const isOfSeveral =
    failed.length >= 2 && (nodes.size >= 2 || nodes.has(undefined) || failed.length === tally.asked);
  if (!isOfSeveral && path !== 'listing') return undefined;
  const worksElsewhere = PATHS.some((other) => other !== path && worksSince(cells[other].values(), failed));
  return worksElsewhere ? newest(failed) : undefined;
}

function ofConsoles({ asked, failed }: Tally, cells: Cells): Problem | undefined {
  const needed = Math.max(2, Math.min(SERVERS_NEEDED, asked));
  const alike = failed
    .map(({ problem }) => failed.filter((other) => other.problem.cause === problem.cause))
    .find(({ length }) => length >= needed);
  // A panel that refuses the key denies consoles, too.
  const works = alike !== undefined && PATHS.some((path) => worksSince(cells[path].values(), alike));
  return works ? newest(alike) : undefined;
}

/** Has the path of one of these worked since the first of the failed calls started? */
function worksSince(others: Iterable<Cell>, failed: readonly Failed[]): boolean {
  const since = Math.min(...failed.map(({ startedAt }) => startedAt));
  for (const { last } of others) if (last?.signs.path === 'works' && last.at > since) return true;
  return false;
}

function isBlamed(troubles: Troubled, subject: Subject): boolean {
  return troubles.get(subject)?.blamedAt !== undefined;
}

function newest(failed: readonly Failed[]): Problem | undefined {
  return failed.toSorted((one, other) => other.at - one.at)[0]?.problem;
}
