// Watches a client and its panel during a scene.

import { setTimeout as delay } from 'node:timers/promises';
import type { ProgramProcess } from '../program-process.ts';
import { cpuMsOf, type ObservedProcess, rssMbOf } from './observed-process.ts';
import type { StormPanelProgram } from './panel.ts';

/** The state of a client at one instant. */
export interface Look {
  readonly at: number;
  readonly cpuMs: number;
  readonly rssMb: number;
  /** The number of servers that get stats from the panel. */
  readonly streaming: number;
}

const LOOK_MS = 250;

/** Looks at a client four times a second until `stop`. */
export class Watch {
  readonly looks: Look[] = [];
  readonly #client: ObservedProcess;
  readonly #panel: ProgramProcess<StormPanelProgram>;
  #isStopped = false;
  /** The error that ended the looks. */
  #error: Error | undefined;
  readonly #done: Promise<void>;

  constructor(client: ObservedProcess, panel: ProgramProcess<StormPanelProgram>) {
    this.#client = client;
    this.#panel = panel;
    this.#done = this.#run().catch((error: Error) => {
      this.#error = error;
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#done;
  }

  /** Resolves when `isMet` is true, or at the deadline; rejects after an error. */
  async until(isMet: (looks: readonly Look[]) => boolean, deadlineMs: number): Promise<void> {
    const endsAt = performance.now() + deadlineMs;
    while (performance.now() < endsAt && !isMet(this.looks)) {
      if (this.#error !== undefined) throw this.#error;
      await delay(LOOK_MS);
    }
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const { streaming } = await this.#panel.ask('counts', undefined);
      const { pid } = this.#client;
      this.looks.push({ at: performance.now(), cpuMs: cpuMsOf(pid), rssMb: rssMbOf(pid), streaming });
      await delay(LOOK_MS);
    }
  }
}

/**
 * A client is calm when its CPU usage has been about the same as before the scene for this long.
 */
const CALM_MS = 5_000;

/**
 * The usage of a calm client may exceed the usage before by a fifth and two hundredths of a core.
 */
const CALM_SHARE = 1.2;
const CALM_CORE = 0.02;

/** The CPU usage between two looks, as a share of a core. */
export function usage(from: Look, to: Look): number {
  return (to.cpuMs - from.cpuMs) / (to.at - from.at);
}

/**
 * The first look after which the client stayed calm, which means in all periods of five seconds
 * until the last look; undefined if it wasn't calm at the end. A client may wait before it
 * recovers, so earlier periods don't count.
 */
export function calmFrom(looks: readonly Look[], calm: number): Look | undefined {
  let to = 0;
  let from: Look | undefined;
  for (const look of looks) {
    while (to < looks.length && (looks[to]?.at ?? 0) < look.at + CALM_MS) to += 1;
    const until = looks[to];
    if (until === undefined) break;
    if (usage(look, until) > calm * CALM_SHARE + CALM_CORE) from = undefined;
    else from ??= look;
  }
  return from;
}
