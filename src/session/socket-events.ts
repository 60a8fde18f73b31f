import type { SampleNumbers } from '../domain/sample-numbers.ts';
import type { ServerState } from '../domain/server.ts';
import type { PanelTelemetry } from '../domain/telemetry.ts';
import type { FrameHandler, JwtError, SocketCodec } from '../panel/dialect.ts';
import { closeFailure, daemonFailure, jwtFailure, type RefusedUpgrade, upgradeFailure } from './failure.ts';
import type { MachineState, Token } from './machine-model.ts';
import type { StreamContext, StreamRecord } from './session-ports.ts';
import type { SocketClosing, SocketListener } from './socket.ts';
import type { Streamer, StreamerOwner } from './streamer.ts';
import { claimsOf } from './token.ts';

/** The token that was sent last on the machine's socket. */
function sentToken(machine: MachineState): Token | undefined {
  if (machine.name === 'refreshing') return machine.next ?? machine.token;
  return 'token' in machine ? machine.token : undefined;
}

/**
 * Passes the events of one socket to the machine and the record. This is a class because closures for each of a dozen events
 * would cost a kilobyte per server.
 */
export class SocketEvents implements SocketListener, FrameHandler {
  readonly telemetry: PanelTelemetry;
  readonly #context: StreamContext;
  readonly #record: StreamRecord;
  readonly #owner: StreamerOwner;
  readonly #streamer: Streamer;
  readonly #epoch: number;
  readonly #codec: SocketCodec;
  readonly #handleFrame: SocketCodec['handleFrame'];
  readonly #daemonWords: SocketCodec['daemonWords'];

  constructor(
    context: StreamContext,
    record: StreamRecord,
    owner: StreamerOwner,
    streamer: Streamer,
    epoch: number,
  ) {
    this.telemetry = context.telemetry;
    this.#context = context;
    this.#record = record;
    this.#owner = owner;
    this.#streamer = streamer;
    this.#epoch = epoch;
    this.#codec = context.codec;
    this.#handleFrame = context.codec.handleFrame;
    this.#daemonWords = context.codec.daemonWords;
  }

  opened(): void {
    this.#record.socketBegan();
    this.#streamer.dispatch({ type: 'opened', epoch: this.#epoch });
  }

  refused(refused: RefusedUpgrade): void {
    const failure = upgradeFailure(refused, this.#streamer.wayTo());
    this.#streamer.dispatch({ type: 'refused', epoch: this.#epoch, failure });
  }

  // A socket that the machine has given up is detached, and reports no more frames.
  message(frame: Buffer, isBinary: boolean): void {
    this.#handleFrame(frame, isBinary, this);
  }

  closed(closing: SocketClosing): void {
    if (closing.oversize) this.telemetry.badMessage('oversize');
    const failure = closeFailure(closing, this.#codec);
    this.#streamer.dispatch({ type: 'closed', epoch: this.#epoch, failure });
  }

  consoleLine(frame: Buffer): void {
    this.#record.consoleLine();
    const words = this.#daemonWords(frame, this.#record.awaitsWords);
    if (words !== undefined) this.#record.daemonWords(words, this.#context.clock.now());
  }

  stats(sample: SampleNumbers): void {
    const now = this.#context.clock.now();
    const isAwaited = this.#streamer.sampled(now);
    this.#record.socketSample(sample, now);
    if (isAwaited) this.#streamer.dispatch({ type: 'stats', epoch: this.#epoch });
  }

  status(state: ServerState): void {
    this.#record.stateHint(state, this.#context.clock.now());
  }

  authenticated(): void {
    this.#streamer.dispatch({ type: 'authenticated', epoch: this.#epoch });
  }

  tokenEnding(): void {
    if (this.#owner.renews()) this.#streamer.dispatch({ type: 'tokenEnding', epoch: this.#epoch });
  }

  jwtError({ words, isFixable: fixable, answersToken }: JwtError): void {
    if (fixable) this.#record.eventsWithheld();
    const { machine } = this.#streamer;
    if (fixable && machine.name === 'streaming' && !this.#owner.renews()) {
      this.#owner.tokenSpent();
      return;
    }
    const token = sentToken(machine);
    const failure = () => jwtFailure(words, this.#codec, token && claimsOf(token.value));
    this.#streamer.dispatch({ type: 'jwtError', epoch: this.#epoch, fixable, answersToken, failure });
  }

  daemonError(words: string): void {
    const failure = () => daemonFailure(words);
    this.#streamer.dispatch({ type: 'daemonError', epoch: this.#epoch, failure });
  }

  backupCompleted(): void {
    this.#context.backupCompleted?.(this.#record);
  }
}
