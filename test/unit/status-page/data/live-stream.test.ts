import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ServerReading } from '../../../../src/domain/reading.ts';
import { LiveStream } from '../../../../src/status-page/data/live-stream.ts';
import type { LiveUpdate } from '../../../../src/status-page/data/live-update.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { panelReading, readingOf, streamingReading, streamingSnapshot } from '../../../support/readings.ts';

const BASE = streamingSnapshot();
const WATCHER = { client: '192.0.2.1', cut: () => {}, hold: () => () => {} };

let clock: ManualClock;
let servers: readonly ServerReading[];
let cpuCores: number;
let asked: number;
let stream: LiveStream;

/** A server that counts its snapshots. */
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
  stream = new LiveStream({
    fleet,
    clock,
    version: '1.2.3',
    rateLimited: () => 7,
  });
});

afterEach(() => stream.stop());

async function watch() {
  const reader = stream.watch(WATCHER)?.getReader();
  if (reader === undefined) throw new Error('no room');
  const decoder = new TextDecoder();
  return async (): Promise<{ name: string; data: unknown } | undefined> => {
    const { value } = await reader.read();
    const [, name = '', data = ''] = /^event: (\w+)\ndata: (.*)\n\n$/.exec(decoder.decode(value)) ?? [];
    return value === undefined ? undefined : { name, data: JSON.parse(data) };
  };
}

describe('the stream', () => {
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
    const reader = stream.watch(WATCHER)?.getReader();
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

  it('leaves no timers and no viewers when it stops', async () => {
    const next = await watch();
    await next();
    stream.stop();
    expect(await next()).toBeUndefined();
    expect(clock.pending).toBe(0);
    expect(stream.watch(WATCHER)).toBeUndefined();
  });
});
