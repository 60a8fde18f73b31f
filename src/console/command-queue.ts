import { type Clock, sleep } from '../domain/clock.ts';
import { FRAME_INTERVAL_MS } from '../session/socket-pacing.ts';

/**
 * Daemons accept ten commands at once and then one per second (wings, router/websocket/limiter.go); two are reserved for network
 * jitter.
 */
const BURST = 8;
const REFILL_MS = 1_050;

/**
 * Pause after a dropped command: long enough for the daemon's limiter to refill, and shorter than a console waits for
 * silence.
 */
const REST_MS = 1_500;

/** A notice that arrives later than this after the last command was read, or should have been, isn't about that command. */
const NOTICE_MS = 5_000;

/**
 * How much later than the pong a daemon's notice may arrive: the daemon handles messages concurrently (wings,
 * router_server_ws.go).
 */
const MARGIN_MS = 200;

/** A node that drops a command this many times would drop it again. */
const MAX_TRIES = 5;

/** What a queue needs from the console. */
export interface CommandQueueOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Sends a command; false if there was no connection for too long. Rejects when the console ends. */
  readonly send: (command: string, what: string) => Promise<boolean>;
  /** Resolves once the node has read the last message, or the connection has ended. */
  readonly read: () => Promise<unknown>;
  readonly note: (text: string) => void;
  readonly fail: (text: string) => void;
}

interface QueuedCommand {
  readonly command: string;
  /** A description of the command for messages. */
  readonly what: string;
  readonly tries: number;
  readonly settle: (sent: Promise<boolean>) => void;
}

/** The commands to one server: sent in order, no faster than daemons accept them, and retried if the node drops one. */
export class CommandQueue {
  readonly #options: CommandQueueOptions;
  readonly #waiting: QueuedCommand[] = [];
  #isSending = false;
  #tokens = BURST;
  #countedAt: number;
  #restsUntil = Number.NEGATIVE_INFINITY;
  #last: { readonly command: QueuedCommand; readonly at: number } | undefined;

  constructor(options: CommandQueueOptions) {
    this.#options = options;
    this.#countedAt = options.clock.now();
  }

  /** Sends a command when its turn comes; false if there was no connection for too long. Rejects when the console ends. */
  send(command: string, what: string): Promise<boolean> {
    return new Promise((settle) => {
      this.#waiting.push({ command, what, tries: 1, settle });
      void this.#work();
    });
  }

  /** Records that the node dropped the last command; returns whether it will be retried. */
  dropped(): boolean {
    const { clock, fail, note } = this.#options;
    const last = this.#last;
    this.#last = undefined;
    // The daemon's limiter has fewer tokens left than assumed.
    this.#tokens = 0;
    this.#countedAt = clock.now();
    this.#restsUntil = clock.now() + REST_MS;
    if (last === undefined || clock.now() - last.at > NOTICE_MS) return false;
    const { command } = last;
    if (command.tries >= MAX_TRIES) {
      fail(`${command.what} was dropped by the node ${MAX_TRIES} times: send commands more slowly`);
      return true;
    }
    note(`the node dropped ${command.what}: too many commands at once, resending it`);
    this.#waiting.unshift({ ...command, tries: command.tries + 1, settle: () => undefined });
    void this.#work();
    return true;
  }

  async #work(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    while (this.#waiting.length > 0) {
      const isOpen = await this.#turn();
      // Checked after the wait, because a command that was dropped meanwhile goes first.
      const next = this.#waiting.shift();
      if (next === undefined) break;
      const sent = isOpen ? this.#options.send(next.command, next.what) : aborted(this.#options.signal);
      next.settle(sent);
      if (await sent.catch(() => false)) {
        this.#tokens -= 1;
        await this.#untilRead(next);
      }
    }
    this.#isSending = false;
  }

  /**
   * Waits until the node has read a command. A notice of a dropped command doesn't tell which one, and arrives with the pong,
   * so it can be attributed only while no other command is in flight.
   */
  async #untilRead(command: QueuedCommand): Promise<void> {
    const { clock, read, signal } = this.#options;
    const sentAt = clock.now();
    this.#last = { command, at: sentAt };
    const given = new AbortController();
    // Some proxies don't forward pongs.
    const patience = sleep(clock, NOTICE_MS, AbortSignal.any([signal, given.signal]));
    await Promise.race([read(), patience.catch(() => undefined)]);
    given.abort();
    if (this.#last?.command === command) this.#last = { command, at: clock.now() };
    // Waits here rather than while sending the next command, because a dropped command could then no longer go before it.
    this.#restsUntil = Math.max(this.#restsUntil, sentAt + FRAME_INTERVAL_MS, clock.now() + MARGIN_MS);
  }

  /** Waits until the daemon accepts another command; false if the console ended first. */
  async #turn(): Promise<boolean> {
    const { clock, signal } = this.#options;
    for (;;) {
      const now = clock.now();
      this.#tokens = Math.min(BURST, this.#tokens + (now - this.#countedAt) / REFILL_MS);
      this.#countedAt = now;
      const waitMs = Math.max(this.#restsUntil - now, (1 - this.#tokens) * REFILL_MS);
      if (signal.aborted) return false;
      if (waitMs <= 0.001) return true;
      try {
        await sleep(clock, waitMs, signal);
      } catch {
        return false;
      }
    }
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return Promise.reject(signal.reason as Error);
}
