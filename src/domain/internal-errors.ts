// Contains exceptions of the exporter's own code: each ends only the work that threw it.

/** Passes exceptions to a listener, which the exporter is while it runs. */
export class InternalErrors {
  #receive: ((error: unknown) => void) | undefined;

  /**
   * Passes exceptions to this function, which must not throw. Returns a function that stops that.
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

  /** Runs work and reports its exception. */
  contain(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.report(error);
    }
  }
}

export const INTERNAL_ERRORS = new InternalErrors();
