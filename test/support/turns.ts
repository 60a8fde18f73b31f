// The length of the event loop's turns.
import { cpuMs } from './cpu-time.ts';
import { repeatedly } from './eventually.ts';

/**
 * Measures the longest turn of the event loop until the returned function is called. In
 * milliseconds of processor time, because real time also depends on other programs.
 */
export function watchTurns(): () => number {
  let longestMs = 0;
  let before = cpuMs();
  const turn = () => {
    longestMs = Math.max(longestMs, cpuMs() - before);
    before = cpuMs();
  };
  const end = repeatedly(turn, 1);
  return () => {
    turn();
    end();
    return longestMs;
  };
}
