// Whether anything works for a test outside of its event loop.
import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { launchedPids } from './process.ts';

/** Long enough for a thread's number, its name of at most 15 characters, and its state. */
const STATE_BYTES = 64;

/** The file of each thread of this process that tells its state, by number. */
const states = new Map<string, number>();
const read = Buffer.alloc(STATE_BYTES);

/**
 * Whether a thread of this process other than its main one, or a program that the test launched, runs or is to run, or a name is being
 * looked up, which waits for a name server. As on Linux: elsewhere, tests depend on how fast the machine is.
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
    // Another thread may have got the number of one that has ended.
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

/** The numbers of a process's threads; none once it has ended. */
function threadsOf(pid: number | 'self'): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** Undefined once the thread has ended. */
function openState(pid: number | 'self', thread: string): number | undefined {
  try {
    return openSync(`/proc/${pid}/task/${thread}/stat`, 'r');
  } catch {
    return undefined;
  }
}

/** The letter of a thread's state; undefined once it has ended. */
function stateIn(file: number): string | undefined {
  try {
    const text = read.toString('latin1', 0, readSync(file, read, 0, STATE_BYTES, 0));
    return text.charAt(text.lastIndexOf(')') + 2);
  } catch {
    return undefined;
  }
}

/** Whether a thread runs, waits for a processor, or waits for a disk. */
function isWorking(state: string | undefined): boolean {
  return state === 'R' || state === 'D';
}
