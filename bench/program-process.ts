// Runs a program in its own process, and calls its functions from here.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** The functions of a program that its parent process can call. */
export type Program = Readonly<Record<string, (argument: never) => unknown>>;

export interface Question {
  readonly id: number;
  readonly name: string;
  readonly argument: unknown;
}

export type Reply =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: string };

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** The id of the reply that reports the start of a program. */
const STARTED = 0;

/** A program in its own process, so that the measured code has its own heap and event loop. */
export class ProgramProcess<Asked extends Program> {
  readonly #name: string;
  readonly #process: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = STARTED;
  #isStopping = false;

  constructor(name: string, options: object) {
    this.#name = name;
    this.#process = fork(new URL('./child.js', import.meta.url), [name, JSON.stringify(options)], {
      // Collecting garbage on demand distinguishes a leak from garbage that isn't collected yet.
      execArgv: ['--expose-gc'],
    });
  }

  /** The id of the process. */
  get pid(): number {
    const { pid } = this.#process;
    if (pid === undefined) throw new Error(`the program ${this.#name} did not start`);
    return pid;
  }

  /** Resolves when the program has started. */
  async start(): Promise<this> {
    this.#process.on('message', (reply: Reply) => this.#take(reply));
    this.#process.once('exit', (code, signal) => {
      const reason = this.#isStopping ? 'was stopped' : `ended by itself (${signal ?? code})`;
      const error = new Error(`the program ${this.#name} ${reason}`);
      for (const { reject } of this.#waiting.values()) reject(error);
    });
    await this.#reply(STARTED);
    return this;
  }

  async ask<Name extends keyof Asked & string>(
    name: Name,
    argument: Parameters<Asked[Name]>[0],
  ): Promise<Awaited<ReturnType<Asked[Name]>>> {
    this.#lastId += 1;
    const id = this.#lastId;
    const reply = this.#reply(id);
    this.#process.send({ id, name, argument } satisfies Question);
    return (await reply) as Awaited<ReturnType<Asked[Name]>>;
  }

  /** Ends the process; resolves when it has ended. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const gone = once(this.#process, 'exit');
    this.#process.disconnect();
    await gone;
  }

  #reply(id: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
    });
  }

  #take(reply: Reply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if ('error' in reply) waiting?.reject(new Error(`${this.#name}: ${reply.error}`));
    else waiting?.resolve(reply.value);
  }
}
