import { vi } from 'vitest';

/** Waits until the check doesn't throw, for as long as a busy machine may need; `vi.waitFor` alone gives up after a second. */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: 15_000, interval: 20 });
}
