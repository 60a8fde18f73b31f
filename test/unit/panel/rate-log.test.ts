import { describe, expect, it } from 'vitest';
import type { Problem } from '../../../src/domain/problems.ts';
import { RateLog } from '../../../src/panel/rate-log.ts';
import { type Pause, RateLimit } from '../../../src/panel/scheduler/rate-limit.ts';
import { collectingLogger } from '../../support/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';

function logged(write: (log: RateLog) => void): readonly string[] {
  const logger = collectingLogger();
  write(new RateLog(logger, 'main'));
  return logger.lines.map(({ level, message }) => `${level}: ${message}`);
}

describe('the log line of a limit', () => {
  const limit = (reported: number, pinnedPerMinute?: number) => {
    const one = new RateLimit(new ManualClock(), { pinnedPerMinute });
    one.learn('listing', { limitPerMinute: reported });
    return one;
  };

  it.each([
    [
      'that was unknown is for debugging',
      false,
      undefined,
      ['debug: panel main: rate limit 240/min; using at most 192/min'],
    ],
    [
      'that was another one is information',
      true,
      undefined,
      ['info: panel main: rate limit 240/min; using at most 192/min'],
    ],
    ['isn’t there if the operator sets the rate', true, 30, []],
  ])('%s', (_what, wasKnown, pinned, expected) => {
    expect(logged((log) => log.learned(limit(240, pinned), wasKnown))).toEqual(expected);
  });
});

const SHARED: Problem = { cause: 'account_shared', detail: 'others make 100 calls per minute' };

describe('the log line about other clients of the account', () => {
  it('is a warning with their problem, and information once there are none', () => {
    const [shared, alone] = logged((log) => {
      log.shared(SHARED);
      log.shared(undefined);
    });
    expect(shared).toMatch(/^warn: panel main: .*others make 100 calls per minute/);
    expect(alone).toBe('info: panel main: only this exporter uses its account again');
  });
});

describe('the log line of a pause', () => {
  it.each<[string, Partial<Pause>, RegExp]>([
    [
      'of the account names what to do',
      { scope: 'account' },
      /^warn: .*: no calls for 7 s\. Other clients may share the limit: give the exporter its own account/,
    ],
    [
      'of a path names it',
      { scope: 'backups' },
      /^warn: .*: no calls for backups for 7 s\. Only these are limited/,
    ],
    ['that the panel repeats is for debugging', { scope: 'account', isRepeated: true }, /^debug: /],
    [
      "of one server's tokens is for debugging",
      { scope: 'tokens of a' },
      /^debug: .*: no calls for tokens of a for 7 s/,
    ],
  ])('%s', (_what, pause, expected) => {
    const whole = { scope: 'account', lengthMs: 6_200, isRepeated: false, ...pause } as Pause;
    expect(logged((log) => log.paused(whole))).toEqual([expect.stringMatching(expected)]);
  });
});
