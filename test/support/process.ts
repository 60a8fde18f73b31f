import { type ChildProcess, spawn } from 'node:child_process';

/** Real milliseconds that a process may take to print what is waited for: generous, since machines are shared. */
const PATIENCE_MS = 40_000;

/** How a process ended. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A child process with all that it printed. */
export interface RunningProcess {
  /** Undefined where it couldn't be started. */
  readonly pid: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** Resolves when the process is gone and its output is read to the end. */
  readonly ended: Promise<Ending>;
  /** Waits until what was printed so far, on either stream, matches; rejects where the process ends before. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  kill(signal: NodeJS.Signals): void;
}

interface LaunchOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const launched = new Set<ChildProcess>();

/** Starts a program; its environment is `env` and the path alone, so that the machine's own settings don't matter. */
export function launch(
  command: string,
  args: readonly string[],
  { cwd, env = {} }: LaunchOptions = {},
): RunningProcess {
  const child = spawn(command, args, {
    cwd,
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  launched.add(child);
  let [stdout, stderr] = ['', ''];
  const watchers = new Set<() => void>();
  const tell = () => {
    for (const watch of watchers) watch();
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    tell();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    tell();
  });
  const ended = new Promise<Ending>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      launched.delete(child);
      resolve({ code, signal });
      tell();
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
    printed: (pattern) => waitForOutput(pattern, output, hasEnded, watchers),
    kill: (signal) => void child.kill(signal),
  };
}

/** Kills every process that is still running, and waits until it is gone; for `afterEach`. */
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
      clearTimeout(timer);
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
    const timer = setTimeout(() => giveUp(`got none within ${PATIENCE_MS} ms`), PATIENCE_MS);
    watchers.add(look);
    look();
  });
}
