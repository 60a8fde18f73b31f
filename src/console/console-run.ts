// A run of the command `console` on one server, from its connection to its exit code.

import { NEVER } from '../domain/clock.ts';
import { isOff, type ServerState } from '../domain/power-states.ts';
import type { Problem } from '../domain/problems.ts';
import { sleep, untilAborted } from '../domain/waits.ts';
import type { ClientMessage, PowerAction, ServerMessage } from '../panel/socket-codec.ts';
import { printable } from '../text/printable.ts';
import { type ConsoleAccess, ConsoleSession } from './console-session.ts';
import { describeMessage, explainProblem } from './messages.ts';
import { PowerProgress } from './power-progress.ts';
import type { Screen } from './screen.ts';

/**
 * The actions of a run, in this order: recent lines, a power action, commands. The run ends `for`
 * milliseconds after connecting, whether or not they are done.
 */
export interface ConsolePlan {
  readonly logs?: boolean;
  readonly power?: PowerAction;
  readonly send?: readonly string[];
  readonly for?: number;
  /** Whether a person types commands. */
  readonly interactive: boolean;
}

/** The server, how to reach it, and where to show its console. */
export interface ConsoleOptions extends ConsoleAccess {
  /** The source of the API key, for messages. */
  readonly keySource: string;
  readonly screen: Screen;
}

/**
 * Daemons accept ten commands at once and then one per second (wings, router/websocket/limiter.go),
 * and drop the others.
 */
const COMMAND_INTERVAL_MS = 1_050;

/** A node sends the server's state right after a token. */
const FIRST_STATE_MS = 3_000;

/**
 * How long messages wait for a lost connection, and how long a power action may take: modded
 * servers need minutes.
 */
const PATIENCE_MS = 5 * 60_000;

/**
 * Output counts as complete after this long without a line, and at the latest after the longer
 * time.
 */
const SETTLED_MS = 2_000;
const MAX_SETTLING_MS = 10_000;

/** The interval at which a condition is checked. */
const CHECK_INTERVAL_MS = 50;

/** Messages that contain the server's output. */
const OUTPUT: ReadonlySet<string> = new Set(['console output', 'install output', 'transfer logs']);
/** Messages that report a request that was not carried out. */
const REFUSALS: ReadonlySet<string> = new Set(['daemon error', 'throttled']);

/** One run of the `console` command, on a connection that the exporter's own session keeps open. */
export class ConsoleRun {
  readonly #plan: ConsolePlan;
  readonly #options: ConsoleOptions;
  readonly #name: string;
  readonly #screen: Screen;
  readonly #session: ConsoleSession;
  readonly #ending = new AbortController();
  #outcome: { readonly code: 0 | 1; readonly error?: string | undefined } | undefined;
  #state: ServerState | undefined;
  #isConnected = false;
  #hasConnected = false;
  #problem: Problem | undefined;
  /** How many requests were not carried out. */
  #failures = 0;
  #power: PowerProgress | undefined;
  /** Whether the power action and the commands of the plan were carried out or rejected. */
  #isDone = false;
  #commandAt = NEVER;
  #activeAt = NEVER;

