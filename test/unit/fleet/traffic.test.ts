import { describe, expect, it } from 'vitest';
import { Traffic } from '../../../src/fleet/server-history.ts';

describe('network rates', () => {
  it('cover the time from the second to last mark until now', () => {
    const traffic = new Traffic();
    traffic.mark(1_000, 100, 0);
    traffic.mark(6_000, 200, 5_000);
    expect(traffic.receiveRate(8_000, 7_000)).toBe(1_000);
    expect(traffic.transmitRate(800, 7_000)).toBe(100);
  });

  it('stay the same without a newer sample', () => {
    const traffic = new Traffic();
    traffic.mark(0, 0, 0);
    traffic.mark(30_000, 0, 30_000);
    expect(traffic.receiveRate(30_000, 30_000)).toBe(1_000);
  });

  it('are unknown with a single sample, without counters, or after a clear', () => {
    const traffic = new Traffic();
    traffic.mark(1_000, 0, 0);
    expect(traffic.receiveRate(1_000, 0)).toBeNaN();
    expect(traffic.receiveRate(Number.NaN, 1_000)).toBeNaN();
    traffic.mark(2_000, 0, 1_000);
    traffic.clear();
    expect(traffic.receiveRate(3_000, 2_000)).toBeNaN();
  });

  it('never span two runs, which decreasing counters reveal', () => {
    const traffic = new Traffic();
    traffic.mark(1_000_000, 0, 0);
    traffic.mark(2_000_000, 0, 5_000);
    expect(traffic.receiveRate(10, 6_000)).toBeNaN();
    traffic.mark(500, 0, 10_000);
    expect(traffic.receiveRate(1_500, 11_000)).toBe(1_000);
  });
});
