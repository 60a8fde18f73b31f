// Waits for conditions. Apart from the clocks, no other file of the tests uses the machine's time.
import { setTimeout as delay } from 'node:timers/promises';

/**
 * The maximum duration of a wait, in real milliseconds. Waits beside twenty busy programs are
 * shorter.
 */
export const LONGEST_WAIT_MS = 300_000;

/**
 * The timeout of a test. It is longer than the longest wait, so that a test that hangs fails with
 * the last error of the wait.
 */
export const LONGEST_TEST_MS = 3 * LONGEST_WAIT_MS;

/** The shortest time between two checks, in real milliseconds. */
const CHECK_EVERY_MS = 10;

/**
 * Waits until the check doesn't throw. A busy machine therefore makes a test slow but doesn't fail
 * it. The wait itself uses at most a fifth of the processor.
 */
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

/**
 * Repeats an action every few real milliseconds until the returned function is called. The test
 * must not depend on the number of repetitions.
 */
export function repeatedly(act: () => void, everyMs = CHECK_EVERY_MS): () => void {
  const timer = setInterval(act, everyMs);
  return () => clearInterval(timer);
}

/** Calls `giveUp` after the longest wait, unless the returned function is called before. */
export function afterLongestWait(giveUp: () => void): () => void {
  const timer = setTimeout(giveUp, LONGEST_WAIT_MS);
  return () => clearTimeout(timer);
}
