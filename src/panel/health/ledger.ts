/**
 * The ledger of outages: an outcome changes the tallies of the few subjects that it concerns, and
 * only these are decided.
 */
import { isBlockedAlone, NOTHING, type Signs } from '../../diagnosis/outcome.ts';
import { Ranking } from '../ranking.ts';
import {
  CHANNELS,
  type Channel,
  NO_SERVER,
  nodeOf,
  PATHS,
  type Path,
  pathOf,
  pollsOf,
  type Subject,
  socketsOf,
} from '../subjects.ts';
import { Candidates } from './candidates.ts';
import { type Outage, suspected, trialGapMs } from './outage.ts';
import { type Asked, type AskedServer, NEVER, type Outcome } from './outcome.ts';
import { type Known, suspicionOf } from './suspicion.ts';
import { STREAMS, Tallies } from './tallies.ts';
import type { Evidence, Key, Tally } from './tally.ts';

/** How long a server's last success speaks for its node and its path. */
const SUCCESS_LASTS_MS = 120_000;

/** How many candidates are looked at for one that may try. */
const CANDIDATES_TRIED = 32;

/** A server on a channel, its last outcome, and the evidence as it is counted. */
interface Cell {
  asked: AskedServer;
  last: Outcome | undefined;
  /** The node under which it is counted: it may become known, or change, later. */
  node: string | undefined;
  evidence: readonly Evidence[];
}

/** An outage that began or ended. */
export interface Decision {
  readonly subject: Subject;
  readonly before: Outage | undefined;
}

/** What an outage of the panel, a path or the consoles leaves when it ends. */
interface Ended {
  /** Failures up to here are explained by it. */
  readonly explainsUntil: number;
  readonly nextTrialAt: number;
}

/** Nothing has ended there yet. */
const NO_OUTCOME: Outcome = { startedAt: NEVER, at: NEVER, problem: undefined, signs: NOTHING };

/**
 * The last outcomes of a panel's servers, and what has an outage according to them.
 *
 * A success within the last two minutes keeps a subject other than the panel from being suspected.
 * A suspect is blamed once its first trial has failed (the panel after two), and its outage ends
 * with any success.
 */
export class Ledger {
  readonly outages = new Map<Subject, Outage>();
  /** When a call last proved that the panel works; infinite before the first. */
  #provenAt = NEVER;
  /** A call has worked since the panel's outage began. */
  #isPanelCleared = true;
  readonly #random: () => number;
  readonly #cells = byChannel(() => new Map<string, Cell>());
  readonly #candidates: Readonly<Record<Channel, Candidates>>;
  readonly #tallies = new Tallies((subject) => this.isBlamed(subject));
  /** Subjects with failures that a recent success contradicts, by when that is over. */
  readonly #contradicted = new Ranking<Tally>();
  readonly #ended = new Map<Subject, Ended>();
  /** Failures on a path up to here don't count: a larger outage that ended explains them. */
  readonly #explainedUntil = new Map<Path, number>();

  /** `random` is uniform in [0, 1). */
  constructor(random: () => number) {
    this.#random = random;
    this.#candidates = byChannel(() => new Candidates(this.#random));
  }

  get #known(): Known {
    return { find: this.#tallies.find, isBlamed: (subject) => this.isBlamed(subject) };
  }

  get provenAt(): number {
    return this.#provenAt;
  }

  /** A call worked, so that the panel isn't the cause of failures of calls that started before. */
  panelWorks(now: number): void {
    this.#provenAt = now;
    this.#isPanelCleared = true;
    this.#tallies.touch('panel');
  }

  isBlamed(subject: Subject): boolean {
    return this.outages.get(subject)?.blamedAt !== undefined;
  }

