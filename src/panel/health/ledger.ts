/**
 * The ledger of outages: an outcome changes the tallies of the few subjects that it concerns, and
 * only these are decided.
 */
import { isBlockedAlone, NOTHING, type Signs } from '../../diagnosis/signs.ts';
import { Heap } from '../heap.ts';
import {
  CHANNELS,
  type Channel,
  NO_SERVER,
  nodePolls,
  nodeSockets,
  PATHS,
  type Path,
  pathSubject,
  type Subject,
  subjectNode,
} from '../subjects.ts';
import { type Candidate, Candidates } from './candidates.ts';
import { type Outage, suspected, trialGapMs } from './outage.ts';
import { type Asked, type AskedServer, NEVER, type Outcome } from './outcome.ts';
import { findSuspicion, type Known } from './suspicion.ts';
import { STREAMS, Tallies } from './tallies.ts';
import { type Evidence, type Key, makeEvidence, type NextEvidence, type Tally } from './tally.ts';

/** How long a server's last success speaks for its node and its path. */
const SUCCESS_LASTS_MS = 120_000;

/** How many servers, or outages, are dealt with at once when all are forgotten. */
export const SLICE = 250;

/** How many candidates are looked at for one that may try. */
const CANDIDATES_TRIED = 32;

/** A server on a channel, its last outcome, and the evidence as it is counted. */
interface Cell {
  readonly channel: Channel;
  asked: AskedServer;
  last: Outcome | undefined;
  /** The node under which it is counted: it may become known, or change, later. */
  node: string | undefined;
  /** Its last outcome's evidence about its path, its node, the account's consoles and the panel. */
  ofPath: Evidence | undefined;
  ofNode: Evidence | undefined;
  ofConsoles: Evidence | undefined;
  ofPanel: Evidence | undefined;
  candidate: Candidate | undefined;
}

