import type { Cancel, Clock } from '../../src/domain/time.ts';
import { FastClock } from '../../src/simulator/fast-clock.ts';

/**
 * Milliseconds of test time that a step takes at most at moderate speeds: sockets are served between two steps, so this is how far
 * two parts of a test can be apart.
 */
const MAX_STEP_MS = 200;

/** The shortest delay of Node's timers: at high speeds, a step is as long as this is there. */
const SHORTEST_DELAY_MS = 1;

/** Real milliseconds between two steps at low speeds. */
const STEP_EVERY_MS = 4;

/** The number of rounds in which timers may set timers that are due at once, before time has to advance. */
const MAX_ROUNDS = 100;

interface Waiting {
  readonly at: number;
  readonly run: () => void;
}

/**
 * Time that is counted in turns of the event loop: while a timer waits, each turn adds a step of at most the same length, however long it
 * takes, and between two steps sockets are served. It never looks at the machine's clock, so a busy machine makes a test slow rather than
 * wrong: an age of two seconds is always the fault of the program under test. All clocks of one test share it. Turns are at least a
 * few milliseconds apart, so that threads and other programs that a test talks to keep up.
 */
export class TestTime {
  #speed: number;
  #now = 0;
  #nextAt = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  readonly #waiting = new Set<Waiting>();
  readonly unixOriginMs = Date.now();
  readonly #followed: Pick<Clock, 'now'> | undefined;
  #followedAt: number;

  /**
   * With a machine's clock that it follows, a step is as long as what passed there, up to the longest one: for tests with Prometheus,
   * which has no other time.
   */
  constructor(speed: number, followed?: Pick<Clock, 'now'>) {
    this.#speed = speed;
    this.#followed = followed;
    this.#followedAt = followed?.now() ?? 0;
  }

  /** The number of its seconds per real second at most, while nothing holds the process up. */
  set speed(speed: number) {
    this.#speed = speed;
    this.#arm();
  }

  /** A clock with its own timers and wall time. */
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

  /** The length of a step. */
  get #stepMs(): number {
    return Math.max(Math.min(MAX_STEP_MS, STEP_EVERY_MS * this.#speed), SHORTEST_DELAY_MS * this.#speed);
  }

  #arm(): void {
    clearTimeout(this.#timer);
    if (this.#waiting.size === 0) {
      this.#nextAt = Number.POSITIVE_INFINITY;
      return;
    }
    const untilNextMs = Math.max(0, this.#nextAt - this.#now) / this.#speed;
    const delayMs = Math.max(SHORTEST_DELAY_MS, Math.ceil(Math.min(untilNextMs, this.#stepMs / this.#speed)));
    this.#timer = setTimeout(() => this.#step(delayMs * this.#speed), delayMs).unref();
  }

  #step(stepMs: number): void {
    this.#now += this.#followed === undefined ? stepMs : Math.min(this.#passed(this.#followed), this.#stepMs);
    try {
      for (let round = 0; round < MAX_ROUNDS && this.#nextAt <= this.#now; round += 1) this.#runDue();
    } finally {
      this.#arm();
    }
  }

  #passed(followed: Pick<Clock, 'now'>): number {
    const before = this.#followedAt;
    this.#followedAt = followed.now();
    return (this.#followedAt - before) * this.#speed;
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

/** The clock of one program in a test. */
export class TestClock extends FastClock {
  readonly #time: TestTime;
  #pending = 0;
  /** How far the wall clock was stepped; the monotonic clock is unaffected. */
  stepMs = 0;

  constructor(time: TestTime) {
    super(1);
    this.#time = time;
  }

  /** The number of waiting timers. */
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
