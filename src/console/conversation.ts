import { type Clock, sleep } from '../domain/clock.ts';
import { KNOWN_SECRETS } from '../domain/known-secrets.ts';
import type { Problem } from '../domain/problem.ts';
import type { ServerState } from '../domain/server.ts';
import type { ClientMessage, ServerMessage } from '../panel/dialect.ts';
import { FRAME_INTERVAL_MS, PING_INTERVAL_MS } from '../session/socket-pacing.ts';
import { CommandQueue } from './command-queue.ts';
import { ConsoleLink, type LinkListener, type LinkOptions } from './link.ts';
import { cleanLines, narrate } from './messages.ts';
import type { Screen } from './screen.ts';
import { permissionsOf, type ServerStanding } from './server-control.ts';

/**
 * How a console run ended: code 0 if it finished or was stopped, 1 on failure; `error` is set if no message was shown before.
 */
export interface ConsoleOutcome {
  readonly code: 0 | 1;
  readonly error?: string;
}

/** The reason why a console abandons everything that it waits for. */
export class Ending extends Error {
  override readonly name = 'Ending';
  readonly outcome: ConsoleOutcome;

  constructor(outcome: ConsoleOutcome) {
    super('the console has ended');
    this.outcome = outcome;
  }
}

export interface ConversationOptions {
  /** The server's name, without control characters. */
  readonly name: string;
  readonly panel: string;
  readonly link: LinkOptions;
  readonly screen: Screen;
  readonly clock: Clock;
  /** Describes the problem with a first connection, and what to do about it. */
  readonly explain: (problem: Problem) => string;
  readonly onFirstConnection: () => void;
}

/**
 * For this many milliseconds after a message was sent, a failure may mean that it wasn't carried out, although the node read
 * it.
 */
const UNCONFIRMED_MS = 2_000;

/**
 * The same for a message that the node may not have read. Longer than a heartbeat takes to detect a dead connection, but bounded,
 * because some proxies don't forward pongs.
 */
const UNREAD_UNCONFIRMED_MS = 3 * PING_INTERVAL_MS;

/** A message whose effect isn't known yet. */
interface UnconfirmedMessage {
  readonly what: string;
  /** When it was sent, in monotonic milliseconds. */
  readonly at: number;
  readonly isPower: boolean;
  isRead: boolean;
}

/** How long messages wait for a lost connection to come back, in milliseconds. */
export const PATIENCE_MS = 5 * 60_000;

/** One server's console session: shows what arrives, sends at the node's pace, and tracks the server's state. */
export class Conversation {
  readonly #options: ConversationOptions;
  readonly #link: ConsoleLink;
  readonly #ending = new AbortController();
  readonly watch: Watch;
  readonly #commands: CommandQueue;
  #state: ServerState | undefined;
  #connectedBefore = false;
  #failed = false;
  #nextAt = Number.NEGATIVE_INFINITY;
  #activeAt = Number.NEGATIVE_INFINITY;
  #refusals = 0;
  #unconfirmed: UnconfirmedMessage | undefined;
  #lastRead: Promise<boolean> = Promise.resolve(true);

