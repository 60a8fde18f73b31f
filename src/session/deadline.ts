// The deadlines of a session's calls.

/**
 * The lifetime of a token. A connect that has waited for this long precedes the renewal of a token
 * that expires now.
 */
const CONNECT_PERIOD_MS = 10 * 60_000;

/**
 * The deadline of a call that is due at `at`. A server's first attempt precedes everything else.
 */
export function callDeadline(at: number, isFirst: boolean, periodMs = CONNECT_PERIOD_MS): number {
  return isFirst ? at - CONNECT_PERIOD_MS : at + periodMs;
}
