/** One panel's health: derives outages of subjects from the outcomes of calls and sockets. */
import { callSigns } from '../../diagnosis/signs.ts';
import type { Clock } from '../../domain/clock.ts';
import type { CauseCode, Problem } from '../../domain/problems.ts';
import type { ProblemReading } from '../../domain/reading.ts';
import {
  type Channel,
  NO_SERVER,
  type Path,
  pathSubject,
  type Subject,
  socketsSubject,
  subjectChannel,
} from '../subjects.ts';
import { hastened, type Outage, shownProblem, withCheck } from './blame.ts';
import { LastOutcomes, SLICE } from './last-outcomes.ts';
import { Ledger } from './ledger.ts';
import { type AskedServer, type Outcome, workedAt } from './outcome.ts';
import { RefusalWatch } from './refusal-watch.ts';
import type { SocketTrial } from './socket-trials.ts';
import type { Enqueue } from './trial-call.ts';
import { Trials } from './trials.ts';

/** How a panel is used. */
export interface PanelUse {
  /**
   * Whether the server list is unused, only describes configured servers, or is the only source of
   * servers.
   */
  readonly listing: 'none' | 'optional' | 'required';
  /** The servers of each path, by id. Those of the credentials path may stream. */
  readonly asked: Readonly<Record<Exclude<Path, 'listing'>, ReadonlyMap<string, AskedServer>>>;
}

/** A change of a panel's health. */
export type HealthChange =
  /** The subject is now blamed, is no longer blamed, or is blamed for another problem. */
  | { readonly of: 'subject'; readonly subject: Subject }
  /** This server was chosen to try its node's sockets, or its trial is over. */
  | { readonly of: 'trial'; readonly server: string }
  /**
   * A server that failed for this cause works again, so others that failed for it may work, too.
   */
  | { readonly of: 'recovery'; readonly cause: CauseCode; readonly node: string | undefined };

/** The outcome of a call. */
export interface CallEnded {
  readonly path: Path;
  readonly server: string;
  readonly startedAt: number;
  /** Absent if the call has just ended. */
  readonly endedAt?: number;
  /** Undefined on success. */
  readonly problem: Problem | undefined;
  /** Whether the panel itself responded, in one of its own forms. */
  readonly fromPanel: boolean;
}

export interface HealthOptions {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly enqueue: Enqueue;
  readonly changed: (change: HealthChange) => void;
}

export class Health {
  listing: PanelUse['listing'] = 'required';
  readonly #options: HealthOptions;
  readonly #ledger = new Ledger();
  readonly #outcomes: LastOutcomes;
  readonly #refusals = new RefusalWatch();
  readonly #trials: Trials;
  /** Events that wait until the current one is handled. */
  readonly #events: (() => void)[] = [];
  #isBusy = false;
  /** Subjects that are suspected, but not yet blamed or cleared. */
  readonly #suspects = new Set<Subject>();
  #isStopped = false;

