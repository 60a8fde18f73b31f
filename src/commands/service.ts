import { setFlagsFromString } from 'node:v8';
import { takeOverSignals } from './signals.ts';

/** A part of the program that runs until it is told to stop. */
export interface Service {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** What SIGHUP asks for; where absent it ends the program, as it does without us. */
  reload?(): Promise<unknown>;
}

/** Stopping takes no longer than this: what hangs is left behind. */
const STOP_DEADLINE_MS = 4_500;

/**
 * Runs a service until SIGTERM or SIGINT, then stops it within five seconds; a second signal exits at once. Rejects where the
 * service can't be started or stopped.
 */
export async function runUntilSignal(service: Service): Promise<void> {
  let signalled: () => void = () => undefined;
  const stopping = new Promise<void>((resolve) => {
    signalled = resolve;
  });
  let signals = 0;
  const onSignal = () => {
    signals += 1;
    // Nothing waits for anything any more.
    if (signals > 1) process.exit(1);
    signalled();
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
    // The listeners stay: a signal in the last instant must not end a program that stopped as it should.
    await withDeadline(service.stop());
  }
}

/** Reloads a service on SIGHUP; one that came before the service started is carried out then. */
class HangUps {
  readonly #service: Service;
  #isStarted = false;
  #isPending = false;

  constructor(service: Service) {
    this.#service = service;
  }

  /** Handles SIGHUP from now on, together with one that came before. */
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
      () => reject(new Error(`stopping took over ${STOP_DEADLINE_MS} ms`)),
      STOP_DEADLINE_MS,
    );
  });
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** How much the heap may grow between two full collections, in per cent of what was alive after the last. */
const GROWTH_PERCENT = 50;

/**
 * Bounds the garbage that waits for the collector. Left to itself it lets the heap double, since it takes a busy allocator
 * for one that will go on so: with 10,000 servers a third more memory (bench/RESULTS.md).
 */
export function boundHeapGrowth(): void {
  // The collector reads it anew at each collection, so it may be set in a running process.
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
