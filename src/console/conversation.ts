import { type Clock, sleep } from '../domain/clock.ts';
import type { ServerState } from '../domain/state.ts';
import { FRAME_INTERVAL_MS } from '../session/outbox.ts';
import type { ClientMessage, ServerMessage } from '../session/protocol.ts';
import { cleanLines, withoutSecrets } from './clean-text.ts';
import { ConsoleLink, type LinkListener, type LinkOptions } from './link.ts';
import type { Standing } from './messages.ts';
import { narrate } from './narrate.ts';
import { permissionsOf } from './permissions.ts';
import type { Screen } from './screen.ts';
import { Watch } from './watch.ts';

/** How a console ended: 0 done or told to stop, 1 trouble, which is in words where nothing was said of it before. */
export interface Outcome {
  readonly code: 0 | 1;
  readonly trouble?: string;
}

/** Why all that a console waits for is given up. */
export class Ending extends Error {
  override readonly name = 'Ending';
  readonly outcome: Outcome;

  constructor(outcome: Outcome) {
    super('the console has ended');
    this.outcome = outcome;
  }
}

export interface ConversationOptions {
  /** The server's name, clean. */
  readonly name: string;
  readonly panel: string;
  readonly link: LinkOptions;
  readonly screen: Screen;
  readonly clock: Clock;
  /** What must never be shown, beside the tokens. */
  readonly secrets: readonly string[];
  /** The trouble of a first connection, with what may cure it. */
  readonly explain: (trouble: string) => string;
  readonly onFirstConnection: () => void;
}

/** Within this time after a message was sent, trouble may mean that it was not heeded. */
const DOUBT_MS = 2_000;

/** One server's console as it goes on: shows what comes, sends at the node's pace, and knows how things stand. */
export class Conversation {
  readonly #options: ConversationOptions;
  readonly #link: ConsoleLink;
  readonly #ending = new AbortController();
  readonly #tokens = new Set<string>();
  readonly watch: Watch;
  #state: ServerState | undefined;
  #connectedBefore = false;
  #failed = false;
  #nextAt = Number.NEGATIVE_INFINITY;
  #activeAt = Number.NEGATIVE_INFINITY;
  #refusals = 0;
  #inDoubt: { readonly what: string; readonly at: number; readonly isPower: boolean } | undefined;

  constructor(options: ConversationOptions) {
    this.#options = options;
    this.#link = new ConsoleLink(options.link, this.#listener());
    this.watch = new Watch(options.clock, this.#ending.signal);
  }

  /** Aborts with an `Ending`. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  get isReady(): boolean {
    return this.#link.isReady;
  }

  get standing(): Standing {
    return { state: this.#state, permissions: permissionsOf(this.#link.token) };
  }

  /** Was something that we asked for not done? */
  get failed(): boolean {
    return this.#failed;
  }

  /** How often the node said that it didn't do what it was asked for. */
  get refusals(): number {
    return this.#refusals;
  }

  /** When output came or something was sent last; monotonic milliseconds. */
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

  end(outcome: Outcome): void {
    this.#ending.abort(new Ending(outcome));
  }

  note(text: string): void {
    this.#options.screen.note(this.#withoutSecrets(text));
  }

  /** Says what was not done; the console then ends with 1. */
  fail(text: string): void {
    this.#failed = true;
    this.note(text);
  }

  /** Sends a message once the node heeds it; false where it didn't for `patienceMs`. Rejects with the `Ending`. */
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
    this.#inDoubt = { what, at, isPower: message.event === 'set state' };
    this.#link.send(message);
    return true;
  }

  #listener(): LinkListener {
    return {
      connected: () => this.#onConnected(),
      changed: () => {
        this.#tokens.add(this.#link.token);
        this.watch.poke();
      },
      message: (message) => this.#onMessage(message),
      state: (state) => this.#onState(state),
      troubled: (trouble, lasting) => this.#onTrouble(trouble, lasting),
      tokenRefused: () => this.#doubt('the token had ended'),
    };
  }

  #onConnected(): void {
    const { name, panel, onFirstConnection } = this.#options;
    if (this.#connectedBefore) {
      this.note('connected again');
      return;
    }
    this.#connectedBefore = true;
    this.note(`connected to ${name} on panel ${panel}`);
    onFirstConnection();
  }

  #onMessage(message: ServerMessage): void {
    const told = narrate(message);
    if (told === undefined) return;
    const { screen, clock, name } = this.#options;
    switch (told.kind) {
      case 'output':
        this.#activeAt = clock.now();
        screen.lines(cleanLines(told.text, screen.colour).map((line) => this.#withoutSecrets(line)));
        break;
      case 'note':
        this.#refusals += told.failed ? 1 : 0;
        if (told.failed) this.fail(told.text);
        else this.note(told.text);
        this.watch.poke();
        break;
      case 'gone':
        this.end({ code: 1, trouble: `${name}: ${told.text}` });
        break;
    }
  }

  #onState(state: ServerState): void {
    if (state === 'unknown') return;
    if (state !== this.#state) this.note(`${this.#options.name} is ${state}`);
    this.#state = state;
    this.watch.poke();
  }

  #onTrouble(trouble: string, lasting: boolean): void {
    const { name, explain } = this.#options;
    if (lasting || !this.#connectedBefore) {
      this.end({ code: 1, trouble: `${name}: ${this.#withoutSecrets(explain(trouble))}` });
    } else if (this.#link.isLive) {
      this.note(`the token could not be renewed, trying again: ${trouble}`);
    } else {
      this.#doubt('the connection was lost');
      this.note(`no connection, trying again: ${trouble}`);
    }
  }

  #doubt(why: string): void {
    const doubt = this.#inDoubt;
    this.#inDoubt = undefined;
    if (doubt === undefined || this.#options.clock.now() - doubt.at > DOUBT_MS) return;
    const told = `${doubt.what} may not have been heeded: ${why}`;
    // Whether a power action was, the server's state will tell.
    if (doubt.isPower) this.note(told);
    else this.fail(told);
  }

  #withoutSecrets(text: string): string {
    return withoutSecrets(text, [...this.#options.secrets, ...this.#tokens]);
  }
}
