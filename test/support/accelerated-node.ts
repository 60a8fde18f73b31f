// Flags of Node.js that change the clocks and timers of a program under test.

/**
 * Flags that make the clocks and timers of a program faster. A test then covers minutes of its life
 * without changing any deadline. `originUnixMs` is the start of the acceleration: a `FastClock`
 * created at that moment shows the same time.
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

/**
 * Flags that give a program twenty times as long to stop as its usual 4.5 to 4.9 s, because a busy
 * machine may need longer.
 */
export const PATIENT_STOP = importing(`
  const later = globalThis.setTimeout;
  globalThis.setTimeout = (run, delayMs, ...args) =>
    later(run, delayMs >= 4_500 && delayMs < 5_000 ? 20 * delayMs : delayMs, ...args);`);

function importing(script: string): readonly string[] {
  return ['--import', `data:text/javascript,${encodeURIComponent(script)}`];
}
