// How a long-running command handles signals, its time limit for stopping, and garbage collection.

import { setFlagsFromString } from 'node:v8';
import { takeOverSignals } from './signals.ts';

/** A part of the program that runs until it is stopped. */
export interface Service {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Called on SIGHUP; without it, SIGHUP ends the program, as by default. */
  reload?(): Promise<unknown>;
}

/** The time limit for stopping, in milliseconds: anything still hanging is abandoned. */
const STOP_DEADLINE_MS = 4_500;

/**
 * The time limit for the process to end, in milliseconds: it would wait for lookups of names, which
 * can't be canceled.
 */
const END_DEADLINE_MS = 4_900;

/**
 * Runs a service until SIGTERM or SIGINT, then stops it within five seconds; a second signal exits
 * at once. Rejects if the service fails to start or stop.
 */
export async function runUntilSignal(service: Service): Promise<void> {
  let signalled: () => void = () => undefined;
  const stopping = new Promise<void>((resolve) => {
    signalled = resolve;
  });
  let signals = 0;
  const onSignal = (signal: NodeJS.Signals) => {
    signals += 1;
    // A second signal exits without waiting for anything.
    if (signals > 1) process.exit(1);
    signalled();
    // process.exit would wait for lookups, too.
    setTimeout(() => {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    }, END_DEADLINE_MS).unref();
  };
  const hangUps = new HangUps(service);
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  hangUps.handle();
  try {
    await service.start();
    hangUps.started();
    await stopping;
  } finally {
    // The listeners stay: a signal at the last moment must not kill a program that stopped properly.
    await withDeadline(service.stop());
  }
}

/** Reloads a service on SIGHUP; a SIGHUP that arrived before the service started is handled once it has. */
class HangUps {
  readonly #service: Service;
  #isStarted = false;
  #isPending = false;

  constructor(service: Service) {
    this.#service = service;
  }

  /** Handles SIGHUP from now on, as well as one that arrived before. */
  handle(): void {
    if (this.#service.reload !== undefined) process.on('SIGHUP', () => this.#reload());
    if (!takeOverSignals()) return;
    if (this.#service.reload === undefined) process.kill(process.pid, 'SIGHUP');
    else this.#reload();
  }

  started(): void {
    this.#isStarted = true;
    if (this.#isPending) this.#reload();
  }

  #reload(): void {
    if (this.#isStarted) void this.#service.reload?.();
    else this.#isPending = true;
  }
}

async function withDeadline(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`not stopped within ${STOP_DEADLINE_MS} ms`)),
      STOP_DEADLINE_MS,
    );
  });
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/**
 * How much the heap may grow between two full collections, in percent of the live data after the
 * last one.
 */
const GROWTH_PERCENT = 50;

/**
 * Bounds the uncollected garbage. By default the collector lets the heap double, because it expects
 * a high allocation rate to continue: with 10,000 servers that takes a third more memory
 * (bench/RESULTS.md).
 */
export function boundHeapGrowth(): void {
  // The collector reads the flag at each collection, so it can be set in a running process.
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}

/**
 * How many files this process may open; undefined if there is no limit or the system doesn't report
 * one. Node.js raises its soft limit to the hard one at startup, so this is the effective one.
 */
export function descriptorLimit(report: unknown = process.report.getReport()): number | undefined {
  const { userLimits } = report as { readonly userLimits?: { readonly open_files?: { soft?: unknown } } };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : undefined;
}
