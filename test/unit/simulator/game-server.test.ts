import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  advance,
  diesNow,
  type GameEvent,
  type GameServer,
  type GameServerTraits,
  newServer,
  reported,
  runningServer,
  step,
  usageWhenOff,
} from '../../../src/simulator/game-server.ts';
import { PROFILES } from '../../../src/simulator/profiles.ts';
import { seededRandom } from '../../../src/simulator/random.ts';

const TRAITS: GameServerTraits = {
  profile: PROFILES.steady,
  memoryLimitBytes: 4_509_715_660,
  startMs: 2_000,
  stopMs: 1_000,
  reviveMs: undefined,
  startFails: false,
};
const DISK = 123_456_789;
const HOUR_MS = 3_600_000;

function running(): GameServer {
  return runningServer(DISK, 10 * HOUR_MS, HOUR_MS, TRAITS);
}

/** Applies events a tenth of a second apart, and returns every state that was passed. */
function play(server: GameServer, events: readonly GameEvent[], traits = TRAITS) {
  let at = server.usageAt;
  let now = server;
  const passed: string[] = [];
  for (const event of events) {
    at = event === 'due' ? (now.due?.at ?? at) : at + 100;
    const result = step(now, event, at, traits);
    now = result.server;
    passed.push(...result.passed);
  }
  return { server: now, passed };
}

describe('a server', () => {
  const cases: readonly (readonly [string, GameServer, readonly GameEvent[], readonly string[]])[] = [
    ['starts', newServer(DISK, 0), ['start', 'due'], ['starting', 'running']],
    ['stops', running(), ['stop', 'due'], ['stopping', 'offline']],
    ['restarts', running(), ['restart', 'due', 'due'], ['stopping', 'offline', 'starting', 'running']],
    ['restarts from offline', newServer(DISK, 0), ['restart', 'due'], ['starting', 'running']],
    ['is killed', running(), ['kill'], ['stopping', 'offline']],
    ['is killed while stopping', running(), ['stop', 'kill'], ['stopping', 'offline']],
    ['crashes without stopping', running(), ['crash', 'due'], ['offline']],
    ['crashes while starting', newServer(DISK, 0), ['start', 'crash', 'due'], ['starting', 'offline']],
    ['ignores start while running', running(), ['start', 'due'], []],
    ['ignores stop while offline', newServer(DISK, 0), ['stop', 'due'], []],
    ['ignores a second stop', running(), ['stop', 'stop', 'due'], ['stopping', 'offline']],
    ['ignores a crash while offline', newServer(DISK, 0), ['crash'], []],
  ];
  it.each(cases)('%s', (_name, server, events, passed) => {
    expect(play(server, events).passed).toEqual(passed);
  });

  it('restarts after a crash if its traits require it, unless it is stopped first', () => {
    const traits = { ...TRAITS, reviveMs: 5_000 };
    expect(play(running(), ['crash', 'due', 'due'], traits).passed).toEqual([
      'offline',
      'starting',
      'running',
    ]);
    expect(play(running(), ['crash', 'stop', 'due'], traits).passed).toEqual(['offline']);
  });

  it('goes off without stopping if its start fails', () => {
    const traits = { ...TRAITS, startFails: true };
    const failed = ['starting', 'offline'];
    expect(play(newServer(DISK, 0), ['start', 'due', 'due'], traits).passed).toEqual(failed);
    expect(play(running(), ['restart', 'due', 'due'], traits).passed).toEqual([
      'stopping',
      'offline',
      ...failed,
    ]);
  });

  it('does nothing before it is due', () => {
    const { server } = step(newServer(DISK, 0), 'start', 0, TRAITS);
    expect(step(server, 'due', TRAITS.startMs - 1, TRAITS).passed).toEqual([]);
    expect(step(server, 'due', TRAITS.startMs, TRAITS).passed).toEqual(['running']);
  });
});

describe('usage', () => {
  it('of a server that was never started is zero except for the disk', () => {
    expect(newServer(DISK, 0).usage).toEqual({
      ...usageWhenOff({ memoryLimitBytes: 0, diskBytes: DISK }),
      memoryLimitBytes: 0,
    });
  });

  it('drops to zero when the server stops, except for the memory limit and the disk', () => {
    const { server } = play(running(), ['kill']);
    expect(server.usage).toEqual(
      usageWhenOff({ memoryLimitBytes: TRAITS.memoryLimitBytes, diskBytes: DISK }),
    );
  });

  it('starts from 0 at every start', () => {
    const before = running();
    const { server } = play(before, ['restart', 'due']);
    expect(before.usage.rxBytes).toBeGreaterThan(0);
    expect(server.usage).toMatchObject({
      rxBytes: 0,
      txBytes: 0,
      readBytes: 0,
      writtenBytes: 0,
      uptimeMs: 0,
    });
    const later = advance(server, server.startedAt + 1_500, TRAITS.profile, () => 0.5);
    expect(later.usage).toMatchObject({ uptimeMs: 1_500, rxBytes: 18_000, txBytes: 60_000 });
  });

  it('never decreases while the server runs, and is reproducible by its seed', () => {
    fc.assert(
      fc.property(fc.nat(), fc.array(fc.integer({ min: 0, max: 5_000 }), { maxLength: 30 }), (seed, gaps) => {
        const history = (random = seededRandom(seed)) => {
          let server = running();
          return gaps.map((gap) => {
            server = advance(server, server.usageAt + gap, TRAITS.profile, random);
            return server.usage;
          });
        };
        const usages = history();
        for (const [index, usage] of usages.entries()) {
          const last = usages[index - 1] ?? running().usage;
          expect(usage.rxBytes).toBeGreaterThanOrEqual(last.rxBytes);
          expect(usage.txBytes).toBeGreaterThanOrEqual(last.txBytes);
          expect(usage.uptimeMs).toBeGreaterThanOrEqual(last.uptimeMs);
          expect(usage.memoryBytes).toBeLessThanOrEqual(usage.memoryLimitBytes);
          expect(usage.cpuAbsolute).toBeGreaterThanOrEqual(0);
        }
        expect(history()).toEqual(usages);
      }),
      { numRuns: 50 },
    );
  });

  it('does not change while the server is off', () => {
    const server = newServer(DISK, 0);
    expect(advance(server, HOUR_MS, TRAITS.profile, () => 1)).toBe(server);
  });

  it('is reported with overridden values', () => {
    const { usage } = running();
    expect(reported(usage, undefined)).toBe(usage);
    expect(reported(usage, { rxBytes: 7, cpuAbsolute: undefined })).toEqual({ ...usage, rxBytes: 7 });
  });
});

it('a server dies only when its run is over', () => {
  const server = running();
  expect(diesNow(server, server.startedAt + 90_000, 90_000)).toBe(true);
  expect(diesNow(server, server.startedAt + 89_999, 90_000)).toBe(false);
  expect(diesNow(server, server.startedAt + 90_000, undefined)).toBe(false);
  expect(diesNow(newServer(DISK, 0), 90_000, 1)).toBe(false);
});
