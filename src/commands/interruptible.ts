// Work of a command that SIGINT or SIGTERM interrupts.

import { setMaxListeners } from 'node:events';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * Runs work whose abort signal fires at the first SIGINT or SIGTERM; the next one ends the process,
 * as by default.
 */
export async function interruptible<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const stop = new AbortController();
  // A command's prompts and calls all listen to it; Node warns of more than ten.
  setMaxListeners(0, stop.signal);
  const onSignal = () => stop.abort();
  for (const signal of SIGNALS) process.once(signal, onSignal);
  try {
    return await work(stop.signal);
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  }
}