/** A server on all channels: whoever reads one of its cells looks at another one next. */
type Cells = Record<Channel, Cell | undefined>;

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
  readonly #servers = new Map<string, Cells>();
  /** The number of servers that are asked on each channel. */
  readonly #asked = byChannel(() => 0);
  readonly #candidates: Readonly<Record<Channel, Candidates>>;
  readonly #tallies = new Tallies((subject) => this.isBlamed(subject));
  /** Subjects with failures that a recent success contradicts, by when that is over. */
  readonly #contradicted = new Heap<Tally>();
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

  /**
   * A call that ended then worked, so that the panel isn't the cause of failures of calls that
   * started before.
   */
  panelWorks(at: number): void {
    this.#provenAt = Math.max(this.#provenAt, at);
    this.#isPanelCleared ||= at >= (this.outages.get('panel')?.suspectedAt ?? NEVER);
    this.#tallies.touch('panel');
  }

  isBlamed(subject: Subject): boolean {
    return this.outages.get(subject)?.blamedAt !== undefined;
  }

  /** These servers are asked; others are forgotten. */
  setAsked(asked: Asked): void {
    for (const [server, cells] of this.#servers) {
      for (const channel of CHANNELS)
        if (cells[channel] !== undefined && !asked[channel].has(server)) this.#forget(cells, channel, server);
      if (CHANNELS.every((channel) => cells[channel] === undefined)) this.#servers.delete(server);
    }
    for (const channel of CHANNELS)
      for (const [server, one] of asked[channel]) {
        const cells = this.#cellsOf(server);
        const cell = cells[channel];
        if (cell === undefined) {
          cells[channel] = makeCell(channel, one);
          this.#asked[channel] += 1;
          this.#count(cells, channel, server);
        } else {
          cell.asked = one;
          if (cell.node !== one.node) this.#count(cells, channel, server);
        }
      }
  }

  /** How the server was last seen on the channel. */
  last(channel: Channel, server: string): Outcome | undefined {
    return this.#servers.get(server)?.[channel]?.last;
  }

  asked(channel: Channel, server: string): AskedServer | undefined {
    return this.#servers.get(server)?.[channel]?.asked;
  }

  /** The number of servers that are asked there. */
  countAsked(channel: Channel): number {
    return this.#asked[channel];
  }

  /**
   * The last outcome. On sockets, this may be the panel's error for the node when a token was
   * requested.
   */
  lastSeen(channel: Channel, server: string): Outcome | undefined {
    const cells = this.#servers.get(server);
    return cells && lastSeen(cells, channel);
  }

  /** The server's last outcome on the channel is this one, or is forgotten. */
  record(channel: Channel, server: string, last: Outcome | undefined): void {
    const cells = this.#servers.get(server);
    if (cells === undefined) return;
    const cell = cells[channel];
    if (cell !== undefined) {
      const streamed = cell.last?.streams === true;
      cell.last = last;
      this.#count(cells, channel, server);
      if (channel === 'sockets' && streamed !== (last?.streams === true)) this.#rankEverywhere(cells, server);
    }
    if (channel === 'websocket') this.#count(cells, 'sockets', server);
    this.#followNode(cells, server);
  }

  /**
   * Forgets the outcomes until now on these channels, except of sockets that stream; pauses after
   * each slice of the fleet.
   */
  *forget(channels: ReadonlySet<Channel>, now: number): Generator<void, void, undefined> {
    // Failures first: without the successes that contradict them, they would begin outages.
    yield* this.#forgetOutcomes(channels, ({ at, problem }) => at <= now && problem !== undefined);
    yield* this.#forgetOutcomes(channels, ({ at, streams }) => at <= now && streams !== true);
  }

  *#forgetOutcomes(
    channels: ReadonlySet<Channel>,
    isOver: (last: Outcome) => boolean,
  ): Generator<void, void, undefined> {
    let looks = 0;
    for (const [server, cells] of this.#servers) {
      for (const channel of channels) {
        const last = cells[channel]?.last;
        if (last !== undefined && isOver(last)) this.record(channel, server, undefined);
      }
      looks += 1;
      if (looks % SLICE === 0) yield;
    }
  }

  /** The same for failures of this node's sockets, which cost nothing of other nodes. */
  forgetSocketFailures(node: string): void {
    for (const server of this.#candidates.sockets.serversOf(node))
      if (this.last('sockets', server)?.problem !== undefined) this.record('sockets', server, undefined);
  }

  /** The server's node may have become known, or have changed. */
  nodeMayHaveChanged(server: string): void {
    const cells = this.#servers.get(server);
    if (cells !== undefined) this.#followNode(cells, server);
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
      if ((this.#contradicted.firstRank ?? 0) > now) break;
      this.#contradicted.delete(next);
      this.#tallies.changed(next);
    }
    const decisions: Decision[] = [];
    for (const tally of touched) {
      const { subject, servers, worksAt } = tally;
      // What works nowhere goes on, and needs no look at its outage.
      if (subject !== 'panel' && servers > 0 && worksAt === NEVER) continue;
      const before = this.outages.get(subject);
      if (before !== undefined && this.#ends(tally, before, now)) decisions.push({ subject, before });
    }
    // What ended may be the reason why something else wasn't suspected.
    for (const tally of touched) {
      // Before it is decided: a beginning may touch it again.
      this.#tallies.decided(tally);
      if (this.#begins(tally, now)) decisions.push({ subject: tally.subject, before: undefined });
    }
    touched.length = 0;
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

  #ends({ subject, servers, worksAt }: Tally, outage: Outage, now: number): boolean {
    const isOver =
      subject === 'panel' ? this.#isPanelCleared : servers === 0 || worksAt >= outage.suspectedAt;
    if (!isOver) return false;
    if (subjectNode(subject) === undefined) this.#ended.set(subject, this.#endOf(subject, outage, now));
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
    if (failed === 0 || this.outages.has(subject)) return false;
    if (subject !== 'panel' && worksAt > now - SUCCESS_LASTS_MS) {
      if (Number.isFinite(worksAt)) this.#contradicted.put(tally, worksAt + SUCCESS_LASTS_MS);
      return false;
    }
    const problem = findSuspicion(tally, this.#known);
    if (problem === 'unproven') this.#tallies.awaitProof(tally, true);
    if (problem === undefined || problem === 'unproven') return false;
    this.setOutage(
      subject,
      suspected(problem, now, Math.max(now, this.#ended.get(subject)?.nextTrialAt ?? now)),
    );
    return true;
  }

  #cellsOf(server: string): Cells {
    let cells = this.#servers.get(server);
    if (cells === undefined) this.#servers.set(server, (cells = byChannel(() => undefined)));
    return cells;
  }

  #forget(cells: Cells, channel: Channel, server: string): void {
    const cell = cells[channel];
    if (cell === undefined) return;
    for (const evidence of [cell.ofPath, cell.ofNode, cell.ofConsoles, cell.ofPanel])
      if (evidence !== undefined) this.#tallies.take(evidence);
    cells[channel] = undefined;
    this.#asked[channel] -= 1;
    if (cell.candidate !== undefined) this.#candidates[channel].delete(cell.candidate);
    if (channel === 'sockets' && cell.last?.streams === true) this.#rankEverywhere(cells, server);
    if (channel === 'websocket') this.#count(cells, 'sockets', server);
  }

  #followNode(cells: Cells, server: string): void {
    for (const channel of CHANNELS) {
      const cell = cells[channel];
      if (cell !== undefined && cell.node !== cell.asked.node) this.#count(cells, channel, server);
    }
  }

  #count(cells: Cells, channel: Channel, server: string): void {
    const cell = cells[channel];
    if (cell === undefined) return;
    this.#weigh(cells, cell);
    this.#rank(cells, cell, server);
  }

  /** Puts the evidence of what the server's outcome is in the place of what it was. */
  #weigh(cells: Cells, cell: Cell): void {
    const { channel, asked } = cell;
    const { node } = asked;
    const isOfNode = node !== undefined && (channel === 'sockets' || channel === 'resources');
    let ofNode = cell.ofNode?.group.tally;
    if (!isOfNode) ofNode = undefined;
    else if (ofNode?.node !== node)
      ofNode = this.#tallies.of(channel === 'sockets' ? nodeSockets(node) : nodePolls(node));
    cell.node = node;
    if (channel === 'sockets') this.#weighSocket(cells, cell, ofNode);
    else this.#weighCall(channel, cell, ofNode);
  }

  #weighCall(path: Path, cell: Cell, ofNode: Tally | undefined): void {
    const { last: found, node } = cell;
    const isExplained =
      found?.signs.path === 'fails' && found.at <= (this.#explainedUntil.get(path) ?? NEVER);
    const last = isExplained ? undefined : found;
    const ofPath = this.#tallies.of(pathSubject(path));
    cell.ofPath = this.#put(cell.ofPath, proof(ofPath, last, 'path', node, cell.ofPath));
    cell.ofNode = this.#put(
      cell.ofNode,
      ofNode && proof(ofNode, last, 'node', last?.signs.node, cell.ofNode),
    );
    if (path === 'websocket') {
      const consoles = this.#tallies.of('consoles');
      const cause = last?.problem?.cause;
      cell.ofConsoles = this.#put(cell.ofConsoles, proof(consoles, last, 'console', cause, cell.ofConsoles));
    }
    const mayBePanels =
      last?.problem !== undefined && last.signs.panel === 'fails' && last.startedAt > this.#provenAt;
    if (!mayBePanels && cell.ofPanel === undefined) return;
    const group = this.#tallies.of('panel').group(path);
    cell.ofPanel = this.#put(
      cell.ofPanel,
      mayBePanels ? { group, outcome: last, proves: 'fails', isAsked: true } : undefined,
    );
  }

  #weighSocket(cells: Cells, cell: Cell, ofNode: Tally | undefined): void {
    const own = cell.last;
    const last = lastSeen(cells, 'sockets');
    cell.ofNode = this.#put(
      cell.ofNode,
      ofNode && proof(ofNode, last, 'node', last?.signs.node, cell.ofNode),
    );
    // A server that streams was granted its console.
    const isGranted = own?.streams === true && this.#asked.websocket > 0;
    if (!isGranted && cell.ofConsoles === undefined) return;
    const group = this.#tallies.of('consoles').group(STREAMS);
    cell.ofConsoles = this.#put(
      cell.ofConsoles,
      isGranted ? { group, outcome: own, proves: 'works', isAsked: false } : undefined,
    );
  }

  /** Replaces evidence, or takes it out. */
  #put(before: Evidence | undefined, next: NextEvidence | undefined): Evidence | undefined {
    if (before === undefined) {
      const evidence = next && makeEvidence(next);
      if (evidence !== undefined) this.#tallies.put(evidence);
      return evidence;
    }
    if (next !== undefined) this.#tallies.change(before, next);
    else this.#tallies.take(before);
    return next && before;
  }

  #rank(cells: Cells, cell: Cell, server: string): void {
    if (server === NO_SERVER) return;
    const { channel, node, candidate } = cell;
    const streams = cells.sockets?.last?.streams === true;
    const last = lastSeen(cells, channel);
    cell.candidate = this.#candidates[channel].set(candidate ?? server, node, last, streams);
  }

  #rankEverywhere(cells: Cells, server: string): void {
    for (const channel of CHANNELS) {
      const cell = cells[channel];
      if (cell !== undefined) this.#rank(cells, cell, server);
    }
  }

  /**
   * Failures before the end of a larger outage no longer count. Done once per outage: later ones
   * are compared with its end.
   */
  #explain(): void {
    const explainedBy = (subject: Subject) => this.#ended.get(subject)?.explainsUntil ?? NEVER;
    for (const path of PATHS) {
      const until = Math.max(explainedBy('panel'), explainedBy(pathSubject(path)));
      if (until <= (this.#explainedUntil.get(path) ?? NEVER)) continue;
      this.#explainedUntil.set(path, until);
      this.#tallies.excuse(path);
    }
  }
}

