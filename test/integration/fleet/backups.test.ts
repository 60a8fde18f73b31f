import { beforeEach, describe, expect, it } from 'vitest';
import type { Simulator, SimulatorOptions } from '../../../src/simulator/simulator-interface.ts';
import { eventually } from '../../support/eventually.ts';
import { observed, simulated, yamlOf } from '../../support/stage.ts';
import { TestTime } from '../../support/test-time.ts';

/** So fast that an hour passes in seconds. */
const SPEED = 1_000;

const NEWEST = '2026-11-20T04:00:30+00:00';
const NEWEST_UNIX = Date.UTC(2026, 10, 20, 4, 0, 30) / 1_000;
const FAILED = '2026-11-21T04:00:00+00:00';
const FAILED_UNIX = Date.UTC(2026, 10, 21, 4) / 1_000;

let time: TestTime;

beforeEach(() => {
  time = new TestTime(SPEED);
});

const backup = (completed_at: string | null, bytes: number, is_successful = true) => ({
  completed_at,
  bytes,
  is_successful,
});

const SERVERS: NonNullable<SimulatorOptions['servers']> = [
  {
    name: 'survival',
    backups: [
      backup('2026-11-18T04:00:00+00:00', 100),
      backup(NEWEST, 300),
      backup('2026-11-19T04:00:00+00:00', 200),
      backup(FAILED, 0, false),
      backup(null, 0),
    ],
  },
  { name: 'lobby', backups: [] },
  { name: 'private', backups: [backup(NEWEST, 7)] },
  { name: 'none allowed', backups: [backup(NEWEST, 7)], backupLimit: 0 },
];

async function start(settings: readonly string[], options: SimulatorOptions = {}) {
  const panel = await simulated({ clock: time.clock(), servers: SERVERS, ...options });
  panel.failRest({ kind: 'refuse', endpoint: 'backups', server: 'private', status: 403 });
  const yaml = yamlOf(panel, ['discover: { type: owner }', ...settings]);
  const exporter = await observed({ yaml, clock: time.clock() });
  return { panel, exporter };
}

const askedOf = (panel: Simulator, name: string) =>
  panel.record.calls.filter(
    ({ endpoint, server }) => endpoint === 'backups' && server === panel.server(name).uuid,
  ).length;

it('reports the number of backups, the time and size of the newest successful one, and the last failure', async () => {
  const { exporter } = await start(['backups: true'], { maxPerPage: 2 });
  const survival = { server: 'survival' };
  await exporter.until('gameserver_backups', survival, 3);
  await exporter.until('gameserver_backup_last_success_timestamp_seconds', survival, NEWEST_UNIX);
  await exporter.until('gameserver_backup_last_size_bytes', survival, 300);
  await exporter.until('gameserver_backup_last_failure_timestamp_seconds', survival, FAILED_UNIX);
  await exporter.until('gameserver_backups', { server: 'lobby' }, 0);
  const text = await exporter.scrape();
  expect(text).not.toMatch(/^gameserver_backup_last\w+\{.*server="lobby"/m);
});

describe('a message of the node that a backup ended', () => {
  const LOBBY = { server: 'lobby' };
  const MINUTE = 60_000;
  /** An interval that is much longer than the test, so any earlier read is due to an event. */
  const RARELY = ['backups: { interval: 24h }'];

  // So slow that the next scheduled read is hours away.
  beforeEach(() => {
    time.speed = 60;
  });

  it('shows within moments that it failed, and then that the next one succeeded', async () => {
    const { panel, exporter } = await start(RARELY);
    await exporter.until('gameserver_collection_streaming', LOBBY, 1);
    await exporter.until('gameserver_backups', LOBBY, 0);
    await exporter.until('gameserver_backups', { server: 'survival' }, 3);
    await eventually(() => expect(askedOf(panel, 'private')).toBe(1));
    const startedAt = time.now();
    const unixSeconds = () => Math.floor((time.unixOriginMs + time.now()) / 1_000);
    const endedAt = unixSeconds();
    panel.completeBackup('lobby', { is_successful: false, bytes: 0 });
    await exporter.until('gameserver_backup_last_failure_timestamp_seconds', LOBBY, endedAt);
    expect(await exporter.value('gameserver_backups', LOBBY)).toBe(0);
    expect(await exporter.value('gameserver_backup_last_success_timestamp_seconds', LOBBY)).toBeUndefined();
    panel.completeBackup('lobby', { is_successful: true, bytes: 12 });
    await exporter.until('gameserver_backups', LOBBY, 1);
    await exporter.until('gameserver_backup_last_size_bytes', LOBBY, 12);
    await exporter.until('gameserver_backup_last_failure_timestamp_seconds', LOBBY, endedAt);
    // Without the events, this would take half a day or more.
    expect(time.now() - startedAt).toBeLessThan(60 * MINUTE);
    expect(askedOf(panel, 'lobby')).toBe(3);
    expect(askedOf(panel, 'survival')).toBe(1);
    const messages = { event: 'backup completed' };
    expect(await exporter.value('gameserver_exporter_messages_total', messages)).toBe(2);
  });
});
