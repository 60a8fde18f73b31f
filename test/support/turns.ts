import { cpuMs } from './cpu-time.ts';
import { repeatedly } from './eventually.ts';

/**
 * Measures the longest turn of the event loop until the returned function is called, in milliseconds of processor time: a turn's
 * real time grows with whatever else the machine does.
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
