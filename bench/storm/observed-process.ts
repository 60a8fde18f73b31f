// A program whose CPU time, memory and event loop are measured.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { MeterRequest, Turns } from './turn-meter.ts';

const METER = new URL('./turn-meter.js', import.meta.url).href;
const CHILD = fileURLToPath(new URL('../child.js', import.meta.url));
const CLI = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url));

/**
 * The unit of CPU times in `/proc`: a hundredth of a second, whatever unit the kernel uses itself.
 */
const TICK_MS = 10;
const PAGE_BYTES = 4_096;

/** The CPU time of a process since its start, in milliseconds. */
export function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // Fields are counted after the name of the program, which is in parentheses and may contain
  // anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** The resident memory of a process, in 10^6 bytes. */
export function rssMbOf(pid: number): number {
  return (Number(readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1]) * PAGE_BYTES) / 1e6;
}

export class ObservedProcess {
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;

  private constructor(args: readonly string[]) {
    this.#process = spawn(process.execPath, ['--import', METER, ...args], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.#ended = once(this.#process, 'exit');
  }

  /** Starts the built exporter as users do. */
  static exporter(configFile: string, port: number): ObservedProcess {
    const listen = ['--web.listen-address', `127.0.0.1:${port}`];
    return new ObservedProcess([CLI, 'serve', '--storage.path=', '--config', configFile, ...listen]);
  }

  /** Starts a program of the benchmarks. */
  static program(name: string, options: object): ObservedProcess {
    return new ObservedProcess([CHILD, name, JSON.stringify(options)]);
  }

  get pid(): number {
    const { pid } = this.#process;
    if (pid === undefined || this.#process.exitCode !== null || this.#process.signalCode !== null)
      throw new Error('the measured program has ended');
    return pid;
  }

  hangUp(): void {
    this.#process.kill('SIGHUP');
  }

  /** Sends a request to the turn meter in the program. Resolves with the turns until now. */
  async meter(request: MeterRequest): Promise<Turns> {
    const reply = new Promise<Turns>((resolve, reject) => {
      const take = (message: { readonly meter?: Turns }) => {
        if (message.meter === undefined) return;
        this.#process.off('message', take);
        resolve(message.meter);
      };
      this.#process.on('message', take);
      void this.#ended.then(() => reject(new Error('the measured program has ended')));
    });
    this.#process.send(request);
    return await reply;
  }

  async stop(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.#ended;
  }
}
