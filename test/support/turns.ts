/**
 * Measures the longest turn of the event loop until the returned function is called, in milliseconds of processor time: a turn's
 * real time grows with whatever else the machine does.
 */
export function watchTurns(): () => number {
  let longestUs = 0;
  let before = process.cpuUsage();
  const turn = () => {
    const { user, system } = process.cpuUsage(before);
    longestUs = Math.max(longestUs, user + system);
    before = process.cpuUsage();
  };
  const timer = setInterval(turn, 1);
  return () => {
    turn();
    clearInterval(timer);
    return longestUs / 1_000;
  };
}
