// Handles signals from the start of the program until a service takes over.

/**
 * Commands that do one thing and end. A signal ends them with that signal's exit code, unless they
 * handle it themselves.
 */
const ONE_SHOT_COMMANDS = new Set(['init', 'check', 'doctor', 'console', 'hash-password']);

/** Whether SIGHUP arrived before a service could reload. */
let hasHungUp = false;

const endEarly = () => process.exit(0);
const rememberHangUp = () => {
  hasHungUp = true;
};

/**
 * Handles signals until the service takes over. SIGTERM and SIGINT end the program with exit code
 * 0, because nothing is open yet. SIGHUP is remembered. SIGUSR1, which would open Node's inspector,
 * is ignored from now on.
 */
export function handleEarlySignals([word = '']: readonly string[]): void {
  // In every version of Node.js, a listener disables the default action, which opens the inspector.
  process.on('SIGUSR1', () => undefined);
  if (ONE_SHOT_COMMANDS.has(word)) return;
  process.on('SIGTERM', endEarly);
  process.on('SIGINT', endEarly);
  process.on('SIGHUP', rememberHangUp);
}

/**
 * Removes the early handlers; the caller's listeners must already be in place. Returns whether
 * SIGHUP has arrived.
 */
export function takeOverSignals(): boolean {
  process.off('SIGTERM', endEarly);
  process.off('SIGINT', endEarly);
  process.off('SIGHUP', rememberHangUp);
  return hasHungUp;
}
