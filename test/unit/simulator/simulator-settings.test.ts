import { describe, expect, it } from 'vitest';
import {
  changedSettings,
  DEFAULT_SETTINGS,
  expiringThresholdMs,
  initialSettings,
  tokenCheckMs,
} from '../../../src/simulator/simulator-settings.ts';

describe('the settings of a simulated panel', () => {
  it('are the defaults of its kind, with what is given', () => {
    expect(initialSettings({})).toEqual(DEFAULT_SETTINGS);
    expect(initialSettings({ panel: 'calagopus', rateLimitPerMinute: 7 })).toMatchObject({
      daemon: 'calagopus',
      rateLimitPerMinute: 7,
      websocketLimitPerMinute: 0,
    });
    expect(initialSettings({ panel: 'pelican' })).toEqual({ ...DEFAULT_SETTINGS, panel: 'pelican' });
  });

  it('are not changed by what is undefined, or no setting', () => {
    const given = { startMs: undefined, port: 80 } as object;
    expect(initialSettings(given)).toEqual(DEFAULT_SETTINGS);
    expect(changedSettings(DEFAULT_SETTINGS, { startMs: undefined, stopMs: 7 })).toEqual({
      ...DEFAULT_SETTINGS,
      stopMs: 7,
    });
  });

  it('are rejected if one is out of range', () => {
    expect(() => initialSettings({ startMs: -1 })).toThrow('startMs');
    expect(() => changedSettings(DEFAULT_SETTINGS, { panel: 'other' as never })).toThrow('panel');
  });
});

it.each([
  [600, 60_000, 30_000],
  [100, 10_000, 5_000],
  [0.1, 10, 20],
])(
  'tokens of %d s expire soon when %d ms are left, which is checked every %d ms',
  (seconds, soonMs, everyMs) => {
    expect(expiringThresholdMs(seconds * 1_000)).toBe(soonMs);
    expect(tokenCheckMs({ tokenLifetimeSeconds: seconds })).toBe(everyMs);
  },
);
