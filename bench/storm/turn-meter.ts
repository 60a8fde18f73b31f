/** Measures the turns of a program's event loop from inside its process: a preload (`node --import`), so the program is unchanged. */

import { isMainThread } from 'node:worker_threads';
import { startProfile } from '../fleet/process-usage.ts';
import { threadTime } from '../visitors/thread-time.ts';

/** What the parent process asks, over the channel that it opened. */
export type MeterRequest =
  | { readonly meter: 'reset' | 'read' | 'end' }
  | { readonly meter: 'profile'; readonly file: string };

/** The turns since the last reset. */
export interface Turns {
  /** The largest CPU time of the main thread in one turn, in milliseconds. */
  readonly longestMs: number;
  /** Turns of more than 25 and of more than 50 ms. */
  readonly over25: number;
  readonly over50: number;
}

const NONE = { longestMs: 0, over25: 0, over50: 0 };
let turns = { ...NONE };
let stopProfile: (() => Promise<void>) | undefined;

const readThread = threadTime();

/** The kernel updates a running thread's time in the file only when it is asked for the process's. */
function now(): number {
  process.cpuUsage();
  return readThread();
}

function meter(): void {
  let before = now();
  // An immediate that isn't referenced runs once in each turn, and doesn't keep the loop from waiting.
  const turned = () => {
    const at = now();
    const tookMs = at - before;
    before = at;
    turns.longestMs = Math.max(turns.longestMs, tookMs);
    if (tookMs > 25) turns.over25 += 1;
    if (tookMs > 50) turns.over50 += 1;
    setImmediate(turned).unref();
  };
  setImmediate(turned).unref();
}

async function answer(request: MeterRequest): Promise<void> {
  const until = { ...turns };
  switch (request.meter) {
    case 'reset':
      turns = { ...NONE };
      break;
    case 'profile':
      stopProfile = await startProfile(request.file);
      break;
    case 'end':
      await stopProfile?.();
      stopProfile = undefined;
      break;
    default:
      break;
  }
  process.send?.({ meter: until });
}

// Threads of the program are given its preloads as well.
if (isMainThread) {
  process.on('message', (message: MeterRequest) => {
    if (message.meter !== undefined) void answer(message);
  });
  process.on('disconnect', () => process.exit(0));
  process.channel?.unref();
  meter();
}
