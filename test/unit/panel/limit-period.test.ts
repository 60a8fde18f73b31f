import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LimitPeriod } from '../../../src/panel/limit-period.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

interface Panel {
  /** The exporter's calls per minute, one after another. */
  readonly own: number;
  /** The length of the panel's windows in minutes, by the minute of the test. */
  readonly minutesAt: (minute: number) => number;
  /** Calls of other programs per minute. */
  readonly others?: number;
}

/** The known period after each call of the exporter. */
function play(
  { own, minutesAt, others = 0 }: Panel,
  minutes: number,
): readonly (readonly [number, number])[] {
  const period = new LimitPeriod();
  const known: (readonly [number, number])[] = [];
  const calls = [
    ...Array.from({ length: own * minutes }, (_, call) => [(call * MINUTE) / own, true] as const),
    ...Array.from(
      { length: others * minutes },
      (_, call) => [((call + 0.3) * MINUTE) / others, false] as const,
    ),
  ].toSorted(([one], [other]) => one - other);
  let endsAt = Number.NEGATIVE_INFINITY;
  let used = 0;
  let made = 0;
  let before: Parameters<LimitPeriod['saw']>[0] | undefined;
  for (const [at, isOwn] of calls) {
    if (at >= endsAt) [endsAt, used] = [at + minutesAt(at / MINUTE) * MINUTE, 0];
    used += 1;
    if (!isOwn) continue;
    made += 1;
    // Responses take up to 4 s.
    const reading = { at: at + ((made * 997) % 4_000), used, atLeast: made, atMost: made };
    if (before !== undefined) period.saw(before, reading);
    before = reading;
    known.push([at, period.minutes]);
  }
  return known;
}

describe('the minutes that a limit is for', () => {
  it.each([
    [1, 60],
    [2, 60],
    [5, 60],
    [15, 60],
    [5, 12],
  ])('are found within a window of %i minutes, with %i own calls a minute', (minutes, own) => {
    const known = play({ own, minutesAt: () => minutes }, 3 * minutes);
    expect(known.at(-1)?.[1]).toBe(minutes);
    const firstWindow = known.filter(([at]) => at < minutes * MINUTE);
    expect(firstWindow.at(-1)?.[1]).toBe(minutes);
  });

  it('are one until a count has grown for longer', () => {
    const known = play({ own: 60, minutesAt: () => 5 }, 5);
    expect(known.filter(([at]) => at < 65 * SECOND).every(([, minutes]) => minutes === 1)).toBe(true);
  });

  it('are fewer again after a panel was set to fewer', () => {
    const known = play({ own: 60, minutesAt: (minute) => (minute < 20 ? 5 : 1) }, 30);
    expect(known.find(([at]) => at >= 19 * MINUTE)?.[1]).toBe(5);
    expect(known.at(-1)?.[1]).toBe(1);
  });

  it.each([
    ['the count began anew', 1],
    ['others made calls', 80],
  ])('aren’t those of a pause in which %s', (_what, used) => {
    const period = new LimitPeriod();
    const reading = (at: number, used: number, made: number) => ({ at, used, atLeast: made, atMost: made });
    period.saw(reading(0, 20, 20), reading(10 * MINUTE, used, 21));
    expect(period.minutes).toBe(1);
  });

  it('are never more than they are, however many calls there are, also of others', () => {
    const panels = fc.record({
      own: fc.integer({ min: 1, max: 200 }),
      others: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 100 })),
      minutes: fc.integer({ min: 1, max: 6 }),
    });
    fc.assert(
      fc.property(panels, ({ minutes, ...rest }) => {
        const known = play({ ...rest, minutesAt: () => minutes }, 4 * minutes);
        expect(Math.max(...known.map(([, found]) => found))).toBeLessThanOrEqual(minutes);
      }),
      { examples: [[{ own: 3, others: 100, minutes: 1 }], [{ own: 200, others: 0, minutes: 2 }]] },
    );
  });
});
