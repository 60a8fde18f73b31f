import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { FRAME_INTERVAL_MS, Outbox } from '../../../src/session/outbox.ts';
import { ManualClock } from '../../support/manual-clock.ts';

let clock: ManualClock;

beforeEach(() => {
  clock = new ManualClock();
});

describe('Outbox', () => {
  let sent: (readonly [afterMs: number, frame: string])[];
  let outbox: Outbox;

  beforeEach(() => {
    sent = [];
    const startedAt = clock.now();
    outbox = new Outbox(clock, (frame) => sent.push([clock.now() - startedAt, frame]));
  });

  it('sends the first frame immediately and the others with the interval between them, in order', async () => {
    for (const frame of ['a', 'b', 'c']) outbox.send(frame);
    expect(sent).toEqual([[0, 'a']]);
    await clock.advance(5_000);
    expect(sent).toEqual([
      [0, 'a'],
      [600, 'b'],
      [1_200, 'c'],
    ]);
    expect(clock.pending).toBe(0);
  });

  it('drops waiting frames when it is stopped', async () => {
    for (const frame of ['a', 'b', 'c']) outbox.send(frame);
    outbox.stop();
    expect(clock.pending).toBe(0);
    await clock.advance(5_000);
    expect(sent).toEqual([[0, 'a']]);
    outbox.send('d');
    await clock.advance(5_000);
    expect(sent).toEqual([
      [0, 'a'],
      [5_000, 'd'],
    ]);
  });

  it('rejects frames beyond its limit', () => {
    for (let frame = 0; frame < 65; frame += 1) outbox.send(String(frame));
    expect(() => outbox.send('one more')).toThrow(
      'more than 64 messages are waiting for this socket; send more slowly',
    );
  });

  it('sends all frames in order and never two within the interval, however they arrive', async () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 1_200 }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(gaps, async (waits) => {
        const own = new ManualClock();
        const at: number[] = [];
        const frames: string[] = [];
        const box = new Outbox(own, (frame) => {
          at.push(own.now());
          frames.push(frame);
        });
        for (const [index, wait] of waits.entries()) {
          await own.advance(wait);
          box.send(String(index));
        }
        await own.advance(waits.length * FRAME_INTERVAL_MS);
        expect(frames).toEqual(waits.map((_, index) => String(index)));
        for (const [index, time] of at.entries()) {
          expect(time - (at[index - 1] ?? Number.NEGATIVE_INFINITY)).toBeGreaterThanOrEqual(
            FRAME_INTERVAL_MS,
          );
        }
      }),
      { numRuns: 30 },
    );
  });
});
