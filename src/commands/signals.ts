/** Commands that do one thing and end: a signal ends them with the code of that signal, unless they handle it themselves. */
const ONE_SHOT_COMMANDS = new Set(['init', 'check', 'doctor', 'console']);

/** Did SIGHUP arrive before a service could reload? */
let hasHungUp = false;

const endEarly = () => process.exit(0);
const rememberHangUp = () => {
  hasHungUp = true;
};

/**
 * Handles signals until the service that these words start takes over: SIGTERM and SIGINT end the program with 0, since nothing is open
 * yet, and SIGHUP is remembered. SIGUSR1, which would open Node's inspector, does nothing from now on.
 */
export function handleEarlySignals([word = '']: readonly string[]): void {
  // In every version of Node.js, a listener takes the place of the one that opens the inspector.
  process.on('SIGUSR1', () => undefined);
  if (ONE_SHOT_COMMANDS.has(word)) return;
  process.on('SIGTERM', endEarly);
  process.on('SIGINT', endEarly);
  process.on('SIGHUP', rememberHangUp);
}

/** Leaves signals to the caller's listeners, which are in place already; true if SIGHUP arrived before. */
export function takeOverSignals(): boolean {
  process.off('SIGTERM', endEarly);
  process.off('SIGINT', endEarly);
  process.off('SIGHUP', rememberHangUp);
  return hasHungUp;
}
