import type { Sample, ServerState } from '../domain/server.ts';
import type { PanelTelemetry } from '../domain/telemetry.ts';
import type { ClientMessage, FrameHandler, JwtError, SocketCodec } from '../panel/dialect.ts';
import { closeFailure, daemonFailure, jwtFailure, type RefusedUpgrade, upgradeFailure } from './failure.ts';
import type { MachineEvent } from './machine-model.ts';
import type { StreamContext, StreamRecord } from './session-ports.ts';
import type { ConsoleSocket, SocketClosing, SocketListener } from './socket.ts';
import { claimsOf } from './token.ts';

/**
 * One connection to a server's console: passes on what arrives, samples and lines to the record, and the rest to its owner. This is a
 * class because closures for each of a dozen events would cost a kilobyte per server.
 */
export class Connection implements SocketListener, FrameHandler {
  readonly telemetry: PanelTelemetry;
  readonly #context: StreamContext;
  readonly #record: StreamRecord;
  readonly #owner: { happened(event: MachineEvent): void };
  readonly #epoch: number;
  readonly #url: string;
  readonly #codec: SocketCodec;
  readonly #handleFrame: SocketCodec['handleFrame'];
  readonly #daemonWords: SocketCodec['daemonWords'];
  #socket: ConsoleSocket | undefined;
  /** The token that was sent last. */
  #token: string | undefined;
  /** In whole milliseconds: every sample sets it, and V8 keeps a fraction in a separate object. */
  #lastStatsAt = 0;
  /** The owner waits for a sample. */
  awaitsStats = false;

  constructor(
    context: StreamContext,
    record: StreamRecord,
    owner: { happened(event: MachineEvent): void },
    { epoch, url }: { readonly epoch: number; readonly url: string },
  ) {
    this.telemetry = context.telemetry;
    this.#context = context;
    this.#record = record;
    this.#owner = owner;
    this.#epoch = epoch;
    this.#url = url;
    this.#codec = context.codec;
    this.#handleFrame = context.codec.handleFrame;
    this.#daemonWords = context.codec.daemonWords;
  }

  /** When the last `stats` arrived, in monotonic milliseconds. */
  get lastStatsAt(): number {
    return this.#lastStatsAt;
  }

  open(): void {
    try {
      this.#socket = this.#context.openSocket(this.#url, this);
    } catch (error) {
      // ws rejects some addresses by throwing; that must not look like a bug in the exporter.
      this.refused({ error: error as Error });
    }
  }

  send(message: ClientMessage): void {
    if (message.event === 'auth') this.#token = message.token;
    this.#socket?.send(message);
  }

  /** Nothing happens on the connection any more; resolves when it is gone. */
  async close(): Promise<void> {
    await this.#socket?.close();
  }

  opened(): void {
    this.#record.socketBegan();
    this.#owner.happened({ type: 'opened', epoch: this.#epoch });
  }

  refused(refused: RefusedUpgrade): void {
    const { settings, isProxied } = this.#context;
    const { upgradeCause } = this.#codec;
    const way = { upgradeCause, origin: settings.origin, proxied: isProxied(this.#url) };
    this.#owner.happened({ type: 'closed', epoch: this.#epoch, failure: upgradeFailure(refused, way) });
  }

  // A socket that was given up is detached, and reports no more frames.
  message(frame: Buffer, isBinary: boolean): void {
    this.#handleFrame(frame, isBinary, this);
  }

  closed(closing: SocketClosing): void {
    if (closing.oversize) this.telemetry.badMessage('oversize');
    const failure = closeFailure(closing, this.#codec);
    this.#owner.happened({ type: 'closed', epoch: this.#epoch, failure });
  }

  consoleLine(frame: Buffer): void {
    this.#record.consoleLine();
    const words = this.#daemonWords(frame, this.#record.awaitsWords);
    if (words !== undefined) this.#record.daemonWords(words, this.#context.clock.now());
  }

  stats(sample: Sample): void {
    const now = this.#context.clock.now();
    this.#lastStatsAt = Math.trunc(now);
    this.#record.socketSample(sample, now);
    if (this.awaitsStats) this.#owner.happened({ type: 'stats', epoch: this.#epoch });
  }

  status(state: ServerState): void {
    this.#record.stateHint(state, this.#context.clock.now());
  }

  authenticated(): void {
    this.#owner.happened({ type: 'authenticated', epoch: this.#epoch });
  }

  tokenEnding(): void {
    this.#owner.happened({ type: 'tokenEnding', epoch: this.#epoch });
  }

  jwtError({ words, isFixable: fixable, answersToken }: JwtError): void {
    if (fixable) this.#record.eventsWithheld();
    const token = this.#token;
    const failure = () => jwtFailure(words, this.#codec, token === undefined ? undefined : claimsOf(token));
    this.#owner.happened({ type: 'jwtError', epoch: this.#epoch, fixable, answersToken, failure });
  }

  daemonError(words: string): void {
    const failure = () => daemonFailure(words);
    this.#owner.happened({ type: 'daemonError', epoch: this.#epoch, failure });
  }

  backupCompleted(): void {
    this.#context.backupCompleted?.(this.#record);
  }
}
