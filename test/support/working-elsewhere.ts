// Detects work for a test outside of its event loop.
import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { launchedPids } from './process.ts';

/** Enough for the id of a thread, its name of at most 15 characters, and its state. */
const STATE_BYTES = 64;

/** Open files with the states of this process's threads, by thread id. */
const states = new Map<string, number>();
const read = Buffer.alloc(STATE_BYTES);

/**
 * Whether another thread of this process or a launched program is running or about to run, or a
 * lookup waits for a name server. Only on Linux: on other systems, tests depend on the machine's
 * speed.
 */
export function isWorkingElsewhere(): boolean {
  if (process.platform !== 'linux') return false;
  if (process.getActiveResourcesInfo().includes('GetAddrInfoReqWrap')) return true;
  return hasWorkingThread() || launchedPids().some(isProgramWorking);
}

function hasWorkingThread(): boolean {
  const threads = threadsOf('self').filter((thread) => thread !== String(process.pid));
  for (const thread of states.keys()) if (!threads.includes(thread)) forget(thread);
  return threads.some((thread) => {
    const file = states.get(thread) ?? openState('self', thread);
    if (file === undefined) return false;
    states.set(thread, file);
    const state = stateIn(file);
    // A new thread may have the id of one that has ended.
    if (state === undefined) forget(thread);
    return isWorking(state);
  });
}

function forget(thread: string): void {
  const file = states.get(thread);
  states.delete(thread);
  if (file !== undefined) closeSync(file);
}

function isProgramWorking(pid: number): boolean {
  return threadsOf(pid).some((thread) => {
    const file = openState(pid, thread);
    if (file === undefined) return false;
    const state = stateIn(file);
    closeSync(file);
    return isWorking(state);
  });
}

/** The thread ids of a process; none if it has ended. */
function threadsOf(pid: number | 'self'): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** Undefined if the thread has ended. */
function openState(pid: number | 'self', thread: string): number | undefined {
  try {
    return openSync(`/proc/${pid}/task/${thread}/stat`, 'r');
  } catch {
    return undefined;
  }
}

/** The letter of a thread's state; undefined if the thread has ended. */
function stateIn(file: number): string | undefined {
  try {
    const text = read.toString('latin1', 0, readSync(file, read, 0, STATE_BYTES, 0));
    return text.charAt(text.lastIndexOf(')') + 2);
  } catch {
    return undefined;
  }
}

/** Whether a thread runs, or waits for a processor or a disk. */
function isWorking(state: string | undefined): boolean {
  return state === 'R' || state === 'D';
}
