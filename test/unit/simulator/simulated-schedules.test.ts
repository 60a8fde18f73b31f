import { describe, expect, it } from 'vitest';
import {
  newSchedule,
  runSchedule,
  scheduleDocument,
  setStuck,
} from '../../../src/simulator/simulated-schedules.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const HOUR = 3_600_000;
const clock = new ManualClock(0);
const scheduled = () => newSchedule({ name: 'Restart', everyMs: HOUR }, 0, 0);
const attributesOf = (schedule: ReturnType<typeof scheduled>) =>
  (scheduleDocument(schedule, clock) as { attributes: Record<string, unknown> }).attributes;

describe('a schedule', () => {
  it('runs on time, and its next run moves on', () => {
    const schedule = scheduled();
    runSchedule(schedule, 2.5 * HOUR);
    expect(schedule).toMatchObject({ lastRunAt: 2 * HOUR, nextRunAt: 3 * HOUR });
    expect(attributesOf(schedule)['is_processing']).toBe(false);
  });

  it('that is stuck is processing, and never runs again until it ends', () => {
    const schedule = scheduled();
    runSchedule(schedule, HOUR);
    setStuck(schedule, true, 1.5 * HOUR);
    runSchedule(schedule, 9 * HOUR);
    expect(schedule).toMatchObject({ lastRunAt: HOUR, nextRunAt: 2.5 * HOUR });
    expect(attributesOf(schedule)['is_processing']).toBe(true);
    setStuck(schedule, false, 9 * HOUR);
    expect(schedule.lastRunAt).toBe(9 * HOUR);
    runSchedule(schedule, 9 * HOUR);
    expect(schedule.nextRunAt).toBe(9.5 * HOUR);
  });
});
