import type { Cancel, Clock } from '../domain/clock.ts';
import { type Logger, type ServerEvent, subjectOf } from '../domain/log.ts';
import type { DecidedStop } from './power.ts';
import type { ServerRecord, StopListener } from './server-record.ts';

/** Decides the reasons of a fleet's stops on time, and logs those that are problems. */
export class StopDecisions implements StopListener {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #waiting = new Map<ServerRecord, Cancel>();

  constructor(clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  awaited(record: ServerRecord, dueAt: number | undefined): void {
    this.#waiting.get(record)?.();
    this.#waiting.delete(record);
    if (dueAt === undefined) return;
    // Passes `dueAt` instead of the clock's time: Node timers fire up to a millisecond early.
    const decide = () => record.decideStop(dueAt);
    this.#waiting.set(record, this.#clock.schedule(Math.max(0, dueAt - this.#clock.now()), decide));
  }

  decided({ target, node }: ServerRecord, stop: DecidedStop): void {
    const warning = warningOf(target.name, stop);
    if (warning === undefined) return;
    const { event, message } = warning;
    this.#log.warn({ ...subjectOf(target, node), event, exitCode: stop.exitCode }, message);
  }

  /** Decides all open stops with what is known; a stop that the daemon hasn't explained by now has an unknown reason. */
  settle(): void {
    for (const record of this.#waiting.keys()) record.decideStop(Number.POSITIVE_INFINITY);
  }
}

interface StopWarning {
  readonly event: ServerEvent;
  readonly message: string;
}

/** What to log about a stop; undefined if it needs no attention. */
function warningOf(name: string, stop: DecidedStop): StopWarning | undefined {
  const { reason, exitCode, isRestartAborted } = stop;
  if (reason === 'disk_full')
    return { event: reason, message: `server ${name} was stopped by its node: disk limit exceeded` };
  const facts = [
    ...(exitCode === undefined ? [] : [`exit code ${exitCode}`]),
    ...(reason === 'out_of_memory' ? ['out of memory'] : []),
  ];
  const why = facts.length === 0 ? '' : ` (${facts.join(', ')})`;
  const isCrash = reason === 'crashed' || reason === 'out_of_memory';
  // An event of its own: otherwise, a summary would hide it among many crashes.
  if (isRestartAborted) {
    const what = isCrash ? 'crashed' : 'stopped by itself';
    return { event: 'gave_up', message: `server ${name} ${what}${why}; the node gave up restarting it` };
  }
  return isCrash
    ? { event: reason, message: `server ${name} crashed${why}; the node is restarting it` }
    : undefined;
}