  constructor(options: HealthOptions) {
    this.#options = options;
    this.#outcomes = new LastOutcomes(this.#ledger, options.random);
    this.#trials = new Trials({
      clock: options.clock,
      ledger: this.#ledger,
      outcomes: this.#outcomes,
      enqueue: options.enqueue,
      isListMissing: () => this.#isListMissing,
      happens: (event) => this.#happens(event),
      set: (subject, outage) => this.#set(subject, outage),
      changed: (server) => options.changed({ of: 'trial', server }),
    });
  }

  /** Whether a call has shown that the panel works. */
  get isKnown(): boolean {
    return Number.isFinite(this.#ledger.provenAt);
  }

  get isJudging(): boolean {
    return this.#suspects.size > 0;
  }

  outage(subject: Subject): Outage | undefined {
    return this.#ledger.outages.get(subject);
  }

  isBlamed(subject: Subject): boolean {
    return this.#ledger.isBlamed(subject);
  }

  /** The problem of the first blamed subject among these. */
  firstProblem(...subjects: readonly Subject[]): Problem | undefined {
    for (const subject of subjects) {
      const problem = shownProblem(subject, this.outage(subject));
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  /** The problem of the first blamed subject among these, and when its suspicion began. */
  reading(...subjects: readonly Subject[]): ProblemReading | undefined {
    for (const subject of subjects) {
      const outage = this.outage(subject);
      const problem = shownProblem(subject, outage);
      if (outage !== undefined && problem !== undefined) return { ...problem, since: outage.suspectedAt };
    }
    return undefined;
  }

  asked(channel: Channel, server: string): AskedServer | undefined {
    return this.#outcomes.asked(channel, server);
  }

  last(channel: Channel, server: string): Outcome | undefined {
    return this.#outcomes.last(channel, server);
  }

  /** The trial of its node's sockets for which the server was chosen, until the trial has ended. */
  socketTrial(server: string): SocketTrial | undefined {
    return this.#trials.sockets.find(server);
  }

  /**
   * Handles the end of a call. The outcome is ignored if a later outcome of the server is already
   * known.
   */
  callEnded({ path, server, startedAt, endedAt = this.#now, problem, fromPanel }: CallEnded): void {
    // If the panel has no server list, its failure shows nothing. A success always does.
    if (path === 'listing' && this.#isListMissing && problem !== undefined) return;
    const signs = callSigns({ endpoint: path, cause: problem?.cause, fromPanel, isProven: this.isKnown });
    // A 429 shows nothing.
    if (Object.values(signs).every((sign) => sign === undefined)) return;
    const last = this.last(path, server);
    if (last !== undefined && last.at > endedAt) return;
    const before = last?.problem?.cause;
    this.#happens(() => {
      this.#record(path, server, { startedAt, at: endedAt, problem, signs });
      if (before !== undefined && problem === undefined)
        this.#options.changed({ of: 'recovery', cause: before, node: this.asked(path, server)?.node });
      const facts = { now: this.#now, asked: this.#outcomes.countAsked(path) };
      if (path !== 'listing' && this.#refusals.ended(server, before, problem?.cause, facts))
        this.#lookAtList();
    });
  }

  /**
   * Handles the end of an attempt to stream, or of a socket. The outcome is undefined if it shows
   * nothing.
   */
  socketEnded(server: string, outcome: Omit<Outcome, 'at'> | undefined): void {
    // Before the outcome is recorded, because a failure that causes a suspicion isn't a trial of
    // it.
    const hasTried = this.#trials.sockets.take(server);
    this.#happens(() => {
      if (outcome !== undefined) this.#record('sockets', server, { ...outcome, at: this.#now });
      hasTried();
    });
  }

  /** Handles a server whose node may have become known or changed. */
  nodeMayHaveChanged(server: string): void {
    this.#happens(() => this.#outcomes.nodeMayHaveChanged(server));
  }

  /** Sets how the panel is used, and forgets all other servers. */
  setUse({ listing, asked: onPaths }: PanelUse): void {
    this.#happens(() => {
      this.listing = listing;
      const none = new Map([[NO_SERVER, {}]]);
      this.#outcomes.setAsked({ ...onPaths, listing: none, sockets: onPaths.websocket });
      this.#trials.forgetUnasked();
    });
  }

  /** Tries the panel at once. */
  check(): void {
    this.#happens(() => this.#set('panel', withCheck(this.outage('panel'), this.#now)));
  }

  /**
   * Forgets the outcomes on these channels after their connection changed, except those of
   * streaming sockets.
   */
  forget(channels: ReadonlySet<Channel>): void {
    const slices = this.#forgetting(channels, this.#now);
    const next = () => {
      if (!this.#isStopped && slices.next().done !== true)
        this.#options.clock.schedule(0, () => this.#happens(next));
    };
    this.#happens(next);
  }

  /**
   * Forgets failures of a node's sockets, because the panel now gives another address. An outage is
   * tried there at once. If the node `isNamedByAddress`, the outage is over, because its servers
   * then belong to a node of another name.
   */
  forgetSockets(node: string, isNamedByAddress: boolean): void {
    this.#happens(() => {
      this.#outcomes.forgetSocketFailures(node);
      const outage = this.outage(socketsSubject(node));
      const next = isNamedByAddress ? undefined : outage && hastened(outage, this.#now);
      if (outage !== undefined) this.#set(socketsSubject(node), next);
    });
  }

  stop(): void {
    this.#isStopped = true;
    this.#trials.stop();
  }

  get #now(): number {
    return this.#options.clock.now();
  }

  /** Whether the panel isn't known to have a server list, and the configuration doesn't use one. */
  get #isListMissing(): boolean {
    return this.listing === 'none' && this.last('listing', NO_SERVER) === undefined;
  }

  /** Handles an event after those before it, and then decides. */
  #happens(event: () => void): void {
    this.#events.push(event);
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      for (let next = this.#events.shift(); next !== undefined; next = this.#events.shift()) {
        next();
        this.#decide();
      }
    } finally {
      this.#isBusy = false;
    }
  }

  /** Records the outcome of a server's call or socket, or that it streams. */
  #record(channel: Channel, server: string, outcome: Outcome): void {
    const isDown = this.isBlamed('panel');
    if (outcome.signs.panel === 'works') this.#ledger.panelWorks(workedAt(outcome));
    // While the panel is down, its problem explains failed calls.
    const isExplained = isDown && channel !== 'sockets' && outcome.problem !== undefined;
    if (isExplained) this.#outcomes.failedInOutage(channel, server, outcome.at);
    else this.#outcomes.record(channel, server, outcome);
  }

  /**
   * Forgets the outcomes first, so that they can't cause another outage, and then all outages until
   * now.
   */
  *#forgetting(channels: ReadonlySet<Channel>, now: number): Generator<void, void, undefined> {
    yield* this.#outcomes.forget(channels, now);
    let ended = 0;
    for (const [subject, { suspectedAt }] of this.#ledger.outages) {
      if (subject === 'panel' || suspectedAt > now || !channels.has(subjectChannel(subject))) continue;
      this.#set(subject, undefined);
      ended += 1;
      if (ended % SLICE === 0) yield;
    }
  }

  #decide(): void {
    for (const { subject, before } of this.#ledger.judge(this.#now)) this.#follow(subject, before);
    this.#trials.beginDue();
  }

  #set(subject: Subject, outage: Outage | undefined): void {
    const before = this.outage(subject);
    this.#ledger.setOutage(subject, outage);
    this.#follow(subject, before);
  }

  /** Handles a change of the subject's outage, which was `before`. */
  #follow(subject: Subject, before: Outage | undefined): void {
    const outage = this.outage(subject);
    this.#trials.follow(subject, outage);
    if (outage !== undefined && outage.blamedAt === undefined) this.#suspects.add(subject);
    else this.#suspects.delete(subject);
    if (blamedFor(before) !== blamedFor(outage)) this.#options.changed({ of: 'subject', subject });
  }

  /**
   * Requests one page of the server list, which shows whether the panel still has the servers that
   * it rejects.
   */
  #lookAtList(): void {
    const scope = new AbortController();
    this.#options.enqueue(
      { path: 'listing', servers: [NO_SERVER], tries: pathSubject('listing'), needsRoom: false },
      scope.signal,
    );
  }
}

function blamedFor(outage: Outage | undefined): Problem | undefined {
  return outage?.blamedAt === undefined ? undefined : outage.problem;
}
