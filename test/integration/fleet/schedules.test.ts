import { beforeEach, describe, expect, it } from 'vitest';
import type { Simulator } from '../../../src/simulator/simulator-interface.ts';
import { eventually } from '../../support/eventually.ts';
import type { ExporterUnderTest } from '../../support/exporter.ts';
import { observed, simulated, yamlOf } from '../../support/stage.ts';
import { TestTime } from '../../support/test-time.ts';

/** So fast that an hour passes in seconds. */
const SPEED = 1_000;

const MINUTE = 60_000;
const EVERY_5_MINUTES = { everyMs: 5 * MINUTE };
const SERVERS = [
  {
    name: 'survival',
    schedules: [
      { name: 'Save', ...EVERY_5_MINUTES },
      { name: 'Off', ...EVERY_5_MINUTES, active: false },
      { name: 'Empty', ...EVERY_5_MINUTES, tasks: 0 },
    ],
  },
  { name: 'lobby', profile: 'suspended' as const, schedules: [{ name: 'Save', ...EVERY_5_MINUTES }] },
  { name: 'hidden', schedules: [{ name: 'Save', ...EVERY_5_MINUTES }] },
  { name: 'private', schedules: [{ name: 'Save', ...EVERY_5_MINUTES }] },
];

let panel: Simulator;
let exporter: ExporterUnderTest;
let time: TestTime;

beforeEach(async () => {
  time = new TestTime(SPEED);
  panel = await simulated({ clock: time.clock(), servers: SERVERS });
  for (const server of ['private', 'hidden'])
    panel.failRest({ kind: 'refuse', endpoint: 'schedules', server, status: 403 });
});

async function start(setting: string): Promise<void> {
  exporter = await observed({ yaml: yamlOf(panel, ['discover: true', setting]), clock: time.clock() });
}

const value = (name: string, labels: Readonly<Record<string, string>>) =>
  exporter.value(`gameserver_${name}`, labels);
const SAVE = { server: 'survival', schedule: 'Save', schedule_id: '1' };

/** By how many seconds the schedule was overdue at its last read. */
async function overdue(): Promise<number> {
  const readAt = await value('schedules_last_read_timestamp_seconds', { server: 'survival' });
  const nextAt = await value('schedule_next_run_timestamp_seconds', SAVE);
  return (readAt ?? Number.NaN) - (nextAt ?? Number.NaN);
}

/** Waits until the exporter has requested the schedules of this server. */
async function untilAsked(name: string): Promise<void> {
  const { uuid } = panel.server(name);
  const isAsked = () =>
    panel.record.calls.some(({ endpoint, server }) => endpoint === 'schedules' && server === uuid);
  await eventually(() => expect(isAsked()).toBe(true));
}

describe("servers' schedules", () => {
  it('show when they ran and run next; inactive and empty ones have no next run', async () => {
    await start("schedules: { interval: '10m' }");
    await eventually(async () =>
      expect(await value('schedule_last_run_timestamp_seconds', SAVE)).toBeGreaterThan(0),
    );
    expect(await overdue()).toBeLessThan(1);
    for (const [schedule, schedule_id] of [
      ['Off', '2'],
      ['Empty', '3'],
    ] as const) {
      const labels = { server: 'survival', schedule, schedule_id };
      expect(await value('schedule_processing', labels)).toBe(0);
      expect(await value('schedule_next_run_timestamp_seconds', labels)).toBeUndefined();
    }
  });

  it('are not read of a suspended server, and a missing permission loses only them', async () => {
    await start('schedules: true');
    await eventually(async () => expect(await value('schedule_processing', SAVE)).toBe(0));
    for (const name of ['private', 'hidden']) await untilAsked(name);
    const lobby = panel.server('lobby').uuid;
    expect(
      panel.record.calls.some(({ endpoint, server }) => endpoint === 'schedules' && server === lobby),
    ).toBe(false);
    expect(await value('schedule_processing', { server: 'private' })).toBeUndefined();
    expect(await value('collection_streaming', { server: 'private' })).toBe(1);
    expect(await exporter.value('gameserver_panel_problem')).toBeUndefined();
    expect(exporter.lines.filter(({ level }) => level === 'warn')).toEqual([
      expect.objectContaining({
        message: expect.stringContaining('the account needs the permission schedule.read'),
      }),
    ]);
  });
});
