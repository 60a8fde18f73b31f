// Waits for the next turn of the event loop.

/** Resolves in the next turn of the event loop. */
export function nextTurn(): Promise<undefined> {
  return new Promise((resolve) => setImmediate(() => resolve(undefined)));
}