  /** These servers are asked; others are forgotten. */
  setAsked(asked: Asked): void {
    for (const channel of CHANNELS) {
      const cells = this.#cells[channel];
      for (const server of cells.keys()) if (!asked[channel].has(server)) this.#forget(channel, server);
      for (const [server, one] of asked[channel]) {
        const cell = cells.get(server);
        if (cell === undefined) {
          cells.set(server, { asked: one, last: undefined, node: undefined, evidence: [] });
          this.#count(channel, server);
        } else {
          cell.asked = one;
          if (cell.node !== one.node) this.#count(channel, server);
        }
      }
    }
  }

  /** How the server was last seen on the channel. */
  last(channel: Channel, server: string): Outcome | undefined {
    return this.#cells[channel].get(server)?.last;
  }

  asked(channel: Channel, server: string): AskedServer | undefined {
    return this.#cells[channel].get(server)?.asked;
  }

  /** The number of servers that are asked there. */
  countAsked(channel: Channel): number {
    return this.#cells[channel].size;
  }

  /**
   * The last outcome. On sockets, this may be the panel's error for the node when a token was
   * requested.
   */
  lastSeen(channel: Channel, server: string): Outcome | undefined {
    const own = this.last(channel, server);
    if (channel !== 'sockets' || own?.streams === true) return own;
    const token = this.last('websocket', server);
    return token?.signs.node === 'may fail' && token.at > (own?.at ?? NEVER) ? token : own;
  }

  /** The server's last outcome on the channel is this one, or is forgotten. */
  record(channel: Channel, server: string, last: Outcome | undefined): void {
    const cell = this.#cells[channel].get(server);
    if (cell !== undefined) {
      const streamed = cell.last?.streams === true;
      cell.last = last;
      this.#count(channel, server);
      if (channel === 'sockets' && streamed !== (last?.streams === true)) this.#rankEverywhere(server);
    }
    if (channel === 'websocket' && this.#cells.sockets.has(server)) this.#count('sockets', server);
    this.nodeMayHaveChanged(server);
  }

