import type { Cancel } from '../domain/clock.ts';

/** Calls back after the event loop has had a turn. */
export type Defer = (run: () => void) => Cancel;

/**
 * Steps between two turns of the event loop: less work per turn than a scrape does, because scrapes should get most of the time.
 */
const SLICE_STEPS = 32;

/** Does long-running work in slices so that it delays no socket and no scrape; one task at a time. */
export class SlicedWork {
  readonly #defer: Defer;
  #work: Iterator<void> | undefined;
  #cancel: Cancel = () => {};

  constructor(defer: Defer = afterEvents) {
    this.#defer = defer;
  }

  /** Does the first slice at once and the others later; the rest of any previous work is dropped. */
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
      // A step may have started other work or stopped everything.
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
