// Work of a command that SIGINT or SIGTERM interrupts.

import { setMaxListeners } from 'node:events';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * Runs work whose abort signal fires at the first SIGINT or SIGTERM. The second one ends the
 * process, as by default.
 */
export async function interruptible<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const stop = new AbortController();
  // All of a command's prompts and calls listen to the signal; Node.js warns if there are more than
  // ten.
  setMaxListeners(0, stop.signal);
  const onSignal = () => stop.abort();
  for (const signal of SIGNALS) process.once(signal, onSignal);
  try {
    return await work(stop.signal);
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  }
}
