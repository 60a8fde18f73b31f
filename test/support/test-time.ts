// The time of tests, which waits for all work that is under way.
import type { Cancel, Clock } from '../../src/domain/clock.ts';
import { FastClock } from '../../src/simulator/fast-clock.ts';
import { isWorkingElsewhere } from './working-elsewhere.ts';

/**
 * The maximum length of a step at moderate speeds, in milliseconds of test time. Sockets are only
 * handled between steps, so two parts of a test may be this far apart.
 */
const MAX_STEP_MS = 200;

/** The shortest delay of Node.js' timers, which is the length of a step at high speeds. */
const SHORTEST_DELAY_MS = 1;

/** The interval of steps at low speeds, in real milliseconds. */
const STEP_EVERY_MS = 4;

/**
 * The number of turns of the event loop after which time advances although the loop is never quiet,
 * such as during a flood.
 */
const MAX_BUSY_TURNS = 50;

/**
 * The number of rounds in which timers may start timers that are due at once, before time has to
 * advance.
 */
const MAX_ROUNDS = 100;

/** The difference between two successive readings. */
const READING_MS = 1e-6;

interface Waiting {
  readonly at: number;
  readonly run: () => void;
}

/**
 * Time that advances in steps of limited length as long as a timer waits. It doesn't depend on the
 * machine's clock.
 *
 * A step waits until nothing is under way for the test: no event of a socket or file in a turn of
 * the event loop, and, at the start of that turn, no busy thread, no busy program that the test
 * launched, and no lookup of a name. All data on its way therefore arrives before time advances. A
 * busy machine makes a test slow but doesn't fail it: a sample that is two seconds old is always
 * the fault of the program under test.
 *
 * As on a machine, two readings are never equal, even between two steps, so a call after another
 * one starts after its end. All clocks of a test share this time.
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
   * If the time follows a machine's clock, a step is as long as the time that passed there, up to
   * the maximum. For tests with Prometheus, which can't use another time.
   */
  constructor(speed: number, followed?: Pick<Clock, 'now'>) {
    this.#speed = speed;
    this.#followed = followed;
    this.#followedAt = followed?.now() ?? 0;
  }

  /** The maximum number of test seconds per real second. Time is slower while work is under way. */
  set speed(speed: number) {
    this.#speed = speed;
    this.#arm();
  }

  /** Creates a clock with its own timers and wall time. */
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

  /** Takes a step when nothing is under way. */
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

/** The number of events of sockets, files, threads and programs that this thread has handled. */
function eventsOfLoop(): number {
  return performance.nodeTiming.uvMetricsInfo.events;
}

/** The clock of one program in a test. */
export class TestClock extends FastClock {
  readonly #time: TestTime;
  #pending = 0;
  /** The sum of all steps of the wall clock. They don't affect the monotonic clock. */
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
