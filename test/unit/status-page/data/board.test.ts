import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ServerReading } from '../../../../src/domain/reading.ts';
import { CHART_SERIES } from '../../../../src/domain/recent-history.ts';
import type { RenderedBody } from '../../../../src/metrics/rendered-body.ts';
import { StatusBoard } from '../../../../src/status-page/data/board.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { panelReading, readingOf, streamingSnapshot } from '../../../support/readings.ts';

const BASE = streamingSnapshot();
const WATCHER = { client: '192.0.2.1', cut: () => {}, hold: () => () => {} };

let clock: ManualClock;
let servers: readonly ServerReading[];
let asked: number;
let board: StatusBoard;

/** A server that counts its snapshots. */
function live(): ServerReading {
  return {
    ...readingOf(BASE),
    snapshot: () => {
      asked += 1;
      return BASE;
    },
  };
}

beforeEach(() => {
  clock = new ManualClock();
  asked = 0;
  servers = [live()];
  const panels = [panelReading()];
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

describe('the board', () => {
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

  it('ends its stream when it stops', () => {
    board.stop();
    expect(board.stream.watch(WATCHER)).toBeUndefined();
  });
});
