// The progress of a power action, derived from the states of its server.

import { isOff, type ServerState } from '../domain/power-states.ts';
import type { PowerAction } from '../panel/socket-codec.ts';

interface Course {
  readonly permission: string;
  readonly underway?: ServerState;
  readonly isDone: (state: ServerState) => boolean;
}

/**
 * The permission that a node requires (wings, router/websocket), and the states during and after
 * the action.
 */
const COURSES: Readonly<Record<PowerAction, Course>> = {
  start: { permission: 'control.start', underway: 'starting', isDone: (state) => state === 'running' },
  stop: { permission: 'control.stop', underway: 'stopping', isDone: isOff },
  restart: { permission: 'control.restart', isDone: (state) => state === 'running' },
  kill: { permission: 'control.stop', isDone: isOff },
};

/** The progress of one action, from the state of the server at its start. */
export class PowerProgress {
  readonly #course: Course;
  readonly #isRestart: boolean;
  #state: ServerState;
  /** Whether the server has left the state `running`. A restart is complete only after that. */
  #hasLeft: boolean;

  constructor(action: PowerAction, before: ServerState) {
    this.#course = COURSES[action];
    this.#isRestart = action === 'restart';
    this.#state = before;
    this.#hasLeft = !this.#isRestart || before !== 'running';
  }

  get permission(): string {
    return this.#course.permission;
  }

  /**
   * Whether the server is already in the state to which the action leads. A restart is never
   * needless.
   */
  get isNeedless(): boolean {
    return !this.#isRestart && this.#course.isDone(this.#state);
  }

  /** Whether the server is already changing to that state. */
  get isUnderway(): boolean {
    return this.#state === this.#course.underway;
  }

  get isComplete(): boolean {
    return this.#hasLeft && this.#course.isDone(this.#state);
  }

  sees(state: ServerState): void {
    this.#state = state;
    this.#hasLeft ||= state !== 'running';
  }
}
