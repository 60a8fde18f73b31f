import type { Cancel, Clock } from '../domain/clock.ts';
import type { Resources } from '../panel/dialect.ts';
import { answeredResult } from '../session/poller.ts';
import type { ServerRecord } from './server-record.ts';

/** Limits rarely change; one call an hour is enough to notice. */
const RELEARN_MS = 60 * 60_000;

/** Delay before retrying a failed attempt, with the next server. */
const RETRY_MS = 60_000;

export interface LimitLearnerOptions {
  readonly clock: Clock;
  /** The panel's servers; called before each attempt. */
  readonly records: () => readonly ServerRecord[];
  /** Calls the resources endpoint once; its answer carries the panel's rate limit. */
  readonly learn: (server: string, signal: AbortSignal) => Promise<Resources>;
}

/**
 * Calls the resources endpoint at the start, and whenever no other call used it for an hour, for one server after the other;
 * their records take what the answers show.
 */
export class LimitLearner {
  readonly #options: LimitLearnerOptions;
  #answeredAt = Number.NEGATIVE_INFINITY;
  #next = 0;
  #cancel: Cancel | undefined;
  #inFlight: AbortController | undefined;
  /** The learner was started but has had no server to use. */
  #wantsServers = false;

  constructor(options: LimitLearnerOptions) {
    this.#options = options;
  }

  start(): void {
    void this.#ask();
  }

  stop(): void {
    this.#wantsServers = false;
    this.#cancel?.();
    this.#inFlight?.abort(new Error('the exporter is stopping'));
  }

  /** The resources endpoint answered a call. */
  answered(): void {
    this.#answeredAt = this.#options.clock.now();
  }

  /** The servers changed: the first attempt may have waited for one. */
  serversChanged(): void {
    if (this.#wantsServers) void this.#ask();
  }

  async #ask(): Promise<void> {
    const records = askable(this.#options.records());
    const record = records[this.#next % records.length];
    this.#wantsServers = record === undefined;
    if (record === undefined) return;
    this.#next += 1;
    const controller = new AbortController();
    this.#inFlight = controller;
    const learnt = await this.#learnFrom(record, controller.signal).then(
      () => true,
      () => false,
    );
    if (controller.signal.aborted) return;
    if (learnt) this.answered();
    this.#wait(learnt ? RELEARN_MS : RETRY_MS);
  }

  async #learnFrom(record: ServerRecord, signal: AbortSignal): Promise<void> {
    const { clock, records, learn } = this.#options;
    const requestedAt = clock.now();
    const resources = await learn(record.target.id, signal);
    if (resources.sample === undefined || !showsPolls(record, resources) || !records().includes(record))
      return;
    record.pollSample(resources.sample, requestedAt, clock.now());
  }

  #wait(delayMs: number): void {
    const { clock } = this.#options;
    this.#cancel = clock.schedule(delayMs, () => {
      const since = clock.now() - this.#answeredAt;
      if (since < RELEARN_MS) this.#wait(RELEARN_MS - since);
      else void this.#ask();
    });
  }
}

/** A blocked server is unlikely to give an answer that contains the limit. */
function askable(records: readonly ServerRecord[]): readonly ServerRecord[] {
  const listed = records.filter(({ target }) => target.blocked === undefined);
  const open = listed.filter((record) => !isBlocked(record));
  return open.length > 0 ? open : listed;
}

/** Would a poll of the server be exported, and this answer with it? */
function showsPolls(record: ServerRecord, resources: Resources): boolean {
  const isObservable = record.target.mode !== 'socket' && !isBlocked(record);
  return isObservable && answeredResult(resources).type === 'answered';
}

/** Was the server's call refused, or does the listing say that it would be? */
function isBlocked({ target, status }: ServerRecord): boolean {
  return status.condition === 'blocked' || target.blocked !== undefined;
}
