import type { Cancel, Clock } from '../../src/domain/clock.ts';
import { FastClock } from '../../src/simulator/fast-clock.ts';
import { isWorkingElsewhere } from './working-elsewhere.ts';

/**
 * Milliseconds of test time that a step takes at most at moderate speeds: sockets are served between two steps, so this is how far
 * two parts of a test can be apart.
 */
const MAX_STEP_MS = 200;

/** The shortest delay of Node's timers: at high speeds, a step is as long as this is there. */
const SHORTEST_DELAY_MS = 1;

/** Real milliseconds between two steps at low speeds. */
const STEP_EVERY_MS = 4;

/** Turns of an event loop that is never quiet, such as under a flood, after which time advances all the same. */
const MAX_BUSY_TURNS = 50;

/** The number of rounds in which timers may set timers that are due at once, before time has to advance. */
const MAX_ROUNDS = 100;

/** How much later each reading is than the one before. */
const READING_MS = 1e-6;

interface Waiting {
  readonly at: number;
  readonly run: () => void;
}

/**
 * Time that advances, while a timer waits, in steps of at most the same length, and never looks at the machine's clock. A step follows
 * only a turn of the event loop in which no socket and no file had an event, and at whose start nothing else worked for the test: no
 * thread, no program that it launched, no name lookup. So what is on its way arrives before time goes on, and a busy machine makes a
 * test slow rather than wrong: an age of two seconds is always the fault of the program under test. As on a machine, no instant is read
 * twice, also between two steps: a call that follows another starts after its end. All clocks of one test share it.
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
    this.#now += READING_MS;
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
    this.#timer = setTimeout(() => this.#begin(delayMs * this.#speed), delayMs).unref();
  }

  /** Takes a step once nothing is on its way. */
  #begin(stepMs: number): void {
    if (this.#followed !== undefined) this.#step(stepMs);
    else if (isWorkingElsewhere())
      this.#timer = setTimeout(() => this.#begin(stepMs), SHORTEST_DELAY_MS).unref();
    else this.#afterQuietTurn(stepMs);
  }

  #afterQuietTurn(stepMs: number, busyTurns = 0): void {
    const before = eventsOfLoop();
    const timer = this.#timer;
    setImmediate(() => {
      if (this.#timer !== timer) return;
      if (eventsOfLoop() === before || busyTurns === MAX_BUSY_TURNS) this.#step(stepMs);
      else this.#afterQuietTurn(stepMs, busyTurns + 1);
    });
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

/** How many events of sockets, files, threads and programs this thread has handled. */
function eventsOfLoop(): number {
  return performance.nodeTiming.uvMetricsInfo.events;
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
