import { printable } from '../domain/printable.ts';
import type { Sample } from '../domain/sample.ts';
import type { ServerState } from '../domain/state.ts';
import type { PanelTelemetry } from '../domain/telemetry.ts';
import { type FrameHandler, handleFrame } from './frames.ts';
import type { MachineEvent, MachineState } from './machine-model.ts';
import type { SessionContext, SessionRecord } from './session-ports.ts';
import type { SocketClosing, SocketListener } from './socket.ts';
import { upgradeFailure } from './trouble.ts';

/** Whom a socket's events concern: the one who holds it. */
export interface SocketHolder {
  readonly machine: MachineState;
  /** Is the token to be renewed when it ends? */
  renews(): boolean;
  /** The token ended, and is not to be renewed. */
  tokenSpent(): void;
  /** Something failed; `told` where the log has it already, once for the whole panel. */
  troubled(told: boolean): void;
  dispatch(event: MachineEvent): void;
  /** A sample came at this instant. */
  sampled(now: number): void;
}

/**
 * What one socket says, told to the machine and the record. A class, since closures for each of a dozen events would cost each
 * server a kilobyte.
 */
export class SocketEvents implements SocketListener, FrameHandler {
  readonly telemetry: PanelTelemetry;
  readonly #context: SessionContext;
  readonly #record: SessionRecord;
  readonly #holder: SocketHolder;
  readonly #epoch: number;

  constructor(context: SessionContext, record: SessionRecord, holder: SocketHolder, epoch: number) {
    this.telemetry = context.telemetry;
    this.#context = context;
    this.#record = record;
    this.#holder = holder;
    this.#epoch = epoch;
  }

  opened(): void {
    this.#record.socketBegan();
    this.#holder.dispatch({ type: 'opened', epoch: this.#epoch });
  }

  refused(problem: Parameters<SocketListener['refused']>[0]): void {
    this.#holder.troubled(false);
    const failure = upgradeFailure(problem, this.#context.origin);
    this.#holder.dispatch({ type: 'refused', epoch: this.#epoch, failure });
  }

  message(frame: Buffer, isBinary: boolean): void {
    if (this.#epoch === this.#holder.machine.epoch) handleFrame(frame, isBinary, this);
  }

  closed({ code, text, reason, oversize }: SocketClosing): void {
    this.#holder.troubled(false);
    if (oversize) this.telemetry.badMessage('oversize');
    const said = printable(text);
    const trouble = `the socket was closed (${code})${said === '' ? '' : `: "${said}"`}`;
    this.#holder.dispatch({ type: 'closed', epoch: this.#epoch, code, reason, trouble });
  }

  consoleLine(): void {
    this.#record.consoleLine();
  }

  stats(sample: Sample): void {
    const now = this.#context.clock.now();
    this.#holder.sampled(now);
    this.#record.socketSample(sample, now);
    const { machine } = this.#holder;
    if ('unanswered' in machine && machine.unanswered > 0) {
      this.#holder.dispatch({ type: 'heard', epoch: this.#epoch });
    }
  }

  status(state: ServerState): void {
    this.#record.stateHint(state, this.#context.clock.now());
  }

  authenticated(): void {
    this.#holder.dispatch({ type: 'authenticated', epoch: this.#epoch });
  }

  tokenEnding(): void {
    if (this.#holder.renews()) this.#holder.dispatch({ type: 'tokenEnding', epoch: this.#epoch });
  }

  jwtError(text: string, curable: boolean): void {
    this.#holder.troubled(false);
    if (curable && this.#holder.machine.name === 'streaming' && !this.#holder.renews()) {
      this.#holder.tokenSpent();
      return;
    }
    this.#holder.dispatch({ type: 'jwtError', epoch: this.#epoch, curable, text: printable(text) });
  }
}
