/** Learns an account's rate limit from the calls of one panel. */
import type { Cancel, Clock } from '../domain/clock.ts';
import type { ProblemReading } from '../domain/reading.ts';
import type { Account } from './account.ts';
import type { ForeignCalls } from './foreign-calls.ts';
import { isThrottled, PanelError } from './panel-error.ts';
import type { RateLog } from './rate-log.ts';
import type { Call } from './scheduler/call.ts';
import { isOfConsole, type LimitChanged, type RateFacts, type RateLimit } from './scheduler/rate-limit.ts';
import type { Path } from './subjects.ts';

export interface PanelRateOptions {
  readonly clock: Clock;
  readonly account: Account;
  /** This shard's share of the limit; 1 if absent. */
  readonly share?: number | undefined;
  readonly log: Pick<RateLog, 'learned' | 'shared' | 'paused'>;
  /** Called when the limit changed, through this panel or another one of the account. */
  readonly limitChanged: LimitChanged;
  /** Called when a pause of the path began or ended. */
  readonly pathChanged: (path: Path) => void;
  /** Called when the account has become shared with other clients, or is no longer shared. */
  readonly sharingChanged: () => void;
}

/** A call of this panel, counted for its account. */
interface CountedCall {
  readonly foreign: ForeignCalls;
  readonly own: ReturnType<ForeignCalls['started']>;
}

export class PanelRate {
  readonly #options: PanelRateOptions;
  #account: Account;
  #unwatch: Cancel;

  constructor(options: PanelRateOptions) {
    this.#options = options;
    this.#account = options.account;
    this.#unwatch = options.account.watch(options.limitChanged);
  }

  get account(): Account {
    return this.#account;
  }

  get limit(): RateLimit {
    return this.#account.limit;
  }

  /** The problem of a panel whose account is shared. */
  get sharingProblem(): ProblemReading | undefined {
    return this.#foreign.problem;
  }

  /** Uses the account of the panel's current key. */
  use(account: Account): void {
    this.#unwatch();
    this.#account = account;
    this.#unwatch = account.watch(this.#options.limitChanged);
  }

  /** Returns the call's result, after learning from its end. */
  async learnFrom<T extends RateFacts>(
    call: Pick<Call, 'path' | 'server'>,
    asked: Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const foreign = this.#foreign;
    const own = { foreign, own: foreign.started(this.#options.clock.now()) };
    try {
      const answer = await this.#counted(own, asked);
      this.#learn(call, answer, own);
      return answer;
    } catch (error) {
      const failure = error instanceof PanelError ? error : undefined;
      // The call was canceled.
      if (signal.aborted && failure === undefined) throw error;
      const facts = failure?.fromPanel === true ? { limitPerMinute: failure.limitPerMinute } : {};
      this.#learn(call, facts, own, failure);
      throw error;
    }
  }

  /** Returns the call's result, after its end has been counted. */
  async #counted<T>({ foreign }: CountedCall, asked: Promise<T>): Promise<T> {
    let isAnswered = true;
    try {
      return await asked;
    } catch (error) {
      isAnswered = error instanceof PanelError && error.status !== undefined;
      throw error;
    } finally {
      foreign.ended(isAnswered, this.#options.clock.now());
    }
  }

  /** Learns from a response: a 429 demands a pause, and other responses end it. */
  #learn(
    { path, server }: Pick<Call, 'path' | 'server'>,
    facts: RateFacts,
    { foreign, own }: CountedCall,
    failure?: PanelError,
  ): void {
    const { limit } = this;
    const { log, clock, pathChanged, sharingChanged } = this.#options;
    const throttled = isThrottled(failure) ? failure : undefined;
    const wasKnown = limit.knownLimitPerMinute !== undefined;
    const isOther = foreign.saw(own, path, facts, clock.now());
    const reported = facts.limitPerMinute;
    const limitPerMinute =
      reported && (isOfConsole(path, reported) ? reported : foreign.allowedPerMinute(reported));
    if (limit.learn(path, { ...facts, limitPerMinute })) log.learned(limit, wasKnown);
    if (isOther) {
      log.shared(foreign.problem);
      sharingChanged();
    }
    const pause = throttled && limit.throttled(path, server, throttled, throttled.problem.retryAfterMs);
    if (pause !== undefined) log.paused(pause);
    const isOver = throttled === undefined && limit.answered(path, server).includes(path);
    if (isOver || pause?.scope === path) pathChanged(path);
  }

  stop(): void {
    this.#unwatch();
  }

  get #foreign(): ForeignCalls {
    return this.#account.foreign(this.#options.share);
  }
}
