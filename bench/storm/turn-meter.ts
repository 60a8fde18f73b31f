// Measures the turns of a program's event loop, as a preload (`node --import`) of the program.

import { isMainThread } from 'node:worker_threads';
import { startProfile } from '../fleet/process-usage.ts';
import { threadTime } from '../visitors/thread-time.ts';

/** A request of the parent process. */
export type MeterRequest =
  | { readonly meter: 'reset' | 'read' | 'end' }
  | { readonly meter: 'profile'; readonly file: string };

/** The turns since the last reset. */
export interface Turns {
  /** The most CPU time of the main thread in one turn, in milliseconds. */
  readonly longestMs: number;
  /** The number of turns of more than 25 ms, and of more than 50 ms. */
  readonly over25: number;
  readonly over50: number;
}

const NONE = { longestMs: 0, over25: 0, over50: 0 };
let turns = { ...NONE };
let stopProfile: (() => Promise<void>) | undefined;

const readThread = threadTime();

/**
 * Reads the CPU time of the process first, because the kernel updates the file about a running
 * thread only then.
 */
function now(): number {
  process.cpuUsage();
  return readThread();
}

function meter(): void {
  let before = now();
  // An unreferenced immediate runs once in each turn, and doesn't keep the event loop from waiting.
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

// Threads of the program load the preload as well, but aren't measured.
if (isMainThread) {
  process.on('message', (message: MeterRequest) => {
    if (message.meter !== undefined) void answer(message);
  });
  process.on('disconnect', () => process.exit(0));
  process.channel?.unref();
  meter();
}
