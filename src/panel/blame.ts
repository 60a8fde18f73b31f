import { isBlockedAlone, problemOfBlamed, type Signs } from '../diagnosis/outcome.ts';
import type { Problem } from '../domain/problem.ts';
import type { ServerTarget } from '../domain/server.ts';

/** The paths of the API by which servers are monitored. */
export const PATHS = ['listing', 'websocket', 'resources', 'backups', 'schedules'] as const;
export type Path = (typeof PATHS)[number];

/** Where servers are asked: a path of the API, or their console sockets. */
export const CHANNELS = [...PATHS, 'sockets'] as const;
export type Channel = (typeof CHANNELS)[number];

/** What can be in trouble besides the panel as a whole and a single server. */
export type Subject = `path ${Path}` | 'consoles' | `sockets ${string}` | `polls ${string}`;

/** Whether the account is granted any console. */
export const CONSOLES = 'consoles';
export const pathOf = (path: Path): Subject => `path ${path}`;
/** A node's sockets, and its polls as the panel makes them. */
export const socketsOf = (node: string): Subject => `sockets ${node}`;
export const pollsOf = (node: string): Subject => `polls ${node}`;

/** The node of a subject; undefined if it isn't a node's. */
export function nodeOf(subject: Subject): string | undefined {
  return /^(?:sockets|polls) (.*)$/s.exec(subject)?.[1];
}

/** Where the subject fails. */
export function channelOf(subject: Subject): Channel {
  if (subject === CONSOLES) return 'websocket';
  if (subject.startsWith('sockets ')) return 'sockets';
  return PATHS.find((path) => subject === pathOf(path)) ?? 'resources';
}

/** How the last call or socket of one server ended on one channel; instants are monotonic milliseconds. */
export interface Outcome {
  /** Undefined if it is unknown. */
  readonly node: string | undefined;
  readonly startedAt: number;
  readonly at: number;
  /** Undefined on success. */
  readonly problem: Problem | undefined;
  readonly signs: Signs;
  /** A socket that streams works for as long as it does. */
  readonly streams?: boolean;
}

/** The last outcome of each server on each channel. */
export type Outcomes = Readonly<Record<Channel, ReadonlyMap<string, Outcome>>>;

/** The servers that are asked on each channel; their nodes may become known later. The server list is `NO_SERVER`. */
export type Asked = Readonly<Record<Channel, ReadonlyMap<string, AskedServer>>>;

interface AskedServer {
  readonly node?: string | undefined;
  /** Absent for the server list. */
  readonly target?: Pick<ServerTarget, 'daemon'>;
}

/** The server of calls that are about none. */
export const NO_SERVER = '';

/** What blame is decided from. */
export interface Evidence {
  readonly outcomes: Outcomes;
  readonly asked: Asked;
}

/** Something in trouble: first suspected, and blamed once a trial has failed as well. */
export interface Trouble {
  readonly problem: Problem;
  readonly suspectedAt: number;
  /** Undefined while it is only suspected: nothing is held or shown before. */
  readonly blamedAt: number | undefined;
  /** The next trial may start at this instant. */
  readonly trialAt: number;
  /** Trials so far. */
  readonly trials: number;
  /** The server that tries it now, and since when. */
  readonly trial: Trial | undefined;
}

export interface Trial {
  readonly server: string;
  readonly since: number;
  /** A socket is tried with new credentials: the panel may give another address for the node. */
  readonly isFresh: boolean;
}

export interface BlameState {
  readonly troubles: ReadonlyMap<Subject, Trouble>;
  /** When larger troubles ended, which explain the failures before. */
  readonly endedAt: ReadonlyMap<Subject | 'panel', number>;
}

export const NO_TROUBLES: BlameState = { troubles: new Map(), endedAt: new Map() };

/** The most servers that have to fail. */
const SERVERS_NEEDED = 3;

/** How long a server's last success speaks for its node and its path. */
const SUCCESS_LASTS_MS = 120_000;

