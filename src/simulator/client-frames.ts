// The frames of one console client, which a daemon limits in number and rate.

import type { Clock } from '../domain/clock.ts';
import {
  admitFrame,
  COMMAND_LIMITS,
  FRAME_LIMITS,
  type FrameBudget,
  type FrameLimits,
  MAX_CLIENT_FRAME_BYTES,
  newFrameBudget,
  parseClientFrame,
} from './frames.ts';
import type { Recorder } from './recorder.ts';

/** A daemon's limit that is never reached. */
const UNLIMITED: FrameLimits = { perSecond: Number.MAX_SAFE_INTEGER, burst: Number.MAX_SAFE_INTEGER };

/** A daemon's verdict on a frame. */
export interface ReceivedFrame {
  readonly event: string;
  readonly argument: unknown;
  /** Whether the daemon acts on it. */
  readonly isAccepted: boolean;
  /** Whether the daemon tells the client that it drops such frames. */
  readonly isThrottled: boolean;
}

/** The sender of the frames, and their limits. */
export interface ClientFramesOptions {
  readonly server: string;
  readonly clock: Clock;
  readonly recorder: Recorder;
  /** Whether the daemon drops frames that arrive too fast, checked for each frame. */
  readonly throttles: () => boolean;
}

/** Counts each frame against two limits: one for all frames, and one for commands. */
export class ClientFrames {
  readonly #options: ClientFramesOptions;
  #budget: FrameBudget;
  /** The limiter that Wings applies to `send command`. */
  #commandBudget: FrameBudget;

  constructor(options: ClientFramesOptions) {
    this.#options = options;
    const now = options.clock.now();
    this.#budget = newFrameBudget(this.#limits(FRAME_LIMITS), now);
    this.#commandBudget = newFrameBudget(this.#limits(COMMAND_LIMITS), now);
  }

  receive(bytes: Buffer, isBinary: boolean): ReceivedFrame {
    const { clock, recorder, server } = this.#options;
    const isOversize = bytes.length > MAX_CLIENT_FRAME_BYTES;
    const frame = isBinary || isOversize ? undefined : parseClientFrame(bytes.toString('utf8'));
    if (isOversize) recorder.count('oversizeFrames');
    const event = frame?.event ?? '(unreadable)';
    const at = clock.now();
    const verdict = admitFrame(this.#budget, event, at, this.#limits(FRAME_LIMITS));
    this.#budget = verdict.budget;
    const command = verdict.accepted && event === 'send command' ? this.#admitCommand(at) : undefined;
    const isAccepted = verdict.accepted && command?.accepted !== false && frame !== undefined;
    // A token is secret, even in a record.
    const args = event === 'auth' ? undefined : frame?.args;
    recorder.frame({ at, server, event, accepted: isAccepted, args });
    if (verdict.crashing) recorder.count('wouldHaveCrashed');
    const isThrottled = verdict.notify || command?.notify === true;
    return { event, argument: frame?.args[0], isAccepted, isThrottled };
  }

  #admitCommand(at: number) {
    const verdict = admitFrame(this.#commandBudget, 'send command', at, this.#limits(COMMAND_LIMITS));
    this.#commandBudget = verdict.budget;
    return verdict;
  }

  #limits(limits: FrameLimits): FrameLimits {
    return this.#options.throttles() ? limits : UNLIMITED;
  }
}
