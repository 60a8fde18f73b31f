import type { Cancel } from '../domain/clock.ts';

/** Calls back once the event loop had its turn. */
export type Defer = (run: () => void) => Cancel;

/** Steps between two turns of the event loop: less work than a scrape does in one, which is to get the greater part of the time. */
const SLICE_STEPS = 32;

/** Does long work a slice at a time, so that it delays no socket and no scrape; one work at a time. */
export class SlicedWork {
  readonly #defer: Defer;
  #work: Iterator<void> | undefined;
  #cancel: Cancel = () => {};

  constructor(defer: Defer = afterEvents) {
    this.#defer = defer;
  }

  /** Does the first slice at once and the others later; what is left of the work before is dropped. */
  begin(work: Iterator<void>): void {
    this.cancel();
    this.#work = work;
    this.#slice(work);
  }

  cancel(): void {
    this.#cancel();
    this.#work = undefined;
  }

  #slice(work: Iterator<void>): void {
    for (let step = 0; step < SLICE_STEPS; step += 1) {
      const { done } = work.next();
      // A step may have brought on other work, or the end of all.
      if (this.#work !== work) return;
      if (done === true) {
        this.#work = undefined;
        return;
      }
    }
    this.#cancel = this.#defer(() => this.#slice(work));
  }
}

function afterEvents(run: () => void): Cancel {
  const immediate = setImmediate(run);
  return () => clearImmediate(immediate);
}