/** Milliseconds between the starts of trials; the last gap repeats. */
export const TRIAL_GAPS_MS: readonly number[] = [15_000, 30_000, 60_000];

/** A connect takes nothing from the rate unless it needs another token, and a node is to be noticed within 30 s of its return. */
const SOCKET_TRIAL_GAPS_MS: readonly number[] = [15_000, 25_000];

/** Only a person grants permissions, and each trial takes from people's own limit. */
const CONSOLE_TRIAL_GAPS_MS: readonly number[] = [300_000];

function trialGapMs(subject: Subject, trials: number): number {
  const isSockets = channelOf(subject) === 'sockets';
  const ofOthers = isSockets ? SOCKET_TRIAL_GAPS_MS : TRIAL_GAPS_MS;
  const gaps = subject === CONSOLES ? CONSOLE_TRIAL_GAPS_MS : ofOthers;
  return gaps[Math.min(trials, gaps.length) - 1] ?? 0;
}

/**
 * Who is in trouble, from the last outcomes and from what has begun; pure.
 *
 * | subject | suspected if |
 * |---|---|
 * | a node's sockets, or its polls | three of its servers (or all) failed as only the node can cause it; or so many, at least two, as the panel can cause it too, and another node's server worked there since; or one, if the other way to the node is in trouble |
 * | a path | three servers (or all) failed, of two nodes (or all, if they are at least two), and another path worked since |
 * | the server list | it failed, and another path worked since |
 * | the account's consoles | three servers (or all, at least two) were denied for the same cause, and none is granted or streams |
 *
 * A success of the last two minutes contradicts. A suspect is blamed once its first trial has failed, and its trouble ends with any
 * success.
 */
export function blame(evidence: Evidence, state: BlameState, now: number): BlameState {
  const tallies = tallyAll(evidence, state);
  const troubles = new Map<Subject, Trouble>();
  const endedAt = new Map(state.endedAt);
  for (const [subject, trouble] of state.troubles) {
    const tally = tallies.get(subject);
    const isOver = tally === undefined || tally.worksAt >= trouble.suspectedAt;
    if (!isOver) troubles.set(subject, trouble);
    else if (nodeOf(subject) === undefined) endedAt.set(subject, now);
  }
  for (const [subject, tally] of tallies) {
    if (troubles.has(subject) || tally.failed.length === 0) continue;
    if (tally.worksAt > now - SUCCESS_LASTS_MS) continue;
    const problem = suspicion({ subject, tally, evidence, troubles });
    if (problem === undefined) continue;
    const begun = { suspectedAt: now, blamedAt: undefined, trialAt: now, trials: 0, trial: undefined };
    troubles.set(subject, { problem, ...begun });
  }
  return { troubles, endedAt };
}

/** The trouble of the panel as a whole ended: it explains the failures before. */
export function afterPanel(state: BlameState, now: number): BlameState {
  return { ...state, endedAt: new Map(state.endedAt).set('panel', now) };
}

/** A server's trial of the subject began. */
export function withTrial(state: BlameState, subject: Subject, server: string, now: number): BlameState {
  const trouble = state.troubles.get(subject);
  if (trouble === undefined) return state;
  const isFresh = trouble.trials % 2 === 1;
  return replaced(state, subject, { ...trouble, trial: { server, since: now, isFresh } });
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
  const trials = trouble.trials + 1;
  return replaced(state, subject, {
    ...trouble,
    problem: problem ?? trouble.problem,
    blamedAt: trouble.blamedAt ?? (problem && now),
    trialAt: trouble.trial.since + trialGapMs(subject, trials),
    trials,
    trial: undefined,
  });
}

function replaced(state: BlameState, subject: Subject, trouble: Trouble): BlameState {
  return { ...state, troubles: new Map(state.troubles).set(subject, trouble) };
}

/**
 * The server that tries the subject: one that streams, otherwise one that never failed there, otherwise whoever failed least
 * recently, at random among equals; undefined if each is blocked for a reason of its own. `random` is uniform in [0, 1).
 */
