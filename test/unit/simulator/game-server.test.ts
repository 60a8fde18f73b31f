import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  advance,
  applyEvent,
  diesNow,
  type GameEvent,
  type GameServer,
  type GameServerTraits,
  newServer,
  reported,
  runningServer,
  usageWhenOff,
} from '../../../src/simulator/game-server.ts';
import { PROFILES } from '../../../src/simulator/profiles.ts';

const NOW = 1_000_000;
const MIB = 1_048_576;
const TRAITS: GameServerTraits = {
  profile: PROFILES.steady,
  memoryLimitBytes: 1_024 * MIB,
  startMs: 2_000,
  stopMs: 1_000,
  reviveMs: 5_000,
  startFails: false,
  killsSilently: false,
};
const RUNNING = runningServer(7, NOW - 10_000, 60_000, TRAITS);

/** The states of a server through these events, and the next due event after each. */
function play(
  events: readonly GameEvent[],
  traits: Partial<GameServerTraits> = {},
  from = newServer(7, NOW),
) {
  const all = { ...TRAITS, ...traits };
  let server = from;
  let now = NOW;
  return events.map((event) => {
    if (event === 'due') now = Math.max(now, server.due?.at ?? now);
    const { server: after, passed } = applyEvent(server, event, now, all);
    server = after;
    return passed.join(' ') || '-';
  });
}

describe('a server that is off', () => {
  it.each<[string, readonly GameEvent[], Partial<GameServerTraits>, readonly string[]]>([
    ['starts', ['start', 'due', 'due'], {}, ['starting', 'running', '-']],
    ['starts once', ['start', 'start'], {}, ['starting', '-']],
    ['starts by a restart', ['restart', 'due'], {}, ['starting', 'running']],
    [
      'may fail to start',
      ['start', 'due'],
      { startFails: true, reviveMs: undefined },
      ['starting', 'offline'],
    ],
    [
      'that fails to start tries again',
      ['start', 'due', 'due', 'due'],
      { startFails: true },
      ['starting', 'offline', 'starting', 'offline'],
    ],
    ['stays as it is', ['stop', 'kill', 'crash', 'due'], {}, ['-', '-', '-', '-']],
  ])('%s', (_what, events, traits, passed) => {
    expect(play(events, traits)).toEqual(passed);
  });
});

describe('a server that runs', () => {
  it.each<[string, readonly GameEvent[], Partial<GameServerTraits>, readonly string[]]>([
    ['stops', ['stop', 'due', 'due'], {}, ['stopping', 'offline', '-']],
    ['stops once', ['stop', 'stop', 'restart'], {}, ['stopping', '-', '-']],
    ['restarts', ['restart', 'due', 'due'], {}, ['stopping', 'offline starting', 'running']],
    ['is killed', ['kill'], {}, ['stopping offline']],
    ['is killed while it stops', ['stop', 'kill', 'due'], {}, ['stopping', 'offline', '-']],
    ['may be killed silently', ['kill'], { killsSilently: true }, ['offline']],
    ['crashes, and is started again', ['crash', 'due', 'due'], {}, ['offline', 'starting', 'running']],
    ['crashes, and stays off', ['crash', 'due'], { reviveMs: undefined }, ['offline', '-']],
    [
      'whose restart after a crash fails is aborted',
      ['crash', 'due', 'due', 'due'],
      { startFails: true },
      ['offline', 'starting', 'stopping offline', '-'],
    ],
    ['is not started again once it was to stop', ['crash', 'stop', 'due'], {}, ['offline', '-', '-']],
    ['is not started again once it was killed', ['crash', 'kill', 'due'], {}, ['offline', '-', '-']],
    ['can not be started', ['start'], {}, ['-']],
  ])('%s', (_what, events, traits, passed) => {
    expect(play(events, traits, RUNNING)).toEqual(passed);
  });
});

it('what is due happens in its time, not before', () => {
  const { server } = applyEvent(RUNNING, 'stop', NOW, TRAITS);
  expect(applyEvent(server, 'due', NOW + 999, TRAITS)).toEqual({ server, passed: [] });
  expect(applyEvent(server, 'due', NOW + 1_000, TRAITS).passed).toEqual(['offline']);
  const started = applyEvent(newServer(7, NOW), 'start', NOW, TRAITS).server;
  expect(started.due?.at).toBe(NOW + 2_000);
  expect(applyEvent(RUNNING, 'crash', NOW, TRAITS).server.due?.at).toBe(NOW + 5_000);
});

