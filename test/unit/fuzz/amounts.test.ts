import { describe, expect, it } from 'vitest';
import { amountOf, EVENTS } from '../../../bench/strangers/amounts.ts';
import { receivingServer } from '../../../bench/strangers/receiving-server.ts';

const KIB = 1_024;

/** The remaining texts after this many bytes of an event, and the number of received texts. */
async function after(texts: readonly string[], bytes: number) {
  const server = await receivingServer();
  const all = amountOf(
    bytes,
    texts.map((text) => Buffer.from(text)),
  );
  // On the wire, each text is two bytes longer, so that empty texts take some space, too.
  const received = server.receive(all.length > 0 ? all : []);
  const { sizes, counts } = server;
  const result = { received, sizes: sizes(), counts: counts() };
  await server.stop();
  return result;
}

describe('64 KiB and 512 KiB of an event leave as much behind', () => {
  it.each(Object.entries(EVENTS))('%s', async (_name, texts) => {
    const [less, more] = [await after(texts, 64 * KIB), await after(texts, 512 * KIB)];
    for (const { sizes } of [less, more]) {
      expect(sizes.sockets).toBe(1);
      expect(sizes.timers).toBeLessThanOrEqual(4);
      expect(sizes.calls).toBeLessThanOrEqual(2);
      expect(sizes.logLines).toBeLessThanOrEqual(20);
      expect(sizes.logBytes).toBeLessThan(10 * KIB);
      expect(sizes.snapshotBytes).toBeLessThan(8 * KIB);
      expect(sizes.unwantedStops).toBeLessThanOrEqual(20);
    }
    expect(more.sizes.timers).toBe(less.sizes.timers);
    expect(Math.abs(more.sizes.snapshotBytes - less.sizes.snapshotBytes)).toBeLessThan(100);
  });

  it.each(["texts that aren't JSON", "stats that aren't JSON"])('%s, of which 21 are read', async (name) => {
    const { received, counts } = await after(EVENTS[name] ?? [], 64 * KIB);
    expect(counts.badMessages).toBe(21);
    expect(received).toBeLessThan(50);
  });
});

it.each(Object.entries(EVENTS))('nothing of a text is kept by reference: %s', async (_name, texts) => {
  const [own, shared] = [await receivingServer(), await receivingServer()];
  const buffer = Buffer.alloc(4 * KIB);
  for (const text of amountOf(
    8 * KIB,
    texts.map((one) => Buffer.from(one)),
  )) {
    own.receive([Buffer.from(text)]);
    text.copy(buffer);
    shared.receive([buffer.subarray(0, text.length)]);
    // Overwrites the buffer, like the next read.
    buffer.fill('\u0000#"');
  }
  expect(shared.sizes()).toEqual(own.sizes());
  expect(shared.snapshot()).toEqual(own.snapshot());
  await Promise.all([own.stop(), shared.stop()]);
});