function makeCell(channel: Channel, asked: AskedServer): Cell {
  const nothing = { ofPath: undefined, ofNode: undefined, ofConsoles: undefined, ofPanel: undefined };
  return { channel, asked, last: undefined, node: undefined, ...nothing, candidate: undefined };
}

function lastSeen(cells: Cells, channel: Channel): Outcome | undefined {
  const own = cells[channel]?.last;
  if (channel !== 'sockets' || own?.streams === true) return own;
  const token = cells.websocket?.last;
  return token?.signs.node === 'may fail' && token.at > (own?.at ?? NEVER) ? token : own;
}

/** Evidence of the outcome about a subject, in the group with this key. */
function proof(
  tally: Tally,
  last: Outcome | undefined,
  of: keyof Signs,
  key: Key,
  before: Evidence | undefined,
): NextEvidence {
  const outcome = last ?? NO_OUTCOME;
  const { problem, signs } = outcome;
  const sign = signs[of];
  const isBlocked = problem !== undefined && isBlockedAlone(problem) && sign !== 'works';
  // As long as it may be the path's failure, it is no reason of the server's own.
  const isAsked = !isBlocked || signs.path === 'fails';
  const hasFailed = !isBlocked && sign !== undefined && problem !== undefined;
  const proves = sign === 'works' ? 'works' : hasFailed ? 'fails' : undefined;
  return { group: tally.group(key, before?.group), outcome, proves, isAsked };
}

function byChannel<Value>(create: () => Value): Record<Channel, Value> {
  return Object.fromEntries(CHANNELS.map((channel) => [channel, create()])) as Record<Channel, Value>;
}