  /** Forgets the outcomes on these channels, except of sockets that stream. */
  forget(channels: ReadonlySet<Channel>): void {
    // The panel's errors for nodes are outcomes of their sockets, too.
    const ofBoth: string[] = [];
    for (const [server, { last }] of this.#cells.websocket)
      if (last?.signs.node !== undefined) ofBoth.push(server);
    for (const channel of channels) {
      for (const cell of this.#cells[channel].values())
        if (cell.last?.streams !== true) cell.last = undefined;
      this.#candidates[channel].forget();
    }
    this.#tallies.forget(channels);
    for (const server of ofBoth) this.#count('sockets', server);
  }

  /** The same for failures of this node's sockets, which cost nothing of other nodes. */
  forgetSocketFailures(node: string): void {
    for (const server of this.#candidates.sockets.serversOf(node))
      if (this.last('sockets', server)?.problem !== undefined) this.record('sockets', server, undefined);
  }

  /** The server's node may have become known, or have changed. */
  nodeMayHaveChanged(server: string): void {
    for (const channel of CHANNELS) {
      const cell = this.#cells[channel].get(server);
      if (cell !== undefined && cell.node !== cell.asked.node) this.#count(channel, server);
    }
  }

  /** Replaces an outage, or ends it without a success. */
  setOutage(subject: Subject, outage: Outage | undefined): void {
    const wasBlamed = this.isBlamed(subject);
    if (subject === 'panel' && !this.outages.has(subject)) this.#isPanelCleared = false;
    if (outage === undefined) this.outages.delete(subject);
    else this.outages.set(subject, outage);
    this.#tallies.touch(subject);
    if (wasBlamed !== this.isBlamed(subject)) this.#tallies.blameChanged(subject);
  }

  /**
   * Decides the subjects whose evidence changed; returns the changed outages, with their earlier
   * state.
   */
  judge(now: number): readonly Decision[] {
    const { touched } = this.#tallies;
    this.#tallies.dropProven(this.#provenAt);
    for (let next = this.#contradicted.first; next !== undefined; next = this.#contradicted.first) {
      if ((this.#contradicted.firstRank?.[0] ?? 0) > now) break;
      this.#contradicted.delete(next);
      touched.add(next);
    }
    const decisions: Decision[] = [];
    for (const tally of touched) {
      const before = this.outages.get(tally.subject);
      if (this.#ends(tally, now)) decisions.push({ subject: tally.subject, before });
    }
    // What ended may be the reason why something else wasn't suspected.
    for (const tally of touched) {
      // Before it is decided: a beginning may touch it again.
      this.#tallies.decided(tally);
      if (this.#begins(tally, now)) decisions.push({ subject: tally.subject, before: undefined });
    }
    this.#explain();
    return decisions;
  }

  /**
   * The servers that may try the subject, the best first, of those that aren't blocked: a server
   * that streams, then one that never failed there, then the one whose failure is oldest, at random
   * among equals. Except for a node, a streaming server comes first only if no server of its node
   * failed there.
   */
  *candidates(channel: Channel, node: string | undefined): Generator<string, void, undefined> {
    const { [channel]: candidates } = this.#candidates;
    const isKnown = Number.isFinite(this.#provenAt);
    let left = CANDIDATES_TRIED;
    for (const server of node === undefined ? candidates.ofAll(!isKnown) : candidates.ofNode(node)) {
      if (left === 0) return;
      left -= 1;
      yield server;
    }
  }

  #ends({ subject, servers, worksAt }: Tally, now: number): boolean {
    const outage = this.outages.get(subject);
    if (outage === undefined) return false;
    const isOver =
      subject === 'panel' ? this.#isPanelCleared : servers === 0 || worksAt >= outage.suspectedAt;
    if (!isOver) return false;
    if (nodeOf(subject) === undefined) this.#ended.set(subject, this.#endOf(subject, outage, now));
    this.setOutage(subject, undefined);
    return true;
  }

  #endOf(subject: Subject, { problem, blamedAt, trial }: Outage, now: number): Ended {
    // A panel that was only suspected worked all the time.
    const isExplanation = subject !== 'panel' || blamedAt !== undefined;
    const explainsUntil = isExplanation ? now : (this.#ended.get(subject)?.explainsUntil ?? NEVER);
    // The first check isn't because of a suspicion.
    const triedAt = problem === undefined ? undefined : trial?.since;
    return { explainsUntil, nextTrialAt: triedAt === undefined ? now : triedAt + trialGapMs(subject, 0) };
  }

  #begins(tally: Tally, now: number): boolean {
    const { subject, failed, worksAt } = tally;
    this.#contradicted.delete(tally);
    this.#tallies.awaitProof(tally, false);
    if (this.outages.has(subject) || failed === 0) return false;
    if (subject !== 'panel' && worksAt > now - SUCCESS_LASTS_MS) {
      if (Number.isFinite(worksAt)) this.#contradicted.put(tally, worksAt + SUCCESS_LASTS_MS);
      return false;
    }
    const problem = suspicionOf(tally, this.#known);
    if (problem === 'unproven') this.#tallies.awaitProof(tally, true);
    if (problem === undefined || problem === 'unproven') return false;
    this.setOutage(
      subject,
      suspected(problem, now, Math.max(now, this.#ended.get(subject)?.nextTrialAt ?? now)),
    );
    return true;
  }

  #forget(channel: Channel, server: string): void {
    const cell = this.#cells[channel].get(server);
    for (const evidence of cell?.evidence ?? []) this.#tallies.take(evidence);
    this.#cells[channel].delete(server);
    this.#candidates[channel].delete(server);
    if (channel === 'sockets' && cell?.last?.streams === true) this.#rankEverywhere(server);
    if (channel === 'websocket' && this.#cells.sockets.has(server)) this.#count('sockets', server);
  }

  #count(channel: Channel, server: string): void {
    const cell = this.#cells[channel].get(server);
    if (cell === undefined) return;
    this.#weigh(channel, server, cell);
    this.#rank(channel, server, cell);
  }

  /** Takes out the evidence of what the server's outcome was, and puts in that of what it is. */
  #weigh(channel: Channel, server: string, cell: Cell): void {
    for (const evidence of cell.evidence) this.#tallies.take(evidence);
    cell.node = cell.asked.node;
    cell.evidence = channel === 'sockets' ? this.#ofSocket(server, cell) : this.#ofCall(channel, cell);
    for (const evidence of cell.evidence) this.#tallies.put(evidence);
  }

  #ofCall(path: Path, { last: found, node }: Cell): Evidence[] {
    const isExplained =
      found?.signs.path === 'fails' && found.at <= (this.#explainedUntil.get(path) ?? NEVER);
    const last = isExplained ? undefined : found;
    const evidence = [this.#evidence(pathOf(path), last, 'path', node)];
    if (path === 'resources' && node !== undefined)
      evidence.push(this.#evidence(pollsOf(node), last, 'node', last?.signs.node));
    if (path === 'websocket')
      evidence.push(this.#evidence('consoles', last, 'console', last?.problem?.cause));
    if (last?.problem !== undefined && last.signs.panel === 'fails' && last.startedAt > this.#provenAt)
      evidence.push({
        group: this.#tallies.of('panel').group(path),
        outcome: last,
        proves: 'fails',
        isAsked: true,
      });
    return evidence;
  }

  #ofSocket(server: string, { last: own, node }: Cell): Evidence[] {
    const last = this.lastSeen('sockets', server);
    const evidence: Evidence[] = [];
    if (node !== undefined) evidence.push(this.#evidence(socketsOf(node), last, 'node', last?.signs.node));
    // A server that streams was granted its console.
    if (own?.streams === true && this.#cells.websocket.size > 0)
      evidence.push({
        group: this.#tallies.of('consoles').group(STREAMS),
        outcome: own,
        proves: 'works',
        isAsked: false,
      });
    return evidence;
  }

  #evidence(subject: Subject, last: Outcome | undefined, of: keyof Signs, key: Key): Evidence {
    const outcome = last ?? NO_OUTCOME;
    const { problem, signs } = outcome;
    const sign = signs[of];
    const isBlocked = problem !== undefined && isBlockedAlone(problem) && sign !== 'works';
    // As long as it may be the path's failure, it is no reason of the server's own.
    const isAsked = !isBlocked || signs.path === 'fails';
    const hasFailed = !isBlocked && sign !== undefined && problem !== undefined;
    const proves = sign === 'works' ? 'works' : hasFailed ? 'fails' : undefined;
    return { group: this.#tallies.of(subject).group(key), outcome, proves, isAsked };
  }

  #rank(channel: Channel, server: string, { node }: Cell): void {
    if (server === NO_SERVER) return;
    const streams = this.last('sockets', server)?.streams === true;
    this.#candidates[channel].set(server, node, this.lastSeen(channel, server), streams);
  }

  #rankEverywhere(server: string): void {
    for (const channel of CHANNELS) {
      const cell = this.#cells[channel].get(server);
      if (cell !== undefined) this.#rank(channel, server, cell);
    }
  }

  /**
   * Failures before the end of a larger outage no longer count. Done once per outage: later ones
   * are compared with its end.
   */
  #explain(): void {
    const explainedBy = (subject: Subject) => this.#ended.get(subject)?.explainsUntil ?? NEVER;
    for (const path of PATHS) {
      const until = Math.max(explainedBy('panel'), explainedBy(pathOf(path)));
      if (until <= (this.#explainedUntil.get(path) ?? NEVER)) continue;
      this.#explainedUntil.set(path, until);
      this.#tallies.excuse(path);
    }
  }
}

function byChannel<Value>(create: () => Value): Record<Channel, Value> {
  return Object.fromEntries(CHANNELS.map((channel) => [channel, create()])) as Record<Channel, Value>;
}
