import { describe, expect, it } from 'vitest';
import { Expectation } from '../../../src/fleet/power-history.ts';

const AT = 1_000_000;

function runningOne(): Expectation {
  const one = new Expectation();
  one.seenRunning();
  return one;
}

describe('an expectation', () => {
  it('is unknown until the server has been seen running', () => {
    const one = new Expectation();
    expect(one.read(AT)).toBeUndefined();
    one.seenStarting();
    expect(one.read(AT)).toBeUndefined();
    one.seenRunning();
    expect(one.read(AT)).toBe(true);
  });

  it.each([
    ['requested', false],
    ['crashed', true],
    ['out_of_memory', true],
    ['disk_full', true],
    ['unknown', undefined],
  ] as const)('after a stop with reason %s is %s until the server runs again', (reason, expected) => {
    const one = runningOne();
    one.stopped(reason, AT);
    expect(one.read(AT + 1)).toBe(expected);
    expect(one.read(AT + 3_600_000)).toBe(expected);
    one.seenRunning();
    expect(one.read(AT + 3_600_000)).toBe(true);
  });

  it('ends a minute after a clean exit without a restart', () => {
    const one = runningOne();
    one.stopped('exited', AT);
    expect(one.read(AT + 60_000)).toBe(true);
    expect(one.read(AT + 60_001)).toBe(false);
  });

  it('remains if the server starts again in time', () => {
    const one = runningOne();
    one.stopped('exited', AT);
    one.seenStarting();
    expect(one.read(AT + 60_001)).toBe(true);
  });
});
