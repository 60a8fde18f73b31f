import type { Cancel, Clock } from '../domain/clock.ts';
import { type Logger, subjectOf } from '../domain/log.ts';
import type { ServerRecord, StopListener } from './server-record.ts';
import type { DecidedStop } from './stop-reasons.ts';

/** Has the reasons of a fleet's stops decided on time, and logs those that need attention. */
export class StopDecisions implements StopListener {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #waiting = new Map<ServerRecord, Cancel>();

  constructor(clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  awaited(record: ServerRecord, dueAt: number): void {
    this.#waiting.get(record)?.();
    const cancel = this.#clock.schedule(Math.max(0, dueAt - this.#clock.now()), () => {
      this.#waiting.delete(record);
      // Passes `dueAt` instead of the clock's time: Node timers fire up to a millisecond early.
      record.decideStop(dueAt);
    });
    this.#waiting.set(record, cancel);
  }

  decided(record: ServerRecord, stop: DecidedStop): void {
    this.#waiting.get(record)?.();
    this.#waiting.delete(record);
    const message = warningOf(record.target.name, stop);
    if (message === undefined) return;
    const { reason: event, exitCode } = stop;
    this.#log.warn({ ...subjectOf(record.target, record.node), event, exitCode }, message);
  }

  /** Decides all open stops with what is known; a stop that the daemon hasn't explained by now has an unknown reason. */
  settle(): void {
    for (const record of this.#waiting.keys()) record.settleStop();
  }
}

/** What to log about a stop; undefined if it needs no attention. */
function warningOf(name: string, { reason, exitCode, isRestartAborted }: DecidedStop): string | undefined {
  if (reason === 'disk_full') return `server ${name} was stopped by its node: disk limit exceeded`;
  if (reason !== 'crashed' && reason !== 'out_of_memory') return undefined;
  const facts = [
    ...(exitCode === undefined ? [] : [`exit code ${exitCode}`]),
    ...(reason === 'out_of_memory' ? ['out of memory'] : []),
  ];
  const next = isRestartAborted ? 'the node gave up restarting it' : 'the node is restarting it';
  return `server ${name} crashed (${facts.join(', ')}); ${next}`;
}
