import { describe, expect, it } from 'vitest';
import { Viewers } from '../../../src/status/viewers.ts';

const decoder = new TextDecoder();

interface Reader {
  next(): Promise<string | undefined>;
  leave(): Promise<void>;
}

function watch(viewers: Viewers): Reader {
  const reader = viewers.open()?.getReader();
  if (reader === undefined) throw new Error('no room');
  return {
    next: async () => {
      const { value } = await reader.read();
      return value === undefined ? undefined : decoder.decode(value);
    },
    leave: () => reader.cancel(),
  };
}

/** Viewers, and how often the whole was made for them. */
function setUp(max?: number) {
  const made = { whole: 0 };
  const viewers = new Viewers(() => `whole ${(made.whole += 1)}`, max);
  return { viewers, made };
}

describe('viewers', () => {
  it('begin with the whole, and go on with what changes', async () => {
    const { viewers } = setUp();
    const one = watch(viewers);
    expect(await one.next()).toBe('whole 1');
    const next = one.next();
    viewers.send('change');
    expect(await next).toBe('change');
  });

  it('share the whole while nothing changes', async () => {
    const { viewers, made } = setUp();
    await Promise.all([watch(viewers).next(), watch(viewers).next(), watch(viewers).next()]);
    expect(made.whole).toBe(1);
  });

  it('that take nothing are sent nothing, and the whole when they go on', async () => {
    const { viewers } = setUp();
    const [slow, quick] = [watch(viewers), watch(viewers)];
    await Promise.all([slow.next(), quick.next()]);
    for (const change of ['a', 'b', 'c']) {
      const next = quick.next();
      viewers.send(change);
      expect(await next).toBe(change);
    }
    expect(await slow.next()).toBe('whole 2');
    const next = slow.next();
    viewers.send('d');
    expect(await next).toBe('d');
  });

  it('are given the whole where a change can not be told', async () => {
    const { viewers } = setUp();
    const one = watch(viewers);
    await one.next();
    const next = one.next();
    viewers.send(undefined);
    expect(await next).toBe('whole 2');
  });

  it('are bounded in number, and one that leaves makes room', async () => {
    const { viewers } = setUp(2);
    const first = watch(viewers);
    watch(viewers);
    expect(viewers.open()).toBeUndefined();
    await first.leave();
    expect(viewers.count).toBe(1);
    expect(viewers.open()).toBeDefined();
  });

  it('see the end of the stream', async () => {
    const { viewers } = setUp();
    const one = watch(viewers);
    await one.next();
    viewers.close();
    expect(await one.next()).toBeUndefined();
    expect(viewers.count).toBe(0);
  });
});
