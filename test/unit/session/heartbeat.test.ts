import { beforeEach, describe, expect, it } from 'vitest';
import { Heartbeat } from '../../../src/session/heartbeat.ts';
import { ManualClock } from '../../support/manual-clock.ts';

let clock: ManualClock;
let said: string[];
let heartbeat: Heartbeat;

beforeEach(() => {
  clock = new ManualClock();
  said = [];
  heartbeat = new Heartbeat(clock, { ping: () => said.push('ping'), lost: () => said.push('lost') });
});

describe('Heartbeat', () => {
  it('pings a quiet connection every 30 s while it is answered', async () => {
    heartbeat.start();
    await clock.advance(29_999);
    expect(said).toEqual([]);
    for (let beat = 1; beat <= 4; beat += 1) {
      await clock.advance(beat === 1 ? 1 : 30_000);
      expect(said).toHaveLength(beat);
      heartbeat.heard();
    }
    expect(new Set(said)).toEqual(new Set(['ping']));
  });

  it('does not ping one that speaks, and does 30 s after its last word', async () => {
    heartbeat.start();
    for (let second = 0; second < 100; second += 1) {
      await clock.advance(1_000);
      heartbeat.heard();
    }
    expect(said).toEqual([]);
    await clock.advance(29_999);
    expect(said).toEqual([]);
    await clock.advance(1);
    expect(said).toEqual(['ping']);
  });

  it('tells once that nothing came in the 30 s after a ping, and rests', async () => {
    heartbeat.start();
    await clock.advance(60_000);
    expect(said).toEqual(['ping', 'lost']);
    expect(clock.pending).toBe(0);
    await clock.advance(120_000);
    expect(said).toEqual(['ping', 'lost']);
  });

  it('takes a late pong', async () => {
    heartbeat.start();
    await clock.advance(59_999);
    heartbeat.heard();
    await clock.advance(30_000);
    expect(said).toEqual(['ping', 'ping']);
  });

  it('is still after a stop, before its start too', async () => {
    heartbeat.stop();
    heartbeat.start();
    heartbeat.stop();
    expect(clock.pending).toBe(0);
    await clock.advance(120_000);
    expect(said).toEqual([]);
  });
});
