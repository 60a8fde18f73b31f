/** The functions that are called when something happens. */
export class Listeners<Arguments extends readonly unknown[] = []> {
  readonly #listeners = new Set<(...args: Arguments) => void>();

  /** Returns a function that unsubscribes. */
  add(listener: (...args: Arguments) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  notify(...args: Arguments): void {
    for (const listener of this.#listeners) listener(...args);
  }
}
