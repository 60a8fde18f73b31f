import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { STRIP_STATES } from '../../../src/domain/strip.ts';
import { nextPlace } from '../../../src/fleet/history-rings.ts';
import { ServerStrip } from '../../../src/fleet/server-strip.ts';

const SECOND = 1_000;

function newStrip(): ServerStrip {
  const { rings, place } = nextPlace();
  return new ServerStrip(rings.strip, place);
}

/** The state in the strip for each state of the server. */
const SHOWN = {
  running: 'running',
  starting: 'changing',
  stopping: 'changing',
  offline: 'off',
  down: 'down',
} as const;

/** The strip at this second: its last points, and the seconds in each state except `unknown`. */
function read(strip: ServerStrip, second: number) {
  const { worst = [], seconds = [] } = strip.read(second * SECOND) ?? {};
  const times = STRIP_STATES.map((state, place) => [state, seconds[place] ?? 0] as const);
  return {
    last: worst.slice(-4).map((place) => STRIP_STATES[place]),
    times: Object.fromEntries(times.filter(([, time]) => time > 0)),
  };
}

describe('the time in each state', () => {
  it('is the time up to the next one, as long as it was known', () => {
    const step = fc.record({
      shown: fc.constantFrom(...(Object.keys(SHOWN) as (keyof typeof SHOWN)[])),
      lasts: fc.integer({ min: 1, max: 300 }),
      knownFor: fc.integer({ min: 0, max: 300 }),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 20 }), (steps) => {
        const strip = newStrip();
        const expected = new Map<string, number>();
        let second = 10_000;
        for (const { shown, lasts, knownFor } of steps) {
          strip.seen(shown, second * SECOND);
          strip.knownUntil = (second + knownFor) * SECOND;
          const state = SHOWN[shown];
          expected.set(state, (expected.get(state) ?? 0) + Math.min(lasts, knownFor));
          second += lasts;
        }
        expect(read(strip, second).times).toEqual(
          Object.fromEntries([...expected].filter(([, seconds]) => seconds > 0)),
        );
      }),
    );
  });

  it('is that before a restart, and of what follows', () => {
    const before = newStrip();
    before.seen('running', 1_200 * SECOND);
    before.knownUntil = 1_440 * SECOND;
    const at = 1_440 * SECOND;
    const kept = before.keep(at, at);
    const after = newStrip();
    after.seen('offline', at);
    after.knownUntil = at + 120 * SECOND;
    if (kept !== undefined) after.restore(kept, at, at);
    expect(read(after, 1_500)).toEqual({
      last: ['unknown', 'running', 'running', 'off'],
      times: { running: 240, off: 60 },
    });
  });
});

it('a strip without a step is empty, and there is nothing to keep', () => {
  expect([newStrip().read(SECOND), newStrip().keep(SECOND, SECOND)]).toEqual([undefined, undefined]);
});

it('a crash is shown in its step, also if the server ran again in the same second', () => {
  const strip = newStrip();
  strip.seen('running', 1_200 * SECOND);
  strip.knownUntil = 1_300 * SECOND;
  strip.crashed(1_210 * SECOND);
  expect(read(strip, 1_260)).toEqual({
    last: ['unknown', 'unknown', 'unknown', 'down'],
    times: { running: 60 },
  });
});

it('time at the CPU limit counts in whole seconds, of the last ten minutes', () => {
  const strip = newStrip();
  strip.seen('running', 1_200 * SECOND);
  strip.knownUntil = 3_600 * SECOND;
  strip.saturated(1_200 * SECOND, 60_900);
  expect(strip.saturatedShare(1_260 * SECOND)).toBeCloseTo(0.1, 2);
  expect(strip.saturatedShare(2_400 * SECOND)).toBe(0);
});
