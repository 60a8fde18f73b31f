import type { ServerSpec, Temper } from './schema.ts';

const GIB = 1_024;

/** A dozen servers of different tempers: what `demo` shows. */
export const DEMO_SERVERS: readonly ServerSpec[] = [
  { name: 'survival', temper: 'busy', egg: 'Paper', limits: { memory: 8 * GIB, disk: 40 * GIB, cpu: 400 } },
  { name: 'creative', temper: 'steady', egg: 'Paper', limits: { memory: 4 * GIB, disk: 20 * GIB, cpu: 200 } },
  {
    name: 'skyblock',
    temper: 'steady',
    egg: 'Purpur',
    limits: { memory: 4 * GIB, disk: 15 * GIB, cpu: 200 },
  },
  { name: 'lobby', temper: 'idle', egg: 'Velocity', limits: { memory: GIB, disk: 5 * GIB, cpu: 100 } },
  {
    name: 'modded-beta',
    temper: 'crashing',
    egg: 'Forge',
    limits: { memory: 10 * GIB, disk: 60 * GIB, cpu: 400 },
    crashEveryMs: 90_000,
  },
  {
    name: 'valheim-1',
    temper: 'steady',
    egg: 'Valheim',
    limits: { memory: 4 * GIB, disk: 10 * GIB, cpu: 200 },
  },
  {
    name: 'valheim-2',
    temper: 'idle',
    egg: 'Valheim',
    limits: { memory: 4 * GIB, disk: 10 * GIB, cpu: 200 },
  },
  { name: 'rust-weekly', temper: 'busy', egg: 'Rust', limits: { memory: 16 * GIB, disk: 50 * GIB, cpu: 0 } },
  {
    name: 'factorio',
    temper: 'steady',
    egg: 'Factorio',
    limits: { memory: 2 * GIB, disk: 8 * GIB, cpu: 150 },
  },
  { name: 'terraria', temper: 'idle', egg: 'Terraria', limits: { memory: 0, disk: 0, cpu: 0 } },
  {
    name: 'event-arena',
    temper: 'offline',
    egg: 'Paper',
    limits: { memory: 6 * GIB, disk: 20 * GIB, cpu: 300 },
  },
  { name: 'old-season', temper: 'suspended', egg: 'Paper', limits: { memory: 4 * GIB, disk: 20 * GIB } },
];

const MIX: readonly Temper[] = ['steady', 'busy', 'idle', 'steady', 'idle', 'steady', 'steady', 'idle'];

/** Any number of servers: the demo's dozen first, then numbered ones of mixed tempers. */
export function mixedServers(count: number): ServerSpec[] {
  const more = Array.from({ length: Math.max(0, count - DEMO_SERVERS.length) }, (_, index) => ({
    name: `server-${index + DEMO_SERVERS.length + 1}`,
    temper: MIX[index % MIX.length] ?? 'steady',
  }));
  return [...DEMO_SERVERS.slice(0, count), ...more];
}

/** Any number of alike servers, all running and without console output: what a count in the options gives. */
export function steadyServers(count: number): ServerSpec[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `server-${index + 1}`,
    temper: 'steady',
    consoleLinesPerSecond: 0,
  }));
}
