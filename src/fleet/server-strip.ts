// The states of one server in the last two hours, and the seconds in each.

import { NEVER } from '../domain/clock.ts';
import type { KeptStrip } from '../domain/kept-server.ts';
import type { ServerState } from '../domain/power-states.ts';
import { STRIP_POINTS, STRIP_STATES, type Strip } from '../domain/strip.ts';
import { SATURATED_WINDOW_SECONDS } from '../domain/thresholds.ts';
import { SECOND_MS } from '../domain/units.ts';
import { type Chunk, SATURATED } from './history-rings.ts';
import { packSteps, unpackSteps } from './strip-steps.ts';

const STRIP_STEP_MS = 120_000;

/**
 * The rings that are kept across a restart: those of the known states and of the time at the CPU
 * limit.
 */
const KEPT_RINGS = Array.from({ length: SATURATED }, (_, index) => index + 1);

/** The newest step before the first sample. */
const NO_STEP = -1;

/** The position of each state in a strip. */
const SHOWN: Readonly<Record<ServerState | 'down', number>> = {
  running: STRIP_STATES.indexOf('running'),
  starting: STRIP_STATES.indexOf('changing'),
  stopping: STRIP_STATES.indexOf('changing'),
  offline: STRIP_STATES.indexOf('off'),
  down: STRIP_STATES.indexOf('down'),
  unknown: 0,
};

/**
 * The strip of a server: its states, the seconds in each, and the seconds at the CPU limit.
 * Instants are monotonic milliseconds.
 */
export class ServerStrip {
  readonly #strip: Chunk['strip'];
  /** The server's place in the rings. */
  readonly #place: number;
  #step = NO_STEP;
  /** The current state, and the second up to which time was counted. */
  #shown = 0;
  #countedTo = Number.NaN;
  /** The instant until which the current state counts as known. */
  knownUntil = NEVER;

  constructor(strip: Chunk['strip'], place: number) {
    this.#strip = strip;
    this.#place = place;
  }

  /** Begins a state. */
  seen(shown: ServerState | 'down', now: number): void {
    const state = SHOWN[shown];
    const step = Math.floor(now / STRIP_STEP_MS);
    const isSame = state === this.#shown && now <= this.knownUntil;
    // True for nearly every sample. The time is counted later.
    if (isSame && step === this.#step) return;
    this.#countTo(now);
    if (isSame) return;
    this.#shown = state;
    this.#add(state, step, 0);
  }

  /** Adds time at the CPU limit, rounded to whole seconds like the steps. */
  saturated(now: number, saturatedMs: number): void {
    const seconds = Math.floor(now / SECOND_MS) - Math.floor((now - saturatedMs) / SECOND_MS);
    if (seconds > 0) this.#add(SATURATED, this.#step, seconds);
  }

  /** Marks a crash, however brief the server was off. */
  crashed(at: number): void {
    this.#add(SHOWN.down, Math.floor(at / STRIP_STEP_MS), 0);
  }

  /** The share of the last ten minutes at the CPU limit. */
  saturatedShare(now: number): number {
    const end = Math.floor(now / STRIP_STEP_MS);
    const first = end - (SATURATED_WINDOW_SECONDS * SECOND_MS) / STRIP_STEP_MS;
    let seconds = 0;
    for (let step = first; step <= Math.min(end, this.#step); step += 1) {
      const share = step === first ? 1 + end - now / STRIP_STEP_MS : 1;
      seconds += share * Math.max(0, this.#strip.read(this.#place, SATURATED, step) - 1);
    }
    return seconds / SATURATED_WINDOW_SECONDS;
  }

  /** The steps with their age at this instant; undefined before the first. */
  keep(now: number, at: number): KeptStrip | undefined {
    if (this.#step === NO_STEP) return undefined;
    this.#countTo(now);
    const end = this.#step;
    const steps = packSteps(STRIP_POINTS, KEPT_RINGS, (ring, step) =>
      this.#strip.read(this.#place, ring, end - STRIP_POINTS + 1 + step),
    );
    return { ago: Math.round(at - end * STRIP_STEP_MS), steps };
  }

  /** Restores a strip that was kept at an earlier instant. Nothing is known of the time between. */
  restore(strip: KeptStrip, at: number, now: number): void {
    this.#countTo(now);
    // The steps of the previous exporter began at other instants.
    const newest = Math.min(Math.round((at - strip.ago) / STRIP_STEP_MS), this.#step);
    const shift = newest - STRIP_POINTS + 1;
    unpackSteps(strip.steps, STRIP_POINTS, KEPT_RINGS, (ring, step, value) => {
      const to = shift + step;
      if (to > this.#step - STRIP_POINTS)
        this.#strip.write(this.#place, ring, to, Math.min(value, STRIP_STEP_MS / SECOND_MS + 1));
    });
  }

  /** The states of the last two hours; undefined before the first. */
  read(now: number): Strip | undefined {
    if (this.#step === NO_STEP) return undefined;
    this.#countTo(now);
    const end = this.#step;
    const worst: number[] = [];
    const seconds = STRIP_STATES.map(() => 0);
    // A single pass without closures, because a viewer of the page reads all strips every second.
    for (let step = end - STRIP_POINTS + 1; step <= end; step += 1) {
      let most = 0;
      for (let state = 1; state < STRIP_STATES.length; state += 1) {
        const seen = this.#strip.read(this.#place, state, step);
        if (seen === 0) continue;
        most = state;
        seconds[state] = (seconds[state] ?? 0) + seen - 1;
      }
      worst.push(most);
    }
    return { worst, seconds };
  }

  /**
   * Counts the time since the last call for the state that was current then, as long as it was
   * fresh.
   */
  #countTo(now: number): void {
    const step = Math.floor(now / STRIP_STEP_MS);
    if (step !== this.#step) {
      let seen = this.#step + 1;
      this.#strip.begin(this.#place, this.#step, step);
      this.#step = step;
      for (; seen <= step && seen * STRIP_STEP_MS <= this.knownUntil; seen += 1)
        this.#add(this.#shown, seen, 0);
    }
    const second = Math.floor(now / SECOND_MS);
    const end = Math.min(second, Math.floor(this.knownUntil / SECOND_MS));
    for (let next = this.#countedTo; next < end; next += 1) {
      this.#add(this.#shown, Math.floor((next * SECOND_MS) / STRIP_STEP_MS), 1);
    }
    this.#countedTo = second;
  }

  /** Adds seconds to a state in a step, if the step is still kept. */
  #add(ring: number, step: number, seconds: number): void {
    if (step > this.#step || step <= this.#step - STRIP_POINTS) return;
    this.#strip.write(
      this.#place,
      ring,
      step,
      Math.max(this.#strip.read(this.#place, ring, step), 1) + seconds,
    );
  }
}
