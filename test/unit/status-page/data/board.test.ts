import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CHART_SERIES, type ServerReading } from '../../../../src/domain/reading.ts';
import type { RenderedBody } from '../../../../src/metrics/rendered-body.ts';
import { StatusBoard } from '../../../../src/status-page/data/board.ts';
import type { LiveUpdate } from '../../../../src/status-page/data/live-update.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { panelReading, readingOf, streamingReading, streamingSnapshot } from '../../../support/readings.ts';

const BASE = streamingSnapshot();
const WATCHER = { client: '192.0.2.1', cut: () => {}, hold: () => () => {} };

let clock: ManualClock;
let servers: readonly ServerReading[];
let cpuCores: number;
let asked: number;
let board: StatusBoard;

/** A server whose snapshots are counted. */
function live(): ServerReading {
  return {
    ...readingOf(BASE),
    snapshot: () => {
      asked += 1;
      return { ...BASE, cpu_usage_cores: cpuCores };
    },
  };
}

beforeEach(() => {
  clock = new ManualClock();
  [cpuCores, asked] = [1, 0];
  servers = [live()];
  const panels = [panelReading({ budget: { queueLength: 3 } })];
  const fleet = { panels: () => panels, servers: () => servers };
  board = new StatusBoard({
    fleet,
    clock,
    version: '1.2.3',
    rateLimited: () => 7,
  });
});

afterEach(() => board.stop());

const json = async (rendered: Promise<RenderedBody>): Promise<unknown> =>
  JSON.parse(Buffer.concat((await rendered).chunks).toString());

async function watch() {
  const reader = board.watch(WATCHER)?.getReader();
  if (reader === undefined) throw new Error('no room');
  const decoder = new TextDecoder();
  return async (): Promise<{ name: string; data: unknown } | undefined> => {
    const { value } = await reader.read();
    const [, name = '', data = ''] = /^event: (\w+)\ndata: (.*)\n\n$/.exec(decoder.decode(value)) ?? [];
    return value === undefined ? undefined : { name, data: JSON.parse(data) };
  };
}

describe('the board', () => {
  it('sends everything to a new viewer, and then the changes every second', async () => {
    const next = await watch();
    const first = await next();
    const full = first?.data as LiveUpdate;
    expect(first?.name).toBe('full');
    expect(full.version).toBe('1.2.3');
    expect(full.size).toBe(1);
    expect(full.changes).toContainEqual(['server', null, ['survival']]);
    expect(full.changes).toContainEqual(['cpu_usage_cores', null, [1]]);
    expect(full).toMatchObject({
      status: { panels: [{ name: 'main', budget: { queueLength: 3 }, rateLimited: 7 }], complaints: [] },
    });
    cpuCores = 2;
    const second = next();
    await clock.advance(1_000);
    expect(await second).toMatchObject({
      name: 'delta',
      data: { time: full.time + 1, changes: [['cpu_usage_cores', null, [2]]] },
    });
    expect(await (await watch())()).toMatchObject({
      data: { changes: expect.arrayContaining([['cpu_usage_cores', null, [2]]]) },
    });
  });

  it('renders everything once for several viewers', async () => {
    const nexts = await Promise.all([watch(), watch()]);
    await Promise.all(nexts.map((next) => next()));
    expect(asked).toBe(1);
  });

  it('sends everything again if the fleet changes', async () => {
    const next = await watch();
    await next();
    servers = [...servers, streamingReading({ target: { id: 'another', name: 'another' } })];
    const second = next();
    await clock.advance(1_000);
    expect(await second).toMatchObject({
      name: 'full',
      data: { changes: expect.arrayContaining([['server', null, ['survival', 'another']]]) },
    });
  });

  it('does nothing without viewers, and nothing more once the last one has left', async () => {
    await clock.advance(20_000);
    expect([asked, clock.pending]).toEqual([0, 0]);
    const reader = board.watch(WATCHER)?.getReader();
    await reader?.read();
    for (const looks of [2, 3]) {
      await clock.advance(1_000);
      // The walk over the servers may yield in between.
      await expect.poll(() => [asked, clock.pending]).toEqual([looks, 1]);
    }
    await reader?.cancel();
    await clock.advance(20_000);
    expect([asked, clock.pending]).toEqual([3, 0]);
  });

  it('returns the requested history by short or full id, and none for an unknown server', async () => {
    const state_changes = [{ timestamp_seconds: 1, state: 'offline' }] as const;
    const series = { cpu_usage_cores: [null, 1], memory_usage_bytes: [2, 3] };
    servers = [readingOf(BASE, { history: { end_timestamp_seconds: 5, series, state_changes } })];
    const history = {
      panel: 'main',
      server_id: '1a7ce997',
      step_seconds: 5,
      end_timestamp_seconds: 5,
      series: { cpu_usage_cores: [null, 1] },
      state_changes,
      stops: BASE.stops,
    };
    const keys = ['main/1a7ce997', 'main/nobody', 'main/1a7ce997-259b-452e-8b4e-cecc464142ca'];
    expect(await json(board.histories(keys, ['cpu_usage_cores', 'players'], 'identity'))).toEqual({
      servers: [history, history],
    });
    expect(await json(board.histories(keys.slice(0, 1), CHART_SERIES, 'identity'))).toMatchObject({
      servers: [{ series }],
    });
    servers = [];
    await clock.advance(1_001);
    expect(await json(board.histories(keys, CHART_SERIES, 'identity'))).toEqual({ servers: [] });
  });

  it.each<[string, () => Promise<RenderedBody>]>([
    ['the servers', () => board.servers('identity')],
    ['the same histories', () => board.histories(['main/1a7ce997'], CHART_SERIES, 'identity')],
  ])('renders %s once a second, however many loops request them', async (_, request) => {
    const loop = async () => {
      for (let turn = 0; turn < 20; turn += 1) await request();
    };
    await Promise.all([loop(), loop(), loop(), loop(), loop()]);
    expect(asked).toBe(1);
    await clock.advance(999);
    await Promise.all([loop(), loop(), loop(), loop(), loop()]);
    expect(asked).toBe(1);
    await clock.advance(2);
    await Promise.all([loop(), loop(), loop(), loop(), loop()]);
    expect(asked).toBe(2);
  });

  it('leaves no timers and no streams when it stops', async () => {
    const next = await watch();
    await next();
    board.stop();
    expect(await next()).toBeUndefined();
    expect(clock.pending).toBe(0);
    expect(board.watch(WATCHER)).toBeUndefined();
  });
});
