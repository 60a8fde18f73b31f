import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Peaks } from '../../../src/domain/reading.ts';
import { PEAK_WINDOW_MS, PeakWindow } from '../../../src/fleet/server-samples.ts';

const AT = 1_000_000;

const emptyWindow = () => new PeakWindow();

/** The values of one second; values that are not given are absent. */
function add(window: PeakWindow, values: Peaks, at: number): void {
  window.add(at, values.cpuCores ?? Number.NaN, values.memoryBytes ?? Number.NaN);
}

describe('PeakWindow', () => {
  it('is empty at first', () => {
    expect(emptyWindow().read(AT)).toBeUndefined();
  });

  it('keeps the highest value of each field, and omits fields without values', () => {
    const window = emptyWindow();
    add(window, { cpuCores: 1, memoryBytes: 100 }, AT);
    add(window, { cpuCores: 3, memoryBytes: 50 }, AT + 1_000);
    add(window, { cpuCores: 2 }, AT + 2_000);
    expect(window.read(AT + 3_000)).toEqual({ cpuCores: 3, memoryBytes: 100 });
  });

  it('keeps a peak for a minute and drops it soon afterwards', () => {
    const window = emptyWindow();
    add(window, { cpuCores: 9 }, AT);
    add(window, { cpuCores: 1 }, AT + 30_000);
    expect(window.read(AT + PEAK_WINDOW_MS)).toEqual({ cpuCores: 9 });
    expect(window.read(AT + PEAK_WINDOW_MS + 5_000)).toEqual({ cpuCores: 1 });
    expect(window.read(AT + 10 * PEAK_WINDOW_MS)).toBeUndefined();
  });

  it('drops everything after a long gap, however the gap is detected', () => {
    for (const gap of [65_000, 65_000 * 7, 86_400_000]) {
      const window = emptyWindow();
      add(window, { cpuCores: 9 }, AT);
      add(window, { cpuCores: 1 }, AT + gap);
      expect(window.read(AT + gap)).toEqual({ cpuCores: 1 });
    }
  });

  it('works from the first milliseconds of a clock, and before its origin', () => {
    for (const start of [0, -1_000_000]) {
      const window = emptyWindow();
      add(window, { memoryBytes: 5 }, start);
      expect(window.read(start + 1)).toEqual({ memoryBytes: 5 });
      expect(window.read(start + 70_000)).toBeUndefined();
    }
  });

  it('is never below the maximum of the last 60 s, or above that of the last 65 s', () => {
    const steps = fc.array(
      fc.record({ afterMs: fc.nat({ max: 20_000 }), value: fc.nat({ max: 1_000 }), isAdded: fc.boolean() }),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(steps, (list) => {
        const window = emptyWindow();
        const added: { at: number; value: number }[] = [];
        let now = AT;
        for (const { afterMs, value, isAdded } of list) {
          now += afterMs;
          if (isAdded) {
            add(window, { cpuCores: value }, now);
            added.push({ at: now, value });
          }
          const within = (ms: number) => added.filter(({ at }) => now - at <= ms).map((entry) => entry.value);
          const peak = window.read(now)?.cpuCores ?? Number.NEGATIVE_INFINITY;
          expect(peak).toBeGreaterThanOrEqual(Math.max(...within(60_000)));
          expect(peak).toBeLessThanOrEqual(Math.max(...within(65_000)));
        }
      }),
    );
  });
});