export function trialServer(
  subject: Subject,
  { outcomes, asked }: Evidence,
  random: () => number,
): string | undefined {
  const channel = channelOf(subject);
  const node = nodeOf(subject);
  let chosen: string | undefined;
  let chosenAt = Number.POSITIVE_INFINITY;
  let equals = 0;
  for (const [server, on] of asked[channel]) {
    if (node !== undefined && on.node !== node) continue;
    const { problem, at = 0 } = lastOf(channel, server, outcomes) ?? {};
    if (problem !== undefined && isBlockedAlone(problem)) continue;
    // The node of a server that streams is not to blame.
    const isWell = problem === undefined && outcomes.sockets.get(server)?.streams === true;
    const failedAt = isWell ? Number.NEGATIVE_INFINITY : problem === undefined ? -1 : at;
    if (failedAt > chosenAt) continue;
    equals = failedAt === chosenAt ? equals + 1 : 1;
    if (equals > 1 && random() * equals >= 1) continue;
    chosen = server;
    chosenAt = failedAt;
  }
  return chosen;
}

/** The problem as it is shown: that of the subject rather than of the call that failed. */
export function problemOfTrouble(subject: Subject, { problem }: Pick<Trouble, 'problem'>): Problem {
  if (subject === CONSOLES) return problemOfBlamed('consoles', problem);
  const path = PATHS.find((one) => subject === pathOf(one));
  return problemOfBlamed(path ?? 'node', problem);
}

/** A failure, and whose it is. */
interface Failed extends Outcome {
  readonly problem: Problem;
  readonly server: string;
}

/** What the outcomes show of one subject. */
interface Tally {
  /** The servers that are asked there and not blocked for a reason of their own. */
  asked: number;
  /** The last success. */
  worksAt: number;
  readonly failed: Failed[];
}

function tallyAll({ outcomes, asked }: Evidence, { endedAt }: BlameState): ReadonlyMap<Subject, Tally> {
  const tallies = new Map<Subject, Tally>();
  const ended = (subject: Subject | 'panel') => endedAt.get(subject) ?? Number.NEGATIVE_INFINITY;
  const add = (subject: Subject, server: string, outcome: Outcome | undefined, sign: string | undefined) => {
    const tally = tallies.get(subject) ?? { asked: 0, worksAt: Number.NEGATIVE_INFINITY, failed: [] };
    tallies.set(subject, tally);
    const problem = outcome?.problem;
    if (problem !== undefined && isBlockedAlone(problem) && sign !== 'works') return;
    tally.asked += 1;
    if (outcome === undefined || sign === undefined) return;
    if (sign === 'works') tally.worksAt = Math.max(tally.worksAt, worksUntil(outcome));
    else if (problem !== undefined) tally.failed.push({ ...outcome, problem, server });
  };
  for (const path of PATHS) {
    const explainedUntil = Math.max(ended('panel'), ended(pathOf(path)));
    for (const [server, { node }] of asked[path]) {
      const outcome = outcomes[path].get(server);
      const isExplained = outcome?.signs.path === 'fails' && outcome.at <= explainedUntil;
      const shown = isExplained ? undefined : outcome;
      add(pathOf(path), server, shown, shown?.signs.path);
      if (path === 'resources' && node !== undefined) add(pollsOf(node), server, shown, shown?.signs.node);
      if (path === 'websocket') add(CONSOLES, server, shown, shown?.signs.console);
    }
  }
  for (const [server, { node }] of asked.sockets) {
    const socket = outcomes.sockets.get(server);
    const consoles = tallies.get(CONSOLES);
    if (socket?.streams === true && consoles !== undefined) consoles.worksAt = Number.POSITIVE_INFINITY;
    if (node === undefined) continue;
    const outcome = lastOf('sockets', server, outcomes);
    add(socketsOf(node), server, outcome, outcome?.signs.node);
  }
  return tallies;
}

