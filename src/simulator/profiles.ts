// The resource usage of simulated servers.

import type { ProfileName, ServerSpec } from './simulator-schema.ts';

/**
 * The resource usage of a running server. Rates are in bytes per second, CPU usage is in percent of
 * a core.
 */
export interface ServerProfile {
  readonly startsRunning: boolean;
  readonly cpu: number;
  /** The amplitude of the CPU usage, in percent of a core. */
  readonly cpuSwing: number;
  /** The memory usage as a share of the limit. */
  readonly memory: number;
  readonly rxPerSecond: number;
  readonly txPerSecond: number;
  readonly readPerSecond: number;
  readonly writtenPerSecond: number;
  readonly consoleLinesPerSecond: number;
  /** How long a run lasts before the server crashes by itself, in milliseconds. */
  readonly crashEveryMs?: number;
}

const STEADY: ServerProfile = {
  startsRunning: true,
  cpu: 60,
  cpuSwing: 8,
  memory: 0.45,
  rxPerSecond: 12_000,
  txPerSecond: 40_000,
  readPerSecond: 2_000,
  writtenPerSecond: 20_000,
  consoleLinesPerSecond: 0.2,
};

const IDLE: ServerProfile = {
  ...STEADY,
  cpu: 3,
  cpuSwing: 2,
  memory: 0.25,
  rxPerSecond: 150,
  txPerSecond: 300,
  readPerSecond: 0,
  writtenPerSecond: 500,
  consoleLinesPerSecond: 0,
};

/** To add a profile, add a row here and its name to `profileNameSchema`. */
export const PROFILES: Readonly<Record<ProfileName, ServerProfile>> = {
  steady: STEADY,
  busy: {
    ...STEADY,
    cpu: 310,
    cpuSwing: 90,
    memory: 0.88,
    rxPerSecond: 220_000,
    txPerSecond: 1_400_000,
    readPerSecond: 60_000,
    writtenPerSecond: 350_000,
    consoleLinesPerSecond: 3,
  },
  idle: IDLE,
  offline: { ...IDLE, startsRunning: false },
  crashing: { ...STEADY, cpu: 120, cpuSwing: 60, memory: 0.7, crashEveryMs: 120_000 },
  suspended: { ...IDLE, startsRunning: false },
  chatty: { ...STEADY, consoleLinesPerSecond: 1_000 },
};

const GIB = 1_024;

/** The twelve servers of `demo`, with different profiles and different ways to stop. */
export const DEMO_SERVERS: readonly ServerSpec[] = [
  {
    name: 'survival',
    profile: 'busy',
    egg: 'Paper',
    players: { max: 40 },
    limits: { memory: 8 * GIB, disk: 40 * GIB, cpu: 400 },
    allocation: { alias: 'survival.example.com', port: 25_565 },
    backupEveryMs: 120_000,
    schedules: [{ name: 'Restart', everyMs: 6 * 3_600_000 }],
  },
  {
    name: 'creative',
    profile: 'steady',
    egg: 'Paper',
    players: { max: 20 },
    limits: { memory: 4 * GIB, disk: 20 * GIB, cpu: 200 },
  },
  {
    name: 'skyblock',
    profile: 'steady',
    egg: 'Purpur',
    players: { max: 30 },
    limits: { memory: 4 * GIB, disk: 15 * GIB, cpu: 200 },
  },
  {
    name: 'lobby',
    profile: 'idle',
    egg: 'Velocity',
    players: { max: 100 },
    limits: { memory: GIB, disk: 5 * GIB, cpu: 100 },
  },
  {
    name: 'modded-beta',
    profile: 'crashing',
    egg: 'Forge',
    players: { max: 16 },
    limits: { memory: 10 * GIB, disk: 60 * GIB, cpu: 400 },
    crashEveryMs: 90_000,
    death: { code: 1 },
  },
  {
    name: 'valheim-1',
    profile: 'steady',
    egg: 'Valheim',
    limits: { memory: 4 * GIB, disk: 10 * GIB, cpu: 200 },
    crashEveryMs: 300_000,
    death: 'disk full',
  },
  {
    name: 'valheim-2',
    profile: 'idle',
    egg: 'Valheim',
    limits: { memory: 4 * GIB, disk: 10 * GIB, cpu: 200 },
    // Players stop it in the game, and its node restarts it.
    crashEveryMs: 420_000,
    death: { code: 0 },
  },
  {
    name: 'rust-weekly',
    profile: 'busy',
    egg: 'Rust',
    limits: { memory: 16 * GIB, disk: 50 * GIB, cpu: 0 },
    crashEveryMs: 600_000,
    death: { code: 137, outOfMemory: true },
  },
  {
    name: 'factorio',
    profile: 'steady',
    egg: 'Factorio',
    limits: { memory: 2 * GIB, disk: 8 * GIB, cpu: 150 },
    // It crashes twice within a minute, so its node gives up restarting it.
    crashEveryMs: 45_000,
    death: { code: 139 },
  },
  { name: 'terraria', profile: 'idle', egg: 'Terraria', limits: { memory: 0, disk: 0, cpu: 0 } },
  {
    name: 'event-arena',
    profile: 'offline',
    egg: 'Paper',
    players: { max: 60 },
    limits: { memory: 6 * GIB, disk: 20 * GIB, cpu: 300 },
  },
  { name: 'old-season', profile: 'suspended', egg: 'Paper', limits: { memory: 4 * GIB, disk: 20 * GIB } },
];

const MIX: readonly ProfileName[] = ['steady', 'busy', 'idle', 'steady', 'idle', 'steady', 'steady', 'idle'];

/**
 * Any number of servers: first the twelve of the demo, then numbered ones with various profiles.
 */
export function mixedServers(count: number): ServerSpec[] {
  const more = Array.from({ length: Math.max(0, count - DEMO_SERVERS.length) }, (_, index) => ({
    name: `server-${index + DEMO_SERVERS.length + 1}`,
    profile: MIX[index % MIX.length] ?? 'steady',
  }));
  return [...DEMO_SERVERS.slice(0, count), ...more];
}

/**
 * Any number of identical running servers, by default without console output. They are used if the
 * options contain a number.
 */
export function steadyServers(count: number, consoleLinesPerSecond = 0): ServerSpec[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `server-${index + 1}`,
    profile: 'steady',
    consoleLinesPerSecond,
  }));
}
