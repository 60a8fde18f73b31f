import { describe, expect, it } from 'vitest';
import { readTransportError } from '../../../src/diagnosis/transport.ts';
import { SocketLimit, SocketLimitError, SocketSlots } from '../../../src/fleet/socket-limit.ts';

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
      const raised = new SocketLimit(small.requiredDescriptors);
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

describe('a slot', () => {
  it('is rejected like a missing descriptor, until one is released', () => {
    const limit = new SocketLimit(100);
    const slots: (() => void)[] = [];
    const takeAll = () => {
      for (;;) slots.push(limit.take());
    };
    expect(takeAll).toThrow(SocketLimitError);
    // A few more than the limit, because sockets of ended turns are still closing.
    expect(slots.length).toBeGreaterThanOrEqual(limit.sockets);
    expect(slots.length).toBeLessThanOrEqual(100 - RESERVE);
    const [first] = slots;
    first?.();
    first?.();
    limit.take();
    expect(() => limit.take()).toThrow(SocketLimitError);
  });

  it('that is rejected is classified as a lack of descriptors', () => {
    expect(readTransportError(new SocketLimitError(12)).kind).toBe('descriptors');
  });
});

describe("the slots of a panel's sockets", () => {
  /** A limit with room for this many sockets of one panel. */
  const limitFor = (sockets: number) => new SocketLimit(100 - new SocketLimit(100).sockets + sockets);

  /** Places for this many sockets; holders take theirs anew when they are asked to. */
  const slotsFor = (sockets: number, limit = limitFor(sockets)) => {
    const given: string[] = [];
    let required = 20;
    const slots: SocketSlots<string> = new SocketSlots(
      limit,
      () => required,
      (holder) => {
        given.push(holder);
        slots.take(holder);
      },
    );
    const require = (count: number) => {
      required = count;
      slots.require(count);
    };
    require(required);
    return { slots, given, require };
  };
  const holders = (slots: SocketSlots<string>, all: string) =>
    all
      .split('')
      .filter((one) => slots.take(one))
      .join('');

  it('go to the first to request them, and stay with them', () => {
    const { slots } = slotsFor(2);
    expect(slots.allowed).toBe(2);
    expect(holders(slots, 'abc')).toBe('ab');
    expect(holders(slots, 'cba')).toBe('ba');
  });

  it('go to the one that has waited longest when they are given back', () => {
    const { slots, given } = slotsFor(2);
    holders(slots, 'abcd');
    slots.leave('a');
    expect(given).toEqual(['c']);
    slots.leave('a');
    expect(given).toEqual(['c']);
    expect(holders(slots, 'abcd')).toBe('bc');
  });

  it('never go to a server that was removed while it waited', () => {
    const { slots, given } = slotsFor(1);
    holders(slots, 'abc');
    slots.forget('b');
    slots.forget('a');
    expect(given).toEqual(['c']);
  });

  it('are enough for all once fewer servers need one', () => {
    const { slots, given, require } = slotsFor(2);
    holders(slots, 'abcd');
    require(2);
    expect(slots.allowed).toBe(Number.POSITIVE_INFINITY);
    expect(given).toEqual(['c', 'd']);
    expect(holders(slots, 'abcd')).toBe('abcd');
  });

  it('are taken from the last servers when another panel claims its share, and returned when it leaves', () => {
    const limit = limitFor(6);
    const { slots, given } = slotsFor(6, limit);
    holders(slots, 'abcdef');
    const other = limit.join(ignore);
    other.claim(20);
    // Another panel reserves two descriptors for its calls.
    expect(slots.allowed).toBe(2);
    expect(given).toEqual(['c', 'd', 'e', 'f']);
    expect(holders(slots, 'abcdef')).toBe('ab');
    other.leave();
    expect(holders(slots, 'abcdef')).toBe('abcdef');
  });

  it('no longer count for other panels after the panel stopped', () => {
    const limit = limitFor(6);
    const { slots } = slotsFor(6, limit);
    const other = limit.join(ignore);
    expect(other.claim(20)).toBe(2);
    slots.close();
    expect(other.claim(20)).toBe(6);
  });
});