  constructor(options: ConversationOptions) {
    this.#options = options;
    this.#link = new ConsoleLink(options.link, this.#listener());
    this.watch = new Watch(options.clock, this.#ending.signal);
    this.#commands = new CommandQueue({
      clock: options.clock,
      signal: this.#ending.signal,
      send: (command, what) => this.send({ event: 'send command', command }, what, PATIENCE_MS),
      read: () => this.#lastRead,
      note: (text) => this.note(text),
      fail: (text) => this.fail(text),
    });
  }

  /** Aborts with an `Ending`. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  get isReady(): boolean {
    return this.#link.isReady;
  }

  get standing(): ServerStanding {
    return { state: this.#state, permissions: permissionsOf(this.#link.token) };
  }

  /** Whether a request was not carried out. */
  get failed(): boolean {
    return this.#failed;
  }

  /** How many requests the node reported as not carried out. */
  get refusals(): number {
    return this.#refusals;
  }

  /** When output last arrived or something was last sent, in monotonic milliseconds. */
  get activeAt(): number {
    return this.#activeAt;
  }

  start(): void {
    this.#link.start();
  }

  /** Resolves when the socket is closed. */
  stop(): Promise<void> {
    return this.#link.stop();
  }

  end(outcome: ConsoleOutcome): void {
    this.#ending.abort(new Ending(outcome));
  }

  note(text: string): void {
    this.#options.screen.note(KNOWN_SECRETS.redact(text));
  }

  /** Reports what was not done; the console then ends with exit code 1. */
  fail(text: string): void {
    this.#failed = true;
    this.note(text);
  }

  /** Sends a message once the node accepts it; false if it didn't within `patienceMs`. Rejects with the `Ending`. */
  async send(message: ClientMessage, what: string, patienceMs: number): Promise<boolean> {
    const { clock } = this.#options;
    for (;;) {
      if (!(await this.watch.until(() => this.isReady, patienceMs))) return false;
      const waitMs = this.#nextAt - clock.now();
      if (waitMs <= 0) break;
      await sleep(clock, waitMs, this.signal);
    }
    const at = clock.now();
    this.#nextAt = at + FRAME_INTERVAL_MS;
    this.#activeAt = at;
    const sent: UnconfirmedMessage = { what, at, isPower: message.event === 'set state', isRead: false };
    this.#unconfirmed = sent;
    this.#lastRead = this.#link.send(message).then((isRead) => {
      sent.isRead = isRead;
      return isRead;
    });
    return true;
  }

  /** Sends a command at the pace that nodes accept, and retries it if the node drops it; returns and rejects like `send`. */
  sendCommand(command: string, what: string): Promise<boolean> {
    return this.#commands.send(command, what);
  }

  #listener(): LinkListener {
    return {
      connected: () => this.#onConnected(),
      changed: () => this.watch.poke(),
      message: (message) => this.#onMessage(message),
      state: (state) => this.#onState(state),
      failed: (problem, lasting) => this.#onProblem(problem, lasting),
      tokenRefused: () => this.#warnUnconfirmed('the token had expired'),
    };
  }

  #onConnected(): void {
    const { name, panel, onFirstConnection } = this.#options;
    if (this.#connectedBefore) {
      this.note('reconnected');
      return;
    }
    this.#connectedBefore = true;
    this.note(`connected to ${name} on panel ${panel}`);
    onFirstConnection();
  }

  #onMessage(message: ServerMessage): void {
    const { screen, clock, name } = this.#options;
    const narration = narrate(message);
    if (narration === undefined) return;
    switch (narration.kind) {
      case 'output':
        this.#activeAt = clock.now();
        screen.lines(cleanLines(narration.text, screen.color));
        break;
      case 'note':
        if (isDroppedCommand(message) && this.#commands.dropped()) {
          // A command that is being retried isn't finished.
          this.#activeAt = clock.now();
          break;
        }
        this.#refusals += narration.failed ? 1 : 0;
        if (narration.failed) this.fail(narration.text);
        else this.note(narration.text);
        this.watch.poke();
        break;
      case 'gone':
        this.end({ code: 1, error: `${name}: ${narration.text}` });
        break;
    }
  }

  #onState(state: ServerState): void {
    if (state === 'unknown') return;
    if (state !== this.#state) this.note(`${this.#options.name} is ${state}`);
    this.#state = state;
    this.watch.poke();
  }

  #onProblem(problem: Problem, lasting: boolean): void {
    const { name, explain } = this.#options;
    if (lasting || !this.#connectedBefore) {
      this.end({ code: 1, error: `${name}: ${KNOWN_SECRETS.redact(explain(problem))}` });
    } else if (this.#link.isLive) {
      this.note(`token refresh failed, retrying: ${problem.detail}`);
    } else {
      this.#warnUnconfirmed('the connection was lost');
      this.note(`not connected, retrying: ${problem.detail}`);
    }
  }

  #warnUnconfirmed(why: string): void {
    const unconfirmed = this.#unconfirmed;
    this.#unconfirmed = undefined;
    const limitMs = unconfirmed?.isRead === true ? UNCONFIRMED_MS : UNREAD_UNCONFIRMED_MS;
    if (unconfirmed === undefined || this.#options.clock.now() - unconfirmed.at > limitMs) return;
    const warning = `${unconfirmed.what} may not have taken effect: ${why}`;
    // The server's state will show whether the power action was carried out.
    if (unconfirmed.isPower) this.note(warning);
    else this.fail(warning);
  }
}

function isDroppedCommand({ event, args }: ServerMessage): boolean {
  return event === 'throttled' && args[0] === 'send command';
}

/** Waits for conditions, which are checked whenever something happened. */
export class Watch {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #looks = new Set<() => void>();

  /** Every wait rejects with the signal's reason when the signal aborts. */
  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock;
    this.#signal = signal;
  }

  /** Reports that something happened. */
  poke(): void {
    for (const look of this.#looks) look();
  }

  /** Resolves with true once the condition holds, or with false after `deadlineMs`. */
  until(condition: () => boolean, deadlineMs?: number): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        cancel();
        this.#looks.delete(look);
        this.#signal.removeEventListener('abort', onAbort);
        settle();
      };
      const look = () => {
        if (condition()) end(() => resolve(true));
      };
      const onAbort = () => end(() => reject(this.#signal.reason as Error));
      const cancel =
        deadlineMs === undefined
          ? () => undefined
          : this.#clock.schedule(deadlineMs, () => end(() => resolve(condition())));
      this.#looks.add(look);
      this.#signal.addEventListener('abort', onAbort, { once: true });
      if (this.#signal.aborted) onAbort();
      else look();
    });
  }
}
