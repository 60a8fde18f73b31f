import { describe, expect, it } from 'vitest';
import { readTransportError } from '../../../src/diagnosis/transport.ts';
import { SocketLimit, SocketLimitError } from '../../../src/fleet/socket-limit.ts';

/** What scrapes and API calls are to have at least. */
const RESERVE = 64;

const ignore = () => undefined;

describe('the console sockets of a process', () => {
  it.each([100, 256, 1_024, 65_536])('of %i descriptors leave scrapes and calls theirs', (descriptors) => {
    const limit = new SocketLimit(descriptors);
    expect(limit.sockets).toBeGreaterThan(0);
    expect(limit.sockets).toBeLessThanOrEqual(descriptors - RESERVE);
    expect(limit.connections).toBeGreaterThanOrEqual(48);
    expect(limit.sockets + limit.connections).toBeLessThan(descriptors);
  });

  it('are none where there is hardly a descriptor', () => {
    expect(new SocketLimit(70).sockets).toBe(0);
    expect(new SocketLimit(70).join(ignore).claim(5)).toBe(0);
  });

  it('are unlimited where no limit is known', () => {
    const limit = new SocketLimit();
    expect(limit.join(ignore).claim(100_000)).toBe(Number.POSITIVE_INFINITY);
    expect(limit.connections).toBe(256);
  });

  it('leave more to calls where there are many panels', () => {
    const limit = new SocketLimit(1_024);
    const { sockets } = limit;
    for (let panel = 0; panel < 10; panel += 1) limit.join(ignore).claim(1);
    expect(limit.sockets).toBe(sockets - 18);
  });

  it('are enough for all servers with the limit that is wanted', () => {
    for (const servers of [1, 150, 900, 20_000]) {
      const small = new SocketLimit(100);
      small.join(ignore).claim(servers);
      const raised = new SocketLimit(small.wantedDescriptors);
      expect(raised.join(ignore).claim(servers)).toBe(Number.POSITIVE_INFINITY);
    }
  });
});

describe('panels', () => {
  it('share the sockets in proportion to their servers, and hear of changes by others', () => {
    const limit = new SocketLimit(1_000);
    const changes: string[] = [];
    const large = limit.join(() => changes.push('large'));
    const small = limit.join(() => changes.push('small'));
    expect(large.claim(600)).toBe(Number.POSITIVE_INFINITY);
    expect(small.claim(1_800)).toBe(Math.floor(limit.sockets * 0.75));
    expect(changes).toEqual(['large']);
    expect(large.claim(600)).toBe(Math.floor(limit.sockets * 0.25));
    // The same claim again changes nothing for anybody.
    expect(changes).toEqual(['large']);
    small.leave();
    expect(changes).toEqual(['large', 'large']);
    expect(large.claim(600)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('a place', () => {
  it('is refused as the system would refuse a descriptor, until one is freed', () => {
    const limit = new SocketLimit(100);
    const places: (() => void)[] = [];
    const takeAll = () => {
      for (;;) places.push(limit.take());
    };
    expect(takeAll).toThrow(SocketLimitError);
    // Some beyond the plan, for those whose turn is over are still closing.
    expect(places.length).toBeGreaterThanOrEqual(limit.sockets);
    expect(places.length).toBeLessThanOrEqual(100 - RESERVE);
    const [first] = places;
    first?.();
    first?.();
    limit.take();
    expect(() => limit.take()).toThrow(SocketLimitError);
  });

  it('that is refused is told as a lack of descriptors', () => {
    expect(readTransportError(new SocketLimitError(12)).kind).toBe('descriptors');
  });
});
