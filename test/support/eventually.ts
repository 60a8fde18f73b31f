// Waits for conditions: the only file of the tests, besides those of clocks, that uses the machine's time.
import { setTimeout as delay } from 'node:timers/promises';

/** Real milliseconds after which a wait ends in any case: more than it takes beside twenty busy programs. */
export const LONGEST_WAIT_MS = 300_000;

/** Only a test that hangs takes this long, so that a wait's last error is shown: a busy machine makes a test slow, not wrong. */
export const LONGEST_TEST_MS = 3 * LONGEST_WAIT_MS;

/** The shortest time between two checks, in real milliseconds. */
const CHECK_EVERY_MS = 10;

/** Waits until the check doesn't throw: a busy machine makes a test slow, not wrong. The wait itself keeps it busy for a fifth of the time. */
export async function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + LONGEST_WAIT_MS;
  for (;;) {
    const checkedAt = performance.now();
    try {
      return await check();
    } catch (error) {
      if (performance.now() >= giveUpAt) throw error;
    }
    await delay(Math.max(CHECK_EVERY_MS, 4 * (performance.now() - checkedAt)));
  }
}

/** Does something every few real milliseconds until the returned function is called; nothing may depend on how often. */
export function repeatedly(act: () => void, everyMs = CHECK_EVERY_MS): () => void {
  const timer = setInterval(act, everyMs);
  return () => clearInterval(timer);
}

/** Calls this after the longest wait, unless the returned function is called before. */
export function afterLongestWait(giveUp: () => void): () => void {
  const timer = setTimeout(giveUp, LONGEST_WAIT_MS);
  return () => clearTimeout(timer);
}
