// Child processes of tests.
import { type ChildProcess, spawn } from 'node:child_process';
import { afterLongestWait, LONGEST_WAIT_MS } from './eventually.ts';

/** The exit code or signal of a process. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A child process and its output. */
export interface RunningProcess {
  /** Undefined if the program couldn't start. */
  readonly pid: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** Writes a text to the standard input, if it is still open. */
  write(text: string): void;
  /** Stops reading the output. */
  leave(): void;
  /** Resolves when the process has ended and its output is complete. */
  readonly ended: Promise<Ending>;
  /** Waits until the output so far matches, on either stream. Rejects if the process ends first. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  kill(signal: NodeJS.Signals): void;
}

export interface LaunchOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The standard input: a text, or a pipe that stays open for `write`. Empty by default. */
  readonly input?: { readonly text: string } | 'open' | undefined;
}

const launched = new Set<ChildProcess>();

/** The process ids of all running programs. */
export function launchedPids(): readonly number[] {
  return [...launched].flatMap(({ pid }) => pid ?? []);
}

/**
 * Starts a program. Its environment contains only `env` and the path, so that the machine's
 * settings have no effect.
 */
export function launch(
  command: string,
  args: readonly string[],
  { cwd, env = {}, input }: LaunchOptions = {},
): RunningProcess {
  const child = spawn(command, args, {
    cwd,
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // The program may end before it has read its input.
  child.stdin.on('error', () => undefined);
  if (input !== 'open') child.stdin.end(input?.text ?? '');
  launched.add(child);
  let [stdout, stderr] = ['', ''];
  const watchers = new Set<() => void>();
  const notify = () => {
    for (const watch of watchers) watch();
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    notify();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    notify();
  });
  const ended = new Promise<Ending>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      launched.delete(child);
      resolve({ code, signal });
      notify();
    });
  });
  const output = () => `${stdout}${stderr}`;
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  return {
    pid: child.pid,
    get stdout() {
      return stdout;
    },
    get stderr() {
      return stderr;
    },
    ended,
    write: (text) => void child.stdin.write(text),
    leave: () => void child.stdout.destroy(),
    printed: (pattern) => waitForOutput(pattern, output, hasEnded, watchers),
    kill: (signal) => void child.kill(signal),
  };
}

/** Kills all running processes and waits for their end. For `afterEach`. */
export async function endProcesses(): Promise<void> {
  await Promise.all(
    [...launched].map(
      (child) =>
        new Promise<void>((resolve) => {
          child.once('close', () => resolve());
          child.kill('SIGKILL');
        }),
    ),
  );
}

function waitForOutput(
  pattern: RegExp,
  output: () => string,
  hasEnded: () => boolean,
  watchers: Set<() => void>,
): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      cancel();
      watchers.delete(look);
      act();
    };
    const giveUp = (why: string) =>
      settle(() => reject(new Error(`expected output matching ${String(pattern)}, ${why}:\n${output()}`)));
    const look = () => {
      const match = pattern.exec(output());
      if (match !== null) settle(() => resolve(match));
      else if (hasEnded()) giveUp('but the process ended');
    };
    const cancel = afterLongestWait(() => giveUp(`got none within ${LONGEST_WAIT_MS} ms`));
    watchers.add(look);
    look();
  });
}
