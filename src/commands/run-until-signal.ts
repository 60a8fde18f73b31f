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
    // The one place beside cli.ts that ends the process: nobody waits for anything any more.
    if (signals > 1) process.exit(1);
    signalled();
  };
  const onHangUp = () => void service.reload?.();
  if (service.reload !== undefined) process.on('SIGHUP', onHangUp);
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  try {
    await service.start();
    await stopping;
  } finally {
    await withDeadline(service.stop());
    process.off('SIGHUP', onHangUp);
    process.off('SIGTERM', onSignal);
    process.off('SIGINT', onSignal);
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
