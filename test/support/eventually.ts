import { setTimeout as delay } from 'node:timers/promises';

/** Real milliseconds after which a wait ends in any case: less than a test may take, so that its last error is shown. */
export const LONGEST_WAIT_MS = 110_000;

/** The shortest time between two checks, in real milliseconds. */
const CHECK_EVERY_MS = 10;

/** Waits until the check doesn't throw: a busy machine makes a test slow, not wrong. The wait itself keeps it busy for a third of the time. */
export async function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + LONGEST_WAIT_MS;
  for (;;) {
    const checkedAt = performance.now();
    try {
      return await check();
    } catch (error) {
      if (performance.now() >= giveUpAt) throw error;
    }
    await delay(Math.max(CHECK_EVERY_MS, 2 * (performance.now() - checkedAt)));
  }
}
