import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isExpectedAt, powerAfter } from '../../../src/fleet/power.ts';
import { AT, after, LATER, NOTICES, seen } from './power-events.ts';

describe('whether a server is expected to run', () => {
  const expectedAt = (events: string, ms: number) => isExpectedAt(after(events, ms), AT + ms);

  it('is unknown until it has been seen running', () => {
    expect(isExpectedAt(powerAfter([seen('0 starting')]), AT)).toBeUndefined();
    expect(expectedAt('', 0)).toBe(true);
  });

  it.each([
    ['requested', '-10 stopping, 0 offline', false],
    ['crashed', '0 offline, 1 code1, 1 notKilled', true],
    ['out_of_memory', '0 offline, 1 killed', true],
    ['disk_full', '-1 disk, 0 offline', true],
    ['unknown', '0 offline', undefined],
  ])('follows from the last stop until it runs again: %s', (_reason, events, expected) => {
    expect([expectedAt(events, 10_001), expectedAt(events, LATER)]).toEqual([expected, expected]);
    expect(expectedAt(`${events}, 20000 running`, LATER)).toBe(true);
  });

  it('ends a minute after a clean exit without a restart', () => {
    const exit = '0 offline, 1 code0';
    expect([expectedAt(exit, 60_000), expectedAt(exit, 60_001)]).toEqual([true, false]);
    expect(expectedAt(`${exit}, 30000 starting`, 60_001)).toBe(true);
  });
});

it('no stop is counted twice or forgotten, whatever a game prints', () => {
  const what = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...Object.keys(NOTICES)) },
    { weight: 4, arbitrary: fc.constantFrom('offline', 'running', 'starting', 'stopping', 'gap') },
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat({ max: 15_000 }), what), { maxLength: 60 }), (steps) => {
      let at = 0;
      const events = steps.map(([ms, event]) => `${(at += ms)} ${event}`);
      const power = after(events.join(', '), at + LATER);
      const ends = new Set(events.filter((event) => /offline|starting/.test(event)));
      expect(Object.values(power.stops).reduce((sum, count) => sum + count, 0)).toBe(power.decided.length);
      expect(power.decided.length).toBeGreaterThanOrEqual(power.starts);
      expect(power.decided.length).toBeLessThanOrEqual(events.length);
      for (const stop of power.decided) {
        const ms = stop.at - AT;
        expect([...ends].some((event) => event.startsWith(`${ms} `))).toBe(true);
      }
      expect(power.pending).toEqual([]);
    }),
  );
});
