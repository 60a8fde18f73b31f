import { type Clock, sleep } from '../domain/clock.ts';
import { FRAME_INTERVAL_MS } from '../session/socket-pacing.ts';

/** Daemons take ten commands at once and then one a second (wings, router/websocket/limiter.go); two are left for what travels unevenly. */
const BURST = 8;
const REFILL_MS = 1_050;

/** After a drop: long enough that a daemon has room again, and shorter than a console waits for silence. */
const REST_MS = 1_500;

/** A notice that comes later than this after the last command was read, or should have been, is not about it. */
const NOTICE_MS = 5_000;

/** How much later than its pong a daemon's notice may come: it handles each message beside the next (wings, router_server_ws.go). */
const MARGIN_MS = 200;

/** A node that drops a command so often wouldn't take it the next time either. */
const MAX_TRIES = 5;

/** What a queue needs of the console. */
export interface CommandQueueOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Sends a command; false if there was no connection for long. Rejects when the console ends. */
  readonly send: (command: string, what: string) => Promise<boolean>;
  /** Resolves once the node has read what was sent last, or the connection has ended. */
  readonly read: () => Promise<unknown>;
  readonly note: (text: string) => void;
  readonly fail: (text: string) => void;
}

interface QueuedCommand {
  readonly command: string;
  /** The command in words. */
  readonly what: string;
  readonly tries: number;
  readonly settle: (sent: Promise<boolean>) => void;
}

/** The commands to one server: sent in order, no faster than daemons take them, and again if the node drops one. */
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

  /** Sends a command in its turn; false if there was no connection for long. Rejects when the console ends. */
  send(command: string, what: string): Promise<boolean> {
    return new Promise((settle) => {
      this.#waiting.push({ command, what, tries: 1, settle });
      void this.#work();
    });
  }

  /** The node dropped the last command. True if it is sent again. */
  dropped(): boolean {
    const { clock, fail, note } = this.#options;
    const last = this.#last;
    this.#last = undefined;
    // Its limiter has fewer tokens than was thought.
    this.#tokens = 0;
    this.#countedAt = clock.now();
    this.#restsUntil = clock.now() + REST_MS;
    if (last === undefined || clock.now() - last.at > NOTICE_MS) return false;
    const { command } = last;
    if (command.tries >= MAX_TRIES) {
      fail(`${command.what} was dropped by the node ${MAX_TRIES} times: send commands more slowly`);
      return true;
    }
    note(`the node dropped ${command.what}: too many at once, sending it again`);
    this.#waiting.unshift({ ...command, tries: command.tries + 1, settle: () => undefined });
    void this.#work();
    return true;
  }

  async #work(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    while (this.#waiting.length > 0) {
      const isOpen = await this.#turn();
      // Looked at after the wait: a command that was dropped meanwhile goes first.
      const next = this.#waiting.shift();
      if (next === undefined) break;
      const sent = isOpen ? this.#options.send(next.command, next.what) : aborted(this.#options.signal);
      next.settle(sent);
      if (await sent.catch(() => false)) {
        this.#tokens -= 1;
        await this.#heard(next);
      }
    }
    this.#isSending = false;
  }

  /**
   * Waits until the node has read a command. Its notice of a drop names none, and comes with the pong: only while no other
   * command is out is it known which one was dropped.
   */
  async #heard(command: QueuedCommand): Promise<void> {
    const { clock, read, signal } = this.#options;
    const sentAt = clock.now();
    this.#last = { command, at: sentAt };
    const given = new AbortController();
    // Some proxies let no pong pass.
    const patience = sleep(clock, NOTICE_MS, AbortSignal.any([signal, given.signal]));
    await Promise.race([read(), patience.catch(() => undefined)]);
    given.abort();
    if (this.#last?.command === command) this.#last = { command, at: clock.now() };
    // The wait is here, and not in the next command's way out, where a dropped one could no longer go before it.
    this.#restsUntil = Math.max(this.#restsUntil, sentAt + FRAME_INTERVAL_MS, clock.now() + MARGIN_MS);
  }

  /** Waits until the daemon takes another command; false if the console ended before. */
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
