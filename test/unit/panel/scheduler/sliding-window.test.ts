import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SlidingWindow, WINDOW_MS } from '../../../../src/panel/scheduler/sliding-window.ts';

const AT_ONCE = Number.NEGATIVE_INFINITY;

/** The time until each reading of the window, and whether something is added at that time. */
const anySteps = fc.array(fc.tuple(fc.nat(3_000), fc.boolean()), { maxLength: 300, size: 'max' });

describe('a window', () => {
  it('counts what was added within the last minute, like a filter over everything', () => {
    fc.assert(
      fc.property(anySteps, fc.integer({ min: 1, max: 40 }), (steps, most) => {
        const window = new SlidingWindow();
        const all: number[] = [];
        let now = 1_000_000;
        for (const [waitMs, isAdded] of steps) {
          now += waitMs;
          if (isAdded) {
            window.add(now);
            all.push(now);
          }
          const recent = all.filter((at) => at > now - WINDOW_MS);
          expect(window.count(now)).toBe(recent.length);
          const frees = recent.length < most ? AT_ONCE : (recent.at(-most) ?? 0) + WINDOW_MS;
          expect(window.roomAt(most, now)).toBe(frees);
        }
      }),
    );
  });

  it('has room again when it says so, and not a millisecond before', () => {
    const window = new SlidingWindow();
    for (const at of [0, 10, 20]) window.add(at);
    expect(window.roomAt(2, 30)).toBe(WINDOW_MS + 10);
    expect(window.roomAt(2, WINDOW_MS + 9)).toBe(WINDOW_MS + 10);
    expect(window.roomAt(2, WINDOW_MS + 10)).toBe(AT_ONCE);
  });

  it('always lets one entry in, however little is allowed', () => {
    const window = new SlidingWindow();
    expect(window.roomAt(0.1, 0)).toBe(AT_ONCE);
    window.add(0);
    expect(window.roomAt(0.1, 0)).toBe(WINDOW_MS);
    expect(window.roomAt(1.9, 0)).toBe(WINDOW_MS);
  });

  it('is empty once it is cleared', () => {
    const window = new SlidingWindow();
    for (let at = 0; at < 100; at += 1) window.add(at);
    expect(window.count(200)).toBe(100);
    window.clear();
    expect([window.count(200), window.roomAt(1, 200)]).toEqual([0, AT_ONCE]);
  });
});