  constructor(plan: ConsolePlan, options: ConsoleOptions) {
    this.#plan = plan;
    this.#options = options;
    this.#name = printable(options.target.name);
    this.#screen = options.screen;
    this.#session = new ConsoleSession(options, {
      changed: () => this.#onChange(),
      stateSeen: (state) => this.#onState(state),
      messageReceived: (message) => this.#onMessage(message),
    });
  }

  /** Ends the run, even if it isn't done. */
  end(error?: string): void {
    // An interactive user saw each failure and could handle it, so failures don't change the exit
    // code.
    const hasFailed = error !== undefined || (this.#failures > 0 && !this.#plan.interactive);
    this.#outcome ??= { code: hasFailed ? 1 : 0, error };
    this.#ending.abort();
  }

  /**
   * Executes the plan. Resolves when the socket is closed, with the exit code and an error that
   * wasn't shown before.
   */
  async run() {
    this.#session.start();
    try {
      await untilAborted(this.#script(), this.#ending.signal);
    } catch (error) {
      if (this.#outcome === undefined) throw error;
    } finally {
      this.end();
      await this.#session.stop();
      this.#screen.close();
    }
    return this.#outcome ?? { code: 0 };
  }

  async #script(): Promise<void> {
    const { logs = false, power, send = [], for: forMs, interactive } = this.#plan;
    const { clock } = this.#options;
    // A connection counts even if it is lost at once, because each message has its own time limit.
    await this.#until(() => this.#hasConnected);
    await this.#until(() => this.#state !== undefined, FIRST_STATE_MS);
    if (logs) await this.#send({ event: 'send logs' }, 'the request for recent lines');
    if (power !== undefined) await this.#setPower(power);
    for (const command of send) await this.#command(command);
    this.#isDone = true;
    for await (const line of this.#screen.input ?? []) await this.#command(line);
    if (forMs !== undefined && !interactive) await this.#until(() => false);
    if (interactive || (power !== undefined && send.length === 0 && !logs)) return;
    await this.#until(() => clock.now() >= this.#activeAt + SETTLED_MS, MAX_SETTLING_MS);
  }

  async #command(text: string): Promise<void> {
    if (text.trim() === '') return;
    const { clock } = this.#options;
    await this.#until(() => clock.now() >= this.#commandAt + COMMAND_INTERVAL_MS);
    const problem =
      (this.#plan.interactive && !this.#session.isReady ? 'not connected' : undefined) ??
      this.#lacking('control.console') ??
      (this.#state !== undefined && isOff(this.#state) ? `the server is ${this.#state}` : undefined);
    const what = `"${printable(text)}"`;
    if (problem !== undefined) return this.#fail(`${what} was not sent: ${problem}`);
    await this.#send({ event: 'send command', command: text }, what);
    this.#commandAt = clock.now();
  }

  async #setPower(action: PowerAction): Promise<void> {
    const before = this.#state ?? 'unknown';
    const power = new PowerProgress(action, before);
    const problem = this.#lacking(power.permission);
    if (problem !== undefined) return this.end(problem);
    if (power.isNeedless) return this.#screen.note(`${action} not needed: ${this.#name} is ${before}`);
    this.#power = power;
    const failures = this.#failures;
    if (!power.isUnderway) {
      await this.#send({ event: 'set state', action }, action);
      this.#screen.note(`${action} requested`);
    }
    const isDecided = await this.#until(() => this.#failures > failures || power.isComplete, PATIENCE_MS);
    const now = `${this.#name} is ${this.#state ?? 'in an unknown state'}`;
    if (!isDecided) return this.end(`${action} not completed after 5 minutes: ${now}`);
    if (this.#failures > failures) return this.end(`${action} failed: ${now}`);
    this.#screen.note(`${action} completed: ${now}`);
  }

  /**
   * Sends a message once the node accepts messages. Ends the run if there is no connection for five
   * minutes.
   */
  async #send(message: ClientMessage, what: string): Promise<void> {
    const isReady = await this.#until(() => this.#session.isReady, PATIENCE_MS);
    if (!isReady) this.end(`${what} was not sent: no connection for 5 minutes`);
    this.#ending.signal.throwIfAborted();
    try {
      this.#session.send(message);
      this.#activeAt = this.#options.clock.now();
    } catch (error) {
      this.#fail(`${what} was not sent: ${(error as Error).message}`);
    }
  }

  /**
   * A sentence about the permission that the token lacks; undefined if it isn't known to lack any.
   * Nodes silently drop messages without permission.
   */
  #lacking(permission: string): string | undefined {
    if (!this.#session.lacks(permission)) return undefined;
    return `the key's account lacks the permission ${permission} for this server`;
  }

  /** Waits for a condition; returns whether it became true in time. Rejects when the run ends. */
  async #until(holds: () => boolean, limitMs = Number.POSITIVE_INFINITY): Promise<boolean> {
    const { clock } = this.#options;
    const endsAt = clock.now() + limitMs;
    while (!holds() && clock.now() < endsAt) await sleep(clock, CHECK_INTERVAL_MS, this.#ending.signal);
    this.#ending.signal.throwIfAborted();
    return holds();
  }

  #fail(text: string): void {
    this.#failures += 1;
    this.#screen.note(text);
  }

  #onChange(): void {
    const { isConnected, isBlocked, problem } = this.#session;
    if (isConnected && !this.#isConnected) this.#onConnected();
    this.#isConnected = isConnected;
    const isNew = problem?.detail !== this.#problem?.detail;
    this.#problem = problem;
    if (problem === undefined || !isNew) return;
    if (isBlocked || !this.#hasConnected)
      return this.end(`${this.#name}: ${explainProblem(problem, this.#options.keySource)}`);
    this.#screen.note(
      `${isConnected ? 'token renewal failed' : 'not connected'}, retrying: ${problem.detail}`,
    );
    if (!isConnected && Number.isFinite(this.#commandAt))
      this.#fail('the last command may not have taken effect');
  }

  #onConnected(): void {
    const { target, clock } = this.#options;
    const panel = printable(target.panel);
    this.#screen.note(this.#hasConnected ? 'reconnected' : `connected to ${this.#name} on panel ${panel}`);
    if (!this.#hasConnected && this.#plan.for !== undefined) {
      const cancel = clock.schedule(this.#plan.for, () => {
        if (!this.#isDone) this.#fail('the time limit of --for was reached before everything was done');
        this.end();
      });
      this.#ending.signal.addEventListener('abort', cancel);
    }
    this.#hasConnected = true;
  }

  #onState(state: ServerState): void {
    if (state === 'unknown') return;
    if (state !== this.#state) this.#screen.note(`${this.#name} is ${state}`);
    this.#state = state;
    this.#power?.sees(state);
  }

  #onMessage(message: ServerMessage): void {
    const note = describeMessage(message);
    if (OUTPUT.has(message.event)) {
      this.#activeAt = this.#options.clock.now();
      this.#screen.print(message.args[0] ?? '');
    } else if (message.event === 'deleted') this.end(`${this.#name}: the server was deleted`);
    else if (REFUSALS.has(message.event)) this.#fail(note ?? '');
    else if (note !== undefined) this.#screen.note(note);
  }
}
