import { CAUSES } from '../diagnosis/causes.ts';
import { PanelError } from './errors.ts';

/** Whether a server's node answers, judged by the last `/resources` call: `new` before the first one. */
export type NodeTrust = 'proven' | 'new' | 'suspect';

/** With more suspects than this, most of their polls fail. */
const FEW_SUSPECTS = 3;

/** A poll within this part of the request timeout is prompt, however long polls usually take: 3 s by default. */
const PROMPT_PART = 0.12;

/** A poll is late once it takes this many times as long as usual. */
const LATE_TIMES = 4;

/** A poll that takes longer than this part of the request timeout is always late: 15 s by default. */
const LATE_PART = 0.6;

/** The weight of each call's duration in the usual duration. */
const USUAL_WEIGHT = 0.1;

/** A poll was ended early because other calls needed its seat: its node is suspected, but not judged yet. */
export class PollCutShort extends PanelError {
  constructor(seconds: number) {
    super({
      cause: 'node_silent',
      detail: `no answer within ${seconds.toFixed(0)} s, while other calls waited`,
    });
  }
}

/** A poll in flight. */
interface RunningPoll {
  readonly server: string | undefined;
  readonly trust: NodeTrust;
  /** A monotonic instant. */
  readonly startedAt: number;
}

/** Which servers' nodes answer, how long that usually takes, and which polls are waiting for one. */
export class NodeAnswers {
  readonly #proven = new Set<string>();
  /** How many times in a row each server's node failed to answer. */
  readonly #suspects = new Map<string, number>();
  /** Oldest first. */
  readonly #running = new Map<AbortController, RunningPoll>();
  readonly #requestTimeoutMs: number;
  #usualMs: number | undefined;
  /** The start of the last call that was answered, in monotonic milliseconds. */
  #lastAnsweredStart = Number.NEGATIVE_INFINITY;

  /** `requestTimeoutMs` shows how long the operator is willing to wait for this panel. */
  constructor(requestTimeoutMs: number) {
    this.#requestTimeoutMs = requestTimeoutMs;
  }

  trustIn(server: string | undefined): NodeTrust {
    if (server === undefined) return 'proven';
    if (this.#suspects.has(server)) return 'suspect';
    return this.#proven.has(server) ? 'proven' : 'new';
  }

  get hasManySuspects(): boolean {
    return this.#suspects.size > FEW_SUSPECTS;
  }

  /** Has the server's node failed to answer only once so far? */
  isFreshSuspect(server: string | undefined): boolean {
    return server !== undefined && this.#suspects.get(server) === 1;
  }

  /** Forgets what was learned about the server's node. */
  forget(server: string): void {
    this.#proven.delete(server);
    this.#suspects.delete(server);
  }

  /** A poll began; its controller can end it. */
  began(poll: AbortController, facts: RunningPoll): void {
    this.#running.set(poll, facts);
  }

  /** The poll was withdrawn, which says nothing about its node. */
  withdrawn(poll: AbortController): void {
    this.#running.delete(poll);
  }

  /** The poll was answered; true if the node had failed to answer for this server before. */
  answered(poll: AbortController, now: number): boolean {
    const facts = this.#ended(poll);
    if (facts?.server === undefined) return false;
    const tookMs = now - facts.startedAt;
    this.#proven.add(facts.server);
    this.#suspects.delete(facts.server);
    const usual = this.#usualMs ?? tookMs;
    this.#usualMs = usual + (tookMs - usual) * USUAL_WEIGHT;
    return facts.trust === 'suspect';
  }

  /** The poll failed; without an error, the panel answered without data. */
  failed(poll: AbortController, now: number, error?: unknown): void {
    const facts = this.#ended(poll);
    if (facts?.server === undefined) return;
    const isOfNode =
      error === undefined || (error instanceof PanelError && CAUSES[error.problem.cause].scope === 'node');
    if (isOfNode || now - facts.startedAt >= this.#lateAfterMs)
      this.#suspects.set(facts.server, (this.#suspects.get(facts.server) ?? 0) + 1);
  }

  /** The panel answered a call of any kind that started at this instant. */
  panelAnswered(startedAt: number): void {
    this.#lastAnsweredStart = Math.max(this.#lastAnsweredStart, startedAt);
  }

  /** How many polls are late, except those of suspects, which have their own seat. */
  latePolls(now: number): number {
    let count = 0;
    for (const poll of this.#running.values()) if (this.#isLate(poll, now)) count += 1;
    return count;
  }

  /**
   * Ends late polls, because another call needs a seat; returns the milliseconds until there is more to do. As long as the panel
   * doesn't answer any other call either, it is the panel or this machine that stalls and not a node, and late polls are left
   * alone.
   */
  makeRoom(now: number): number {
    const lateAfterMs = this.#lateAfterMs;
    let againMs = Number.POSITIVE_INFINITY;
    for (const [controller, poll] of this.#running) {
      if (poll.trust === 'suspect' || controller.signal.aborted) continue;
      const isOvertaken = this.#lastAnsweredStart >= poll.startedAt + lateAfterMs;
      const isLate = this.#isLate(poll, now);
      const leftMs = poll.startedAt + (isLate ? this.#requestTimeoutMs * LATE_PART : lateAfterMs) - now;
      if (isLate && (isOvertaken || leftMs <= 0))
        controller.abort(new PollCutShort((now - poll.startedAt) / 1_000));
      else againMs = Math.min(againMs, leftMs);
    }
    return againMs;
  }

  #isLate({ trust, startedAt }: RunningPoll, now: number): boolean {
    return trust !== 'suspect' && now - startedAt >= this.#lateAfterMs;
  }

  get #lateAfterMs(): number {
    const promptMs = this.#requestTimeoutMs * PROMPT_PART;
    return Math.min(
      this.#requestTimeoutMs * LATE_PART,
      Math.max(promptMs, (this.#usualMs ?? 0) * LATE_TIMES),
    );
  }

  #ended(poll: AbortController): RunningPoll | undefined {
    const facts = this.#running.get(poll);
    this.#running.delete(poll);
    return facts;
  }
}
