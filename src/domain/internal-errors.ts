// Contains exceptions of the exporter's own code, so that each ends only the work in which it was
// thrown.

/** Passes exceptions to its listener: the exporter while it runs. */
export class InternalErrors {
  #receive: ((error: unknown) => void) | undefined;

  /**
   * Passes exceptions to this function from now on, which must not throw; returns a function that
   * ends that.
   */
  listen(receive: (error: unknown) => void): () => void {
    this.#receive = receive;
    return () => {
      if (this.#receive === receive) this.#receive = undefined;
    };
  }

  /** Reports an exception; throws it if nothing listens. */
  report(error: unknown): void {
    if (this.#receive === undefined) throw error;
    this.#receive(error);
  }

  /** Does some work, and reports its exception. */
  contain(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.report(error);
    }
  }
}

export const INTERNAL_ERRORS = new InternalErrors();