/** The panel's own error for a node, instead of a token, is an outcome of its sockets, too. */
function lastOf(channel: Channel, server: string, outcomes: Outcomes): Outcome | undefined {
  const own = outcomes[channel].get(server);
  if (channel !== 'sockets' || own?.streams === true) return own;
  const token = outcomes.websocket.get(server);
  const isOfNode = token?.signs.node === 'may fail' && token.at > (own?.at ?? Number.NEGATIVE_INFINITY);
  return isOfNode ? token : own;
}

function worksUntil({ at, streams }: Outcome): number {
  return streams === true ? Number.POSITIVE_INFINITY : at;
}

interface Suspect {
  readonly subject: Subject;
  readonly tally: Tally;
  readonly evidence: Evidence;
  readonly troubles: ReadonlyMap<Subject, Trouble>;
}

/** The problem of a subject whose servers fail often enough; undefined if they don't. */
function suspicion(suspect: Suspect): Problem | undefined {
  const { subject } = suspect;
  if (subject === CONSOLES) return ofConsoles(suspect);
  const node = nodeOf(subject);
  return node === undefined ? ofPath(suspect) : ofNode(suspect, node);
}

function ofNode({ subject, tally, evidence, troubles }: Suspect, node: string): Problem | undefined {
  const path = channelOf(subject) === 'sockets' ? 'websocket' : 'resources';
  // If the other way to the node is in trouble, the next failure says the same.
  if (isBlamed(troubles, path === 'websocket' ? pollsOf(node) : socketsOf(node))) return newest(tally.failed);
  const needed = Math.min(SERVERS_NEEDED, tally.asked);
  const certain = tally.failed.filter(({ signs }) => signs.node === 'fails');
  if (certain.length >= needed) return newest(certain);
  if (tally.failed.length < Math.max(2, needed)) return undefined;
  const since = firstStart(tally.failed);
  const worksElsewhere = [...evidence.asked[path]].some(([server, { node: other }]) => {
    const outcome = evidence.outcomes[path].get(server);
    return other !== node && outcome?.signs.path === 'works' && outcome.at > since;
  });
  return worksElsewhere ? newest(tally.failed) : undefined;
}

function ofPath({ subject, tally, evidence, troubles }: Suspect): Problem | undefined {
  const path = channelOf(subject);
  const asked = evidence.asked[path];
  // A node in trouble explains why its servers fail.
  const failed = tally.failed.filter(({ server }) => {
    const node = asked.get(server)?.node;
    return node === undefined || !(isBlamed(troubles, socketsOf(node)) || isBlamed(troubles, pollsOf(node)));
  });
  if (failed.length < Math.min(SERVERS_NEEDED, tally.asked) || failed.length === 0) return undefined;
  const nodes = new Set(failed.map(({ server }) => asked.get(server)?.node ?? `of ${server}`));
  const isOfSeveral = failed.length >= 2 && (nodes.size >= 2 || failed.length === tally.asked);
  if (!isOfSeveral && path !== 'listing') return undefined;
  const since = firstStart(failed);
  const worksElsewhere = PATHS.some(
    (other) =>
      other !== path &&
      [...evidence.outcomes[other].values()].some(({ signs, at }) => signs.path === 'works' && at > since),
  );
  return worksElsewhere ? newest(failed) : undefined;
}

function ofConsoles({ tally }: Suspect): Problem | undefined {
  const needed = Math.max(2, Math.min(SERVERS_NEEDED, tally.asked));
  const causes = new Set(tally.failed.map(({ problem }) => problem.cause));
  return [...causes]
    .map((cause) => tally.failed.filter(({ problem }) => problem.cause === cause))
    .filter((failed) => failed.length >= needed)
    .map(newest)[0];
}

function isBlamed(troubles: ReadonlyMap<Subject, Trouble>, subject: Subject): boolean {
  return troubles.get(subject)?.blamedAt !== undefined;
}

function firstStart(failed: readonly Failed[]): number {
  return Math.min(...failed.map(({ startedAt }) => startedAt));
}

function newest(failed: readonly Failed[]): Problem | undefined {
  return failed.reduce<Failed | undefined>(
    (last, one) => (last === undefined || one.at > last.at ? one : last),
    undefined,
  )?.problem;
}
