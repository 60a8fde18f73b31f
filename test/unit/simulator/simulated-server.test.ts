import { describe, expect, it } from 'vitest';
import { PROFILES } from '../../../src/simulator/profiles.ts';
import { createServer, currentUsage, gameTraits, nodeName } from '../../../src/simulator/simulated-server.ts';
import type { ServerSpec } from '../../../src/simulator/simulator-schema.ts';
import { DEFAULT_SETTINGS } from '../../../src/simulator/simulator-settings.ts';

const NOW = 1_000_000;
const MIB = 1_048_576;
const create = (spec: Partial<ServerSpec> = {}, seed = 1) =>
  createServer({ name: 'survival', ...spec }, seed, NOW, DEFAULT_SETTINGS);

describe('a server', () => {
  it('has what its spec leaves open from its seed', () => {
    const [one, same, other] = [create(), create(), create({}, 2)];
    expect([same.uuid, same.game.usage.diskBytes]).toEqual([one.uuid, one.game.usage.diskBytes]);
    expect(other.uuid).not.toBe(one.uuid);
    expect(one.identifier).toBe(one.uuid.slice(0, 8));
  });

  it.each<[string, Partial<ServerSpec>, object]>([
    [
      'usually',
      {},
      {
        profileName: 'steady',
        egg: 'Generic',
        owned: true,
        daemonType: 'wings',
        backupLimit: 3,
        allocationSpec: {},
        nodeAddress: 'node.example.com',
        game: { state: 'running' },
        backedUpAt: NOW,
      },
    ],
    ['that is idle', { profile: 'idle' }, { profile: { cpu: PROFILES.idle.cpu } }],
    ['that is suspended', { profile: 'suspended' }, { conflict: 'suspended' }],
    ['without an address', { allocation: null }, { allocationSpec: null }],
    ['of another account', { owned: false }, { owned: false }],
    [
      'with a limit of memory',
      { limits: { memory: 1_000 } },
      { memoryLimitBytes: 1_050 * MIB, limits: { memory: 1_000, disk: 20_480 } },
    ],
    ['without a limit of memory', { limits: { memory: 0 } }, { memoryLimitBytes: 65_536 * MIB }],
    [
      'with a limit of the CPU below its usual usage',
      { limits: { cpu: 50 } },
      { profile: { cpu: 40, cpuSwing: 8 } },
    ],
    [
      'with a limit of the CPU near its peaks',
      { limits: { cpu: 75 } },
      { profile: { cpu: 60, cpuSwing: 8 } },
    ],
    ['with a small limit of the CPU', { limits: { cpu: 10 } }, { profile: { cpu: 8, cpuSwing: 2 } }],
    ['without a limit of the CPU', { limits: { cpu: 0 } }, { profile: { cpu: PROFILES.steady.cpu } }],
    [
      'with its own noise',
      { consoleLinesPerSecond: 9, crashEveryMs: 7 },
      { profile: { consoleLinesPerSecond: 9, crashEveryMs: 7 } },
    ],
  ])('%s', (_what, spec, expected) => {
    expect(create(spec)).toMatchObject(expected);
  });

  it('uses a part of its disk, and has run for at most three days, or as long as it runs between crashes', () => {
    for (let seed = 0; seed < 50; seed += 1) {
      const { usualDiskBytes, game } = create({ limits: { disk: 100 } }, seed);
      expect(usualDiskBytes).toBeGreaterThanOrEqual(20 * MIB);
      expect(usualDiskBytes).toBeLessThanOrEqual(70 * MIB);
      expect(game.usage.uptimeMs).toBeLessThanOrEqual(3 * 86_400_000);
      expect(create({ crashEveryMs: 1_000 }, seed).game.usage.uptimeMs).toBeLessThanOrEqual(1_000);
    }
  });

  it('reports its usage, or what is pinned', () => {
    const server = create();
    expect(currentUsage(server)).toBe(server.game.usage);
    server.pin = { cpuAbsolute: 7 };
    expect(currentUsage(server).cpuAbsolute).toBe(7);
  });

  it('is on the node of its spec, or the one that has its port', () => {
    const names = [create({ node: 'fra-1' }), create(), { ...create(), node: 1 as const }].map(nodeName);
    expect(names).toEqual(['fra-1', 'node-1', 'node-2']);
  });
});

it('the traits of a game follow the settings', () => {
  const server = create();
  expect(gameTraits(server, DEFAULT_SETTINGS)).toMatchObject({
    startMs: DEFAULT_SETTINGS.startMs,
    stopMs: DEFAULT_SETTINGS.stopMs,
    reviveMs: undefined,
    startFails: false,
  });
  const crashing = create({ crashEveryMs: 7 });
  expect(gameTraits({ ...crashing, startsToFail: 1 }, DEFAULT_SETTINGS)).toMatchObject({
    reviveMs: DEFAULT_SETTINGS.reviveMs,
    startFails: true,
  });
});
