import { sleep } from '../domain/clock.ts';
import { printable } from '../domain/printable.ts';
import { untilAborted } from '../domain/until-aborted.ts';
import type { PowerAction } from '../panel/dialect.ts';
import {
  type ConsoleOutcome,
  Conversation,
  type ConversationOptions,
  Ending,
  PATIENCE_MS,
} from './conversation.ts';
import {
  commandProblem,
  isReached,
  lacks,
  missingPermission,
  POWER_PERMISSIONS,
  type PowerWatch,
  powerNeed,
  sawState,
  watchPower,
} from './server-control.ts';

/** What a console run does. */
export interface ConsolePlan {
  /** Show the recent lines first. */
  readonly logs: boolean;
  readonly power?: PowerAction;
  /** Sent in this order, after the power action has completed. */
  readonly commands: readonly string[];
  /** Ends the run this many milliseconds after connecting, even if it isn't finished. */
  readonly forMs?: number;
  /** Whether a person types commands. */
  readonly interactive: boolean;
  /** Whether commands are read from the input. */
  readonly readsInput: boolean;
}

/** How long to wait for the server's state, which a node sends right after a token, in milliseconds. */
const FIRST_STATE_MS = 3_000;

/** Modded servers take minutes to start. */
export const POWER_DEADLINE_MS = 5 * 60_000;

/** Output is complete after this many milliseconds without a line. */
export const SETTLED_MS = 2_000;

/** A console that never falls silent is left after this many milliseconds. */
export const MAX_SETTLING_MS = 10_000;

/** One run of the `console` command. */
export class ConsoleRun {
  readonly #plan: ConsolePlan;
  readonly #options: Omit<ConversationOptions, 'onFirstConnection'>;
  readonly #conversation: Conversation;
  /** Commands that haven't been sent or rejected yet. */
  #unsent: number;
  #unreached: PowerWatch | undefined;

  constructor(plan: ConsolePlan, options: Omit<ConversationOptions, 'onFirstConnection'>) {
    this.#plan = plan;
    this.#options = options;
    this.#unsent = plan.commands.length;
    this.#conversation = new Conversation({ ...options, onFirstConnection: () => this.#startTimer() });
  }

  /** Ends the run before it is done. */
  end(outcome: ConsoleOutcome): void {
    this.#conversation.end(outcome);
  }

  /** Executes the plan; resolves when the socket is closed. */
  async run(): Promise<ConsoleOutcome> {
    const conversation = this.#conversation;
    try {
      conversation.start();
      await untilAborted(this.#script(), conversation.signal);
      return { code: this.#code };
    } catch (error) {
      if (error instanceof Ending) return error.outcome;
      throw error;
    } finally {
      // Ends everything that is still waiting.
      conversation.end({ code: 0 });
      await conversation.stop();
      this.#options.screen.close();
    }
  }

  // In a person's session, failures were visible and could be handled, so they don't change the exit code.
  get #code(): 0 | 1 {
    return this.#conversation.failed && !this.#plan.interactive ? 1 : 0;
  }

  async #script(): Promise<void> {
    const { logs, power, commands, forMs, interactive } = this.#plan;
    const { watch } = this.#conversation;
    const { input } = this.#options.screen;
    await watch.until(() => this.#conversation.isReady);
    await watch.until(() => this.#conversation.standing.state !== undefined, FIRST_STATE_MS);
    if (logs)
      await this.#conversation.send({ event: 'send logs' }, 'the request for recent lines', PATIENCE_MS);
    if (power !== undefined) await this.#setPower(power);
    for (const command of commands) {
      await this.#command(command);
      this.#unsent -= 1;
    }
    if (input !== undefined) {
      for await (const line of input) await this.#command(line);
    }
    if (forMs !== undefined && !interactive) await watch.until(() => false);
    const isPowerAlone = power !== undefined && commands.length === 0 && !logs;
    if (!interactive && !isPowerAlone) await this.#settle();
  }

  async #command(text: string): Promise<void> {
    if (text.trim() === '') return;
    const conversation = this.#conversation;
    const what = `"${printable(text)}"`;
    if (this.#plan.interactive && !conversation.isReady) {
      conversation.note(`${what} was not sent: not connected`);
      return;
    }
    const problem = commandProblem(text, conversation.standing, this.#options.link.codec);
    if (problem !== undefined) {
      const refusal = `${what} was not sent: ${problem}`;
      if (this.#plan.interactive) conversation.note(refusal);
      else conversation.fail(refusal);
    } else if (!(await conversation.sendCommand(text, what))) {
      this.#giveUp(`${what} was not sent: no connection for ${minutes(PATIENCE_MS)}`);
    }
  }

  async #setPower(action: PowerAction): Promise<void> {
    const conversation = this.#conversation;
    const { name } = this.#options;
    const { permissions, state = 'unknown' } = conversation.standing;
    const permission = POWER_PERMISSIONS[action];
    if (lacks(permissions, permission)) this.#giveUp(missingPermission(permission));
    const need = powerNeed(action, state);
    if (need === 'done') {
      conversation.note(`${action} not needed: ${name} is ${state}`);
      return;
    }
    this.#unreached = watchPower(action, state);
    if (need === 'ask') {
      if (!(await conversation.send({ event: 'set state', action }, action, PATIENCE_MS))) {
        this.#giveUp(`${action} was not sent: no connection for ${minutes(PATIENCE_MS)}`);
      }
      conversation.note(`${action} requested`);
    }
    await this.#powerReached(action);
  }

  async #powerReached(action: PowerAction): Promise<void> {
    const conversation = this.#conversation;
    const { name } = this.#options;
    const { refusals } = conversation;
    const isRefused = () => conversation.refusals > refusals;
    const look = () => {
      const { state } = conversation.standing;
      if (this.#unreached !== undefined && state !== undefined)
        this.#unreached = sawState(this.#unreached, state);
      return this.#unreached === undefined || isReached(this.#unreached) || isRefused();
    };
    const limit = this.#plan.forMs === undefined ? POWER_DEADLINE_MS : undefined;
    const ended = await conversation.watch.until(look, limit);
    const state = conversation.standing.state ?? 'in an unknown state';
    if (!ended)
      this.#giveUp(`${action} not completed after ${minutes(POWER_DEADLINE_MS)}: ${name} is ${state}`);
    if (isRefused()) this.#giveUp(`${action} failed: ${name} is ${state}`);
    this.#unreached = undefined;
    conversation.note(`${action} completed: ${name} is ${state}`);
  }

  async #settle(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#conversation;
    const endsAt = clock.now() + MAX_SETTLING_MS;
    for (;;) {
      const quietAt = this.#conversation.activeAt + SETTLED_MS;
      const waitMs = Math.min(quietAt, endsAt) - clock.now();
      if (waitMs <= 0) return;
      await sleep(clock, waitMs, signal);
    }
  }

  #startTimer(): void {
    const { forMs } = this.#plan;
    if (forMs === undefined) return;
    const cancel = this.#options.clock.schedule(forMs, () => {
      if (this.#unreached !== undefined) {
        this.#conversation.note(`time is up, but ${this.#unreached.action} is not completed yet`);
      }
      if (this.#unsent > 0) this.#conversation.fail('time is up, but not all commands were sent');
      this.end({ code: this.#code });
    });
    this.#conversation.signal.addEventListener('abort', cancel, { once: true });
  }

  #giveUp(why: string): never {
    throw new Ending({ code: 1, error: why });
  }
}

function minutes(ms: number): string {
  return `${ms / 60_000} minutes`;
}
