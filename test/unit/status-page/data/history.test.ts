import { describe, expect, it } from 'vitest';
import { HistoryStore, Traffic } from '../../../../src/status-page/data/history.ts';
import { POINTS } from '../../../../src/status-page/data/protocol.ts';

describe('a history', () => {
  it('returns its points with the oldest first, and null for unknown values', () => {
    const store = new HistoryStore();
    const slot = store.allocate();
    for (const step of [100, 101, 103]) store.write(slot, step, step, 0, 0, 0);
    const points = store.read(slot, 'cpuCores', 103);
    expect(points).toHaveLength(POINTS);
    expect(points.slice(-5)).toEqual([null, 100, 101, null, 103]);
  });

  it('has a mean of the newest points if more than half of them are known', () => {
    const store = new HistoryStore();
    const slot = store.allocate();
    store.write(slot, 58, 8, 0, 0, 0);
    store.write(slot, 59, 1, 0, 0, 0);
    expect(store.mean(slot, 'cpuCores', 61, 4)).toBeNaN();
    store.write(slot, 60, 3, 0, 0, 0);
    store.write(slot, 61, 4, 0, 0, 0);
    expect(store.mean(slot, 'cpuCores', 61, 4)).toBe(4);
    expect(store.mean(slot, 'cpuCores', 61, 2)).toBe(3.5);
    expect(store.mean(slot, 'cpuCores', 62, 4)).toBeCloseTo(8 / 3);
  });

  it('keeps the four series of adjacent servers apart', () => {
    const store = new HistoryStore();
    const [a, b] = [store.allocate(), store.allocate()];
    store.write(a, 59, 1, 2, 3, 4);
    store.write(b, 60, 5, 6, 7, 8);
    const newest = (slot: number, step: number) =>
      (['cpuCores', 'memoryBytes', 'receiveRate', 'transmitRate'] as const).map((series) =>
        store.read(slot, series, step).at(-1),
      );
    expect(newest(a, 59)).toEqual([1, 2, 3, 4]);
    expect(newest(b, 60)).toEqual([5, 6, 7, 8]);
  });

  it('takes under 1 KB per server, and reuses a released slot after clearing it', () => {
    const store = new HistoryStore();
    const slots = Array.from({ length: 1_024 }, () => store.allocate());
    expect(store.bytes / slots.length).toBe(960);
    store.write(700, 1, 1, 1, 1, 1);
    store.release(700);
    expect(store.allocate()).toBe(700);
    expect(store.read(700, 'cpuCores', 1).at(-1)).toBeNull();
    expect(store.bytes).toBe(1_024 * 960);
  });
});

const bytes = (networkReceiveBytes: number, networkTransmitBytes = 0) => ({
  networkReceiveBytes,
  networkTransmitBytes,
});

describe('network rates', () => {
  it('cover the time from the last but one mark until now', () => {
    const traffic = new Traffic();
    traffic.mark(bytes(1_000, 100), 0);
    traffic.mark(bytes(6_000, 200), 5_000);
    expect(traffic.receiveRate(bytes(8_000), 7_000)).toBe(1_000);
    expect(traffic.transmitRate(bytes(8_000, 800), 7_000)).toBe(100);
  });

  it('stay the same without a newer sample', () => {
    const traffic = new Traffic();
    traffic.mark(bytes(0), 0);
    traffic.mark(bytes(30_000), 30_000);
    traffic.mark(bytes(30_000), 30_000);
    expect(traffic.receiveRate(bytes(30_000), 30_000)).toBe(1_000);
  });

  it('are unknown with a single sample, without counters, or after a clear', () => {
    const traffic = new Traffic();
    traffic.mark(bytes(1_000), 0);
    expect(traffic.receiveRate(bytes(1_000), 0)).toBeNaN();
    expect(traffic.receiveRate({}, 1_000)).toBeNaN();
    traffic.mark(bytes(2_000), 1_000);
    traffic.clear();
    expect(traffic.receiveRate(bytes(3_000), 2_000)).toBeNaN();
  });

  it('never span two runs, which decreasing counters reveal', () => {
    const traffic = new Traffic();
    traffic.mark(bytes(1_000_000), 0);
    traffic.mark(bytes(2_000_000), 5_000);
    expect(traffic.receiveRate(bytes(10), 6_000)).toBeNaN();
    traffic.mark(bytes(500), 10_000);
    expect(traffic.receiveRate(bytes(1_500), 11_000)).toBe(1_000);
  });
});
