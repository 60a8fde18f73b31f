// Monitors one server: by its socket, or by polls while it has none.

import type { CollectionStatus } from '../domain/snapshot.ts';
import { isResting, type MachineState, socketState } from './machine-model.ts';
import { declinesTrial, makePlan } from './plan.ts';
import { NEVER_POLLED } from './poll-state.ts';
import { Poller } from './poller.ts';
import type { SessionContext, SessionRecord } from './session-ports.ts';
import type { SessionState } from './session-state.ts';
import { Streamer } from './streamer.ts';
import type { Surroundings } from './surroundings.ts';

export class Session {
  readonly #context: SessionContext;
  readonly #record: SessionRecord;
  readonly #streamer: Streamer;
  /** Undefined until the first poll, because most servers are never polled. */
  #poller: Poller | undefined;
  #isRunning = false;
  #waitingSince: number | undefined;
  #status: CollectionStatus = { condition: 'stopped' };
  #hasStreamed = false;

  constructor(context: SessionContext, record: SessionRecord) {
    this.#context = context;
    this.#record = record;
    this.#streamer = new Streamer(context, record, this);
  }

  get machine(): MachineState {
    return this.#streamer.machine;
  }

  /** Resolves when all closed sockets are gone. */
  get closing(): Promise<void> {
    return this.#streamer.closing;
  }

  changed(): void {
    this.sees(this.#context.surroundings(this.#record, this.#isRunning));
  }

  /** Does what the server needs in these surroundings, and publishes its condition. */
  sees(surroundings: Surroundings): void {
    const { isRunning, now } = surroundings;
    // A restarted session keeps its original start time.
    if (isRunning) this.#waitingSince ??= now;
    this.#isRunning = isRunning;
    const { machine } = this;
    const { socket, poll, status } = makePlan(this.#state, surroundings);
    if (socket !== undefined) this.#streamer.happened(socket);
    // The change of the machine has called this method again, with the new state.
    if (this.machine !== machine) return;
    if (declinesTrial(machine, surroundings)) this.#context.panel.declineTrial(this.#record.target.id);
    if (poll !== undefined) this.#poller ??= new Poller(this.#context, this.#record, this);
    this.#poller?.follow(poll);
    // When polling ends, its failures are forgotten.
    if (!isRunning) this.#poller = undefined;
    this.#show(status);
  }

  get #state(): SessionState {
    return {
      machine: this.machine,
      poll: this.#poller?.state ?? NEVER_POLLED,
      sampledAt: this.#record.sampledAt,
      waitingSince: this.#waitingSince ?? 0,
      status: this.#status,
    };
  }

  /** Publishes the condition, and logs it if it changed. */
  #show(status: CollectionStatus): void {
    this.#record.setCollection(status, socketState(this.machine));
    this.#context.shown?.(this.#record);
    const { condition, blocked, problem } = this.#status;
    const isChanged = status.condition !== condition || status.blocked !== blocked;
    // After a socket was closed, the cause that prevents reopening it is logged once no attempt is
    // running.
    const isLost = status.condition === 'failing' || status.condition === 'blocked';
    const isExplained =
      isLost && isResting(this.machine) && problem?.cause === 'closed' && status.problem?.cause !== 'closed';
    if (isChanged || isExplained) {
      this.#context.log.conditionChanged(this.#record, {
        before: isExplained ? { condition: 'streaming' } : this.#status,
        now: status,
        hasStreamed: this.#hasStreamed,
      });
    }
    this.#status = status;
    this.#hasStreamed ||= status.condition === 'streaming';
  }
}
