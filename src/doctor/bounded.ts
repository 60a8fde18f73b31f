import type { Clock } from '../domain/clock.ts';
import type { Cut } from './attempt.ts';

/** Runs work with a signal that aborts when the outer one does, or with the `Cut` of `late` once the time is over. */
export async function bounded<T>(
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
  deadlineMs: number,
  late: () => Cut,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const scope = new AbortController();
  const stop = () => scope.abort(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  const cancel = clock.schedule(deadlineMs, () => scope.abort(late()));
  try {
    return await work(scope.signal);
  } finally {
    cancel();
    signal.removeEventListener('abort', stop);
  }
}

/** Does the work for each item, so many at once, and gives what came of each in the order of the items. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  const queue = items.entries();
  const worker = async () => {
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  return results;
}
