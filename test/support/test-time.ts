import type { Cancel } from '../../src/domain/clock.ts';
import { FastClock } from '../../src/simulator/fast-clock.ts';

/** Time moves on by no more than this at once: what passed beyond it, the machine was busy elsewhere. */
const LONGEST_STEP_MS = 200;

/** Real milliseconds after which time moves on at the latest, while somebody waits for it; sooner where that would be too long a step. */
const STEP_EVERY_MS = 4;

/** At higher speeds a millisecond is too long to be late by. */
const FINE_FROM_SPEED = 100;

/** How often timers may set timers that are due at once, before time has to move on. */
const MOST_ROUNDS = 100;

interface Waiting {
  readonly at: number;
  readonly run: () => void;
}

/**
 * Time run faster that moves on in small steps, between which sockets are served. Where the process is held up it passes more
 * slowly, so that a busy machine makes a test slow and not wrong: an age of two seconds is one that the program under test
 * let pass. All clocks of one test share it.
 */
export class TestTime {
  #speed: number;
  #now = 0;
  #steppedAt = performance.now();
  #nextAt = Number.POSITIVE_INFINITY;
  #disarm: () => void = () => undefined;
  readonly #waiting = new Set<Waiting>();
  readonly unixOriginMs = Date.now();

  constructor(speed: number) {
    this.#speed = speed;
  }

  /** How many of its seconds pass in one, while nothing holds the process up. */
  set speed(speed: number) {
    this.#speed = speed;
    this.#arm();
  }

  /** A clock of its own timers and wall time. */
  clock(): TestClock {
    return new TestClock(this);
  }

  now(): number {
    return this.#now;
  }

  schedule(delayMs: number, run: () => void): Cancel {
    const waiting = { at: this.#now + Math.max(0, delayMs), run };
    this.#waiting.add(waiting);
    if (waiting.at < this.#nextAt) {
      this.#nextAt = waiting.at;
      this.#arm();
    }
    return () => this.#waiting.delete(waiting);
  }

  // Node's own timers are no finer than a millisecond, which is long at high speed. Waiting without them keeps a core busy.
  #arm(): void {
    this.#disarm();
    if (this.#waiting.size === 0) {
      this.#nextAt = Number.POSITIVE_INFINITY;
      return;
    }
    const longestMs = Math.min(STEP_EVERY_MS, LONGEST_STEP_MS / this.#speed);
    const waitMs = Math.min((this.#nextAt - this.#now) / this.#speed, longestMs);
    if (waitMs < 1 && this.#speed > FINE_FROM_SPEED) {
      const immediate = setImmediate(() => this.#step());
      this.#disarm = () => clearImmediate(immediate);
    } else {
      const timer = setTimeout(() => this.#step(), waitMs).unref();
      this.#disarm = () => clearTimeout(timer);
    }
  }

  #step(): void {
    const real = performance.now();
    this.#now += Math.min((real - this.#steppedAt) * this.#speed, LONGEST_STEP_MS);
    this.#steppedAt = real;
    try {
      for (let round = 0; round < MOST_ROUNDS && this.#nextAt <= this.#now; round += 1) this.#runDue();
    } finally {
      this.#arm();
    }
  }

  #runDue(): void {
    const due = [...this.#waiting].filter(({ at }) => at <= this.#now).sort((a, b) => a.at - b.at);
    this.#nextAt = Number.POSITIVE_INFINITY;
    for (const waiting of due) {
      if (this.#waiting.delete(waiting)) waiting.run();
    }
    for (const { at } of this.#waiting) this.#nextAt = Math.min(this.#nextAt, at);
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
