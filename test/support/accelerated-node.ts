/**
 * Flags that make Node run a program's clocks and timers faster, so that minutes of its life fit into a test without changing
 * any deadline. `originUnixMs` is the start of the acceleration: a `FastClock` created then shows the same time.
 */
export function acceleratedNode(speed: number, originUnixMs = Date.now()): readonly string[] {
  const script = `
    const { now } = performance;
    const wall = Date.now;
    const later = globalThis.setTimeout;
    performance.now = () => now.call(performance) * ${speed};
    Date.now = () => Math.round(${originUnixMs} + (wall() - ${originUnixMs}) * ${speed});
    globalThis.setTimeout = (run, delayMs = 0, ...args) => later(run, delayMs / ${speed}, ...args);`;
  return importing(script);
}

/** Flags with which a program, which gives up a stop after 4.5 to 4.9 s, gives it up twenty times as late: a busy machine needs longer. */
export const PATIENT_STOP = importing(`
  const later = globalThis.setTimeout;
  globalThis.setTimeout = (run, delayMs, ...args) =>
    later(run, delayMs >= 4_500 && delayMs < 5_000 ? 20 * delayMs : delayMs, ...args);`);

function importing(script: string): readonly string[] {
  return ['--import', `data:text/javascript,${encodeURIComponent(script)}`];
}
