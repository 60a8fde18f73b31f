import { describe, expect, it } from 'vitest';
import { Traffic } from '../../../src/status/traffic.ts';

const bytes = (networkReceiveBytes: number, networkTransmitBytes = 0) => ({
  networkReceiveBytes,
  networkTransmitBytes,
});

describe('network rates', () => {
  it('reach from the mark before the last to now', () => {
    const traffic = new Traffic();
    traffic.mark(bytes(1_000, 100), 0);
    traffic.mark(bytes(6_000, 200), 5_000);
    expect(traffic.receiveRate(bytes(8_000), 7_000)).toBe(1_000);
    expect(traffic.transmitRate(bytes(8_000, 800), 7_000)).toBe(100);
  });

  it('stand while no newer sample comes', () => {
    const traffic = new Traffic();
    traffic.mark(bytes(0), 0);
    traffic.mark(bytes(30_000), 30_000);
    traffic.mark(bytes(30_000), 30_000);
    expect(traffic.receiveRate(bytes(30_000), 30_000)).toBe(1_000);
  });

  it('are not known from one sample, without counters, or after a clear', () => {
    const traffic = new Traffic();
    traffic.mark(bytes(1_000), 0);
    expect(traffic.receiveRate(bytes(1_000), 0)).toBeNaN();
    expect(traffic.receiveRate({}, 1_000)).toBeNaN();
    traffic.mark(bytes(2_000), 1_000);
    traffic.clear();
    expect(traffic.receiveRate(bytes(3_000), 2_000)).toBeNaN();
  });

  it('are never those of two runs: counters that fell began anew', () => {
    const traffic = new Traffic();
    traffic.mark(bytes(1_000_000), 0);
    traffic.mark(bytes(2_000_000), 5_000);
    expect(traffic.receiveRate(bytes(10), 6_000)).toBeNaN();
    traffic.mark(bytes(500), 10_000);
    expect(traffic.receiveRate(bytes(1_500), 11_000)).toBe(1_000);
  });
});
