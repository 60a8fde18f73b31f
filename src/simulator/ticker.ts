// Visits every item once per interval with one timer.

import type { Cancel, Clock } from '../domain/clock.ts';

const SLICES = 20;
const SHORTEST_SLICE_MS = 5;

/** Visits items one by one. The visits are spread over the interval to distribute the load. */
export class Ticker<Item> {
  readonly intervalMs: number;
  readonly #clock: Clock;
  readonly #visit: (item: Item) => void;
  readonly #afterSlice: (sliceMs: number) => void;
  readonly #slices: Set<Item>[];
  readonly #sliceMs: number;
  #added = 0;
  #next = 0;
  #dueAt = 0;
  #cancel: Cancel = () => undefined;

  constructor(
    clock: Clock,
    intervalMs: number,
    visit: (item: Item) => void,
    afterSlice: (sliceMs: number) => void,
  ) {
    this.intervalMs = intervalMs;
    this.#clock = clock;
    this.#visit = visit;
    this.#afterSlice = afterSlice;
    const slices = Math.max(1, Math.min(SLICES, Math.floor(intervalMs / SHORTEST_SLICE_MS)));
    this.#slices = Array.from({ length: slices }, () => new Set());
    this.#sliceMs = intervalMs / slices;
  }

  add(item: Item): void {
    this.#slices[this.#added++ % this.#slices.length]?.add(item);
  }

  remove(item: Item): void {
    for (const slice of this.#slices) slice.delete(item);
  }

  start(): void {
    this.#dueAt = this.#clock.now() + this.#sliceMs;
    this.#arm();
  }

  stop(): void {
    this.#cancel();
  }

  #arm(): void {
    this.#cancel = this.#clock.schedule(this.#dueAt - this.#clock.now(), () => this.#run());
  }

  #run(): void {
    for (const item of this.#slices[this.#next] ?? []) this.#visit(item);
    this.#next = (this.#next + 1) % this.#slices.length;
    this.#afterSlice(this.#sliceMs);
    // Keeps the average pace. A process that was suspended doesn't catch up on whole intervals.
    this.#dueAt = Math.max(this.#dueAt + this.#sliceMs, this.#clock.now() - this.intervalMs);
    this.#arm();
  }
}
