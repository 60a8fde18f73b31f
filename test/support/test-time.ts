import type { Cancel } from '../../src/domain/clock.ts';
import { FastClock } from './fast-clock.ts';

/** No more real time than this counts between two looks at the clock: what is over, the machine was busy elsewhere. */
const LONGEST_STEP_MS = 10;

/** How often time is looked at, at least, while somebody waits for it. */
const LOOK_EVERY_MS = 4;

interface Waiting {
  readonly at: number;
  readonly run: () => void;
}

/**
 * Time run faster that stands still while the process is held up, so that a busy machine makes a test slow and not
 * wrong: an age of two seconds is one that the program under test let pass. All clocks of one test share it.
 */
export class TestTime {
  #speed: number;
  #now = 0;
  #lookedAt = performance.now();
  #nextAt = Number.POSITIVE_INFINITY;
  #disarm: () => void = () => undefined;
  readonly #waiting = new Set<Waiting>();
  readonly unixOriginMs = Date.now();

  constructor(speed: number) {
    this.#speed = speed;
  }

  /** How many of its seconds pass in one, while nothing holds the process up. */
  set speed(speed: number) {
    this.now();
    this.#speed = speed;
    this.#arm();
  }

  /** A clock of its own timers and wall time. */
  clock(): TestClock {
    return new TestClock(this);
  }

  now(): number {
    const real = performance.now();
    this.#now += Math.min(real - this.#lookedAt, LONGEST_STEP_MS) * this.#speed;
    this.#lookedAt = real;
    return this.#now;
  }

  schedule(delayMs: number, run: () => void): Cancel {
    const waiting = { at: this.now() + Math.max(0, delayMs), run };
    this.#waiting.add(waiting);
    if (waiting.at < this.#nextAt) {
      this.#nextAt = waiting.at;
      this.#arm();
    }
    return () => this.#waiting.delete(waiting);
  }

  // Node's own timers are no finer than a millisecond, which is long at high speed.
  #arm(): void {
    this.#disarm();
    if (this.#waiting.size === 0) return;
    const waitMs = (this.#nextAt - this.now()) / this.#speed;
    if (waitMs < 1) {
      const immediate = setImmediate(() => this.#wake()).unref();
      this.#disarm = () => clearImmediate(immediate);
    } else {
      const timer = setTimeout(() => this.#wake(), Math.min(waitMs, LOOK_EVERY_MS)).unref();
      this.#disarm = () => clearTimeout(timer);
    }
  }

  #wake(): void {
    const now = this.now();
    if (now >= this.#nextAt) {
      const due = [...this.#waiting].filter(({ at }) => at <= now).sort((a, b) => a.at - b.at);
      for (const waiting of due) {
        if (this.#waiting.delete(waiting)) waiting.run();
      }
      this.#nextAt = Number.POSITIVE_INFINITY;
      for (const { at } of this.#waiting) this.#nextAt = Math.min(this.#nextAt, at);
    }
    this.#arm();
  }
}

/** One program's clock in a test. */
export class TestClock extends FastClock {
  readonly #time: TestTime;
  #pending = 0;
  /** How far the wall clock was stepped; the monotonic side knows nothing of it. */
  stepMs = 0;

  constructor(time: TestTime) {
    super(1);
    this.#time = time;
  }

  /** How many timers wait. */
  get pending(): number {
    return this.#pending;
  }

  override now(): number {
    return this.#time.now();
  }

  override toUnixMs(monotonicMs: number): number {
    return this.#time.unixOriginMs + this.stepMs + monotonicMs;
  }

  override schedule(delayMs: number, run: () => void): Cancel {
    let waits = true;
    const leave = () => {
      if (waits) this.#pending -= 1;
      waits = false;
    };
    this.#pending += 1;
    const cancel = this.#time.schedule(delayMs, () => {
      leave();
      run();
    });
    return () => {
      leave();
      cancel();
    };
  }
}
