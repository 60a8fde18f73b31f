// Runs the service of a long-running command until a signal ends it.

import { takeOverSignals } from './signals.ts';

/** A part of the program that runs until it is stopped. */
export interface Service {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Called on SIGHUP; without it, SIGHUP ends the program, as by default. */
  reload?(): Promise<unknown>;
}

/**
 * The time limit for stopping, in milliseconds. Parts that haven't stopped by then are abandoned.
 */
const STOP_DEADLINE_MS = 4_500;

/**
 * The time limit for the process to end, in milliseconds: without it, the process would wait for
 * DNS lookups, which can't be canceled.
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
    // A second signal ends the process at once.
    if (signals > 1) process.exit(1);
    signalled();
    // The default action of the signal ends the process at once; process.exit would wait for DNS
    // lookups.
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
    // The listeners stay, so that a late signal can't kill a program that has stopped properly.
    await withDeadline(service.stop());
  }
}

/** Reloads a service on SIGHUP, even if the signal arrived before the service started. */
class HangUps {
  readonly #service: Service;
  #isStarted = false;
  #isPending = false;

  constructor(service: Service) {
    this.#service = service;
  }

  /** Handles SIGHUP from now on, including one that arrived before. */
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
      () => reject(new Error(`not stopped within ${STOP_DEADLINE_MS / 1_000} s`)),
      STOP_DEADLINE_MS,
    );
  });
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}
