import { describe, expect, it } from 'vitest';
import { readTransportError } from '../../../src/diagnosis/transport.ts';
import { SocketLimit, SocketLimitError } from '../../../src/fleet/socket-limit.ts';

/** The minimum that is reserved for scrapes and API calls. */
const RESERVE = 64;

const ignore = () => undefined;

describe('the console sockets of a process', () => {
  it.each([100, 256, 1_024, 65_536])(
    'with %i descriptors leave a reserve for scrapes and calls',
    (descriptors) => {
      const limit = new SocketLimit(descriptors);
      expect(limit.sockets).toBeGreaterThan(0);
      expect(limit.sockets).toBeLessThanOrEqual(descriptors - RESERVE);
      expect(limit.connections).toBeGreaterThanOrEqual(48);
      expect(limit.sockets + limit.connections).toBeLessThan(descriptors);
    },
  );

  it('are none if there are hardly any descriptors', () => {
    expect(new SocketLimit(70).sockets).toBe(0);
    expect(new SocketLimit(70).join(ignore).claim(5)).toBe(0);
  });

  it('are unlimited if no limit is known', () => {
    const limit = new SocketLimit();
    expect(limit.join(ignore).claim(100_000)).toBe(Number.POSITIVE_INFINITY);
    expect(limit.connections).toBe(256);
  });

  it('leave more descriptors for calls if there are many panels', () => {
    const limit = new SocketLimit(1_024);
    const { sockets } = limit;
    for (let panel = 0; panel < 10; panel += 1) limit.join(ignore).claim(1);
    expect(limit.sockets).toBe(sockets - 18);
  });

  it('are enough for all servers with the recommended limit', () => {
    for (const servers of [1, 150, 900, 20_000]) {
      const small = new SocketLimit(100);
      small.join(ignore).claim(servers);
      const raised = new SocketLimit(small.wantedDescriptors);
      expect(raised.join(ignore).claim(servers)).toBe(Number.POSITIVE_INFINITY);
    }
  });
});

describe('panels', () => {
  it('share the sockets in proportion to their servers, and are notified of changes by others', () => {
    const limit = new SocketLimit(1_000);
    const changes: string[] = [];
    const large = limit.join(() => changes.push('large'));
    const small = limit.join(() => changes.push('small'));
    expect(large.claim(600)).toBe(Number.POSITIVE_INFINITY);
    expect(small.claim(1_800)).toBe(Math.floor(limit.sockets * 0.75));
    expect(changes).toEqual(['large']);
    expect(large.claim(600)).toBe(Math.floor(limit.sockets * 0.25));
    // The same claim again changes nothing.
    expect(changes).toEqual(['large']);
    small.leave();
    expect(changes).toEqual(['large', 'large']);
    expect(large.claim(600)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('a place', () => {
  it('is rejected like a missing descriptor, until one is released', () => {
    const limit = new SocketLimit(100);
    const places: (() => void)[] = [];
    const takeAll = () => {
      for (;;) places.push(limit.take());
    };
    expect(takeAll).toThrow(SocketLimitError);
    // A few more than planned, because sockets of ended turns are still closing.
    expect(places.length).toBeGreaterThanOrEqual(limit.sockets);
    expect(places.length).toBeLessThanOrEqual(100 - RESERVE);
    const [first] = places;
    first?.();
    first?.();
    limit.take();
    expect(() => limit.take()).toThrow(SocketLimitError);
  });

  it('that is rejected is classified as a lack of descriptors', () => {
    expect(readTransportError(new SocketLimitError(12)).kind).toBe('descriptors');
  });
});