describe('the usage', () => {
  const off = { ...usageWhenOff({ memoryLimitBytes: 0, diskBytes: 0 }) };

  it('of a server that was never started is its disk, and after a stop also its limit', () => {
    expect(newServer(7, NOW).usage).toEqual({ ...off, diskBytes: 7 });
    const stopped = applyEvent(RUNNING, 'kill', NOW, TRAITS).server;
    expect(stopped.usage).toEqual({ ...off, diskBytes: 7, memoryLimitBytes: TRAITS.memoryLimitBytes });
    expect(advance(stopped, NOW + 60_000, PROFILES.steady, () => 0.5)).toBe(stopped);
  });

  it('of a server that has run is that of its uptime', () => {
    expect(RUNNING).toMatchObject({ state: 'running', startedAt: NOW - 70_000, due: undefined });
    expect(RUNNING.usage).toEqual({
      memoryBytes: Math.round(0.45 * 1_024 * MIB),
      memoryLimitBytes: 1_024 * MIB,
      cpuAbsolute: 60,
      diskBytes: 7,
      rxBytes: 720_000,
      txBytes: 2_400_000,
      readBytes: 120_000,
      writtenBytes: 1_200_000,
      uptimeMs: 60_000,
    });
  });

  it('of a start begins anew', () => {
    const { server } = applyEvent(applyEvent(RUNNING, 'kill', NOW, TRAITS).server, 'start', NOW, TRAITS);
    expect([server.usage.rxBytes, server.usage.uptimeMs, server.startedAt]).toEqual([0, 0, NOW]);
  });

  it('has counters that never decrease, and usage within its limits, whatever time passes', () => {
    const moves = fc.array(
      fc.tuple(fc.integer({ min: -1_000, max: 60_000 }), fc.double({ min: 0, max: 1, noNaN: true })),
    );
    fc.assert(
      fc.property(moves, fc.constantFrom(...Object.values(PROFILES)), (steps, profile) => {
        let server: GameServer = {
          ...RUNNING,
          usage: { ...RUNNING.usage, memoryLimitBytes: 99 * 1_024 * MIB },
        };
        for (const [ms, random] of steps) {
          const before = server.usage;
          server = advance(server, server.usageAt + ms, profile, () => random);
          for (const name of ['rxBytes', 'txBytes', 'readBytes', 'writtenBytes'] as const)
            expect(server.usage[name]).toBeGreaterThanOrEqual(before[name]);
          expect(server.usage.cpuAbsolute).toBeGreaterThanOrEqual(0);
          // At most 16 GiB, because no profile uses all of it.
          expect(server.usage.memoryBytes).toBeLessThanOrEqual(16_384 * MIB * 1.02);
        }
      }),
    );
  });

  it('varies with chance, in phase', () => {
    const at = (random: number) =>
      advance(RUNNING, RUNNING.usageAt + 1_000, PROFILES.steady, () => random).usage;
    expect([at(0), at(1)].map(({ cpuAbsolute, rxBytes }) => [cpuAbsolute, rxBytes - 720_000])).toEqual([
      [52, 9_600],
      [68, 14_400],
    ]);
  });

  it('may be pinned, in part', () => {
    const pin = { cpuAbsolute: 150, memoryBytes: undefined };
    expect(reported(RUNNING.usage, pin)).toEqual({ ...RUNNING.usage, cpuAbsolute: 150 });
    expect(reported(RUNNING.usage, undefined)).toBe(RUNNING.usage);
  });
});

it.each<[number | undefined, GameServer, boolean]>([
  [undefined, RUNNING, false],
  [70_000, RUNNING, true],
  [70_001, RUNNING, false],
  [1, applyEvent(RUNNING, 'stop', NOW, TRAITS).server, false],
])('a run of at most %s ms ends by itself: %#', (crashEveryMs, server, dies) => {
  expect(diesNow(server, NOW, crashEveryMs)).toBe(dies);
});
