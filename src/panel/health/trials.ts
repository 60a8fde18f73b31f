/** Runs the trials of subjects with an outage when they are due. */
import type { Cancel, Clock } from '../../domain/clock.ts';
import type { Problem } from '../../domain/problems.ts';
import { PriorityQueue } from '../priority-queue.ts';
import { NO_SERVER, type Subject, subjectChannel, subjectNode } from '../subjects.ts';
import { blamedIfTrialFailed, type Outage, type Trial, trialProblem, withTrial } from './blame.ts';
import { askCanaries } from './canaries.ts';
import type { LastOutcomes } from './last-outcomes.ts';
import type { Ledger } from './ledger.ts';
import { SocketTrials } from './socket-trials.ts';
import type { Enqueue, RunningTrial } from './trial-call.ts';

export interface TrialsOptions {
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly outcomes: LastOutcomes;
  readonly enqueue: Enqueue;
  /** Whether the panel isn't known to have a server list, and the configuration doesn't use one. */
  readonly isListMissing: () => boolean;
  /** Handles an event after those before it, and then decides. */
  readonly happens: (event: () => void) => void;
  /** Replaces the subject's outage. */
  readonly set: (subject: Subject, outage: Outage) => void;
  /** Called when this server was chosen to try its node's sockets, and when its trial is over. */
  readonly changed: (server: string) => void;
}

export class Trials {
  readonly sockets: SocketTrials;
  readonly #options: TrialsOptions;
  readonly #ledger: Ledger;
  readonly #outcomes: LastOutcomes;
  /** Subjects with an outage but no running trial, by when the next trial is due. */
  readonly #due = new PriorityQueue<Subject>();
  /** Running trials. */
  readonly #scopes = new Map<Subject, AbortController>();
  /** The number of canary rounds since the panel's outage began. */
  #rounds = 0;
  #cancelTimer: Cancel = () => undefined;
  #isStopped = false;

  constructor(options: TrialsOptions) {
    this.#options = options;
    this.#ledger = options.ledger;
    this.#outcomes = options.outcomes;
    this.sockets = new SocketTrials(options.changed);
  }

  /** Follows a change of the subject's outage. */
  follow(subject: Subject, outage: Outage | undefined): void {
    if (subject === 'panel' && outage === undefined) this.#rounds = 0;
    if (outage?.trial === undefined) {
      this.#scopes.get(subject)?.abort(new Error('the trial is over'));
      this.#scopes.delete(subject);
    }
    if (outage !== undefined && outage.trial === undefined) this.#due.put(subject, outage.trialAt);
    else this.#due.delete(subject);
  }

  /** Ends the trials of servers that are no longer asked. */
  forgetUnasked(): void {
    for (const subject of this.#scopes.keys()) {
      const server = this.#outage(subject)?.trial?.server;
      const isGone =
        server !== undefined && this.#outcomes.asked(subjectChannel(subject), server) === undefined;
      if (subject !== 'panel' && isGone) this.#ended(subject, undefined);
    }
  }

  /** Starts all trials that are due, and sets a timer for the next one. */
  beginDue(): void {
    this.#cancelTimer();
    if (this.#isStopped) return;
    const { clock, happens } = this.#options;
    const now = clock.now();
    for (let subject = this.#due.first; subject !== undefined; subject = this.#due.first) {
      const at = this.#due.firstRank?.[0] ?? now;
      if (at > now) {
        this.#cancelTimer = clock.schedule(at - now, () => happens(() => undefined));
        return;
      }
      void this.#try(subject);
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer();
    for (const scope of this.#scopes.values()) scope.abort(new Error('stopped'));
  }

  /** Starts a trial, once the reported failure has been handled. */
  async #try(subject: Subject): Promise<void> {
    const outage = this.#outage(subject);
    if (outage === undefined) return;
    const scope = new AbortController();
    this.#scopes.set(subject, scope);
    this.#options.set(subject, withTrial(outage, NO_SERVER, this.#options.clock.now()));
    await Promise.resolve();
    if (scope.signal.aborted) return;
    const problem = await this.#runTrial(subject, scope.signal).catch(() => undefined);
    // If the trial was aborted, another event has already decided it.
    if (!scope.signal.aborted)
      this.#options.happens(() => !scope.signal.aborted && this.#ended(subject, problem));
  }

  #ended(subject: Subject, problem: Problem | undefined): void {
    const outage = this.#outage(subject);
    if (outage !== undefined)
      this.#options.set(subject, blamedIfTrialFailed(outage, subject, problem, this.#options.clock.now()));
  }

  /**
   * Runs a trial. Resolves with its problem; undefined if it had no result, or a success that is
   * already recorded.
   */
  async #runTrial(subject: Subject, signal: AbortSignal): Promise<Problem | undefined> {
    if (subject === 'panel') return this.#round(signal);
    const channel = subjectChannel(subject);
    const servers = this.#outcomes.candidates(channel, subjectNode(subject));
    const trial =
      channel === 'sockets'
        ? this.#trySocket(subject, servers, signal)
        : this.#options.enqueue(
            {
              path: channel,
              servers: channel === 'listing' ? [NO_SERVER] : servers,
              tries: subject,
              needsRoom: false,
            },
            signal,
          );
    if (trial === undefined) return undefined;
    const { server, end } = trial;
    const before = this.#outcomes.lastSeen(channel, server);
    this.#chose(subject, server);
    await end;
    // If the server has moved in the meantime, its outcome is about another node.
    const node = subjectNode(subject);
    if (node !== undefined && this.#outcomes.asked(channel, server)?.node !== node) return undefined;
    const last = this.#outcomes.lastSeen(channel, server);
    return last === undefined || last === before ? undefined : trialProblem(subject, last);
  }

  #trySocket(subject: Subject, servers: Iterable<string>, signal: AbortSignal): RunningTrial | undefined {
    const [server] = servers;
    if (server === undefined) return undefined;
    const isFresh = this.#outage(subject)?.trial?.isFresh === true;
    return this.sockets.begin(server, { subject, isFresh }, signal);
  }

  /** Notes the server that was chosen for the trial. */
  #chose(subject: Subject, server: string): void {
    this.#options.happens(() => {
      const outage = this.#outage(subject);
      if (outage?.trial === undefined) return;
      const trial: Trial = { ...outage.trial, server };
      this.#ledger.setOutage(subject, { ...outage, trial });
      if (this.sockets.find(server) !== undefined) this.#options.changed(server);
    });
  }

  #round(signal: AbortSignal): Promise<Problem | undefined> {
    const { clock, enqueue, isListMissing } = this.#options;
    const { trials = 0, blamedAt } = this.#outage('panel') ?? {};
    const isListingUsed = !isListMissing() || trials === 0;
    const earlierRounds = this.#rounds;
    this.#rounds += 1;
    return askCanaries(
      {
        clock,
        enqueue,
        isUsed: (path) => (path === 'listing' ? isListingUsed : this.#outcomes.countAsked(path) > 0),
        candidates: (path) => this.#outcomes.candidates(path, undefined),
        earlierRounds,
        isBlamed: blamedAt !== undefined,
        isListMissing: isListMissing(),
        isKnown: Number.isFinite(this.#ledger.provenAt),
      },
      signal,
    );
  }

  #outage(subject: Subject): Outage | undefined {
    return this.#ledger.outages.get(subject);
  }
}
