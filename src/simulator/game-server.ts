// The states of a simulated game server, as a pure function of its events and the time.

import { MIB } from '../domain/units.ts';
import type { ServerProfile } from './profiles.ts';
import type { Random } from './random.ts';
import type { GameState, PowerCommand, UsagePin } from './simulator-schema.ts';

/**
 * A server's resource usage. Counters start with the server, and 100 in `cpuAbsolute` is one core.
 */
export interface GameUsage {
  readonly memoryBytes: number;
  readonly memoryLimitBytes: number;
  readonly cpuAbsolute: number;
  readonly diskBytes: number;
  readonly rxBytes: number;
  readonly txBytes: number;
  readonly readBytes: number;
  readonly writtenBytes: number;
  readonly uptimeMs: number;
}

/** An event that a server causes by itself at an instant. */
interface DueEvent {
  readonly at: number;
  readonly event: 'up' | 'fail' | 'abort' | 'down' | 'again' | 'revive' | 'retry';
}

/** One game server at one instant. Instants are in milliseconds of the same clock. */
export interface GameServer {
  readonly state: GameState;
  readonly startedAt: number;
  readonly usageAt: number;
  readonly usage: GameUsage;
  readonly due: DueEvent | undefined;
}

/** Properties of a server that don't change. */
export interface GameServerTraits {
  readonly profile: ServerProfile;
  readonly memoryLimitBytes: number;
  readonly startMs: number;
  readonly stopMs: number;
  /** Milliseconds until a crashed server starts again; undefined if it stays down. */
  readonly reviveMs: number | undefined;
  /** Whether its next start fails. */
  readonly startFails: boolean;
  /** Whether a kill leads from any state to `offline`, without `stopping`. */
  readonly killsSilently: boolean;
}

/**
 * An event of a server: a requested power action, a crash, or a due event that it causes itself.
 */
export type GameEvent = PowerCommand | 'crash' | 'due';

/** A server after an event, and the states that it passed through, in order. */
export interface GameStep {
  readonly server: GameServer;
  readonly passed: readonly GameState[];
}

/** The usage of a server that is off: zeros except for the last memory limit and the disk. */
export function usageWhenOff(last: Pick<GameUsage, 'memoryLimitBytes' | 'diskBytes'>): GameUsage {
  return {
    memoryBytes: 0,
    memoryLimitBytes: last.memoryLimitBytes,
    cpuAbsolute: 0,
    diskBytes: last.diskBytes,
    rxBytes: 0,
    txBytes: 0,
    readBytes: 0,
    writtenBytes: 0,
    uptimeMs: 0,
  };
}

/** A server that was never started. Its memory limit is 0 as well. */
export function newServer(diskBytes: number, now: number): GameServer {
  return {
    state: 'offline',
    startedAt: now,
    usageAt: now,
    usage: usageWhenOff({ memoryLimitBytes: 0, diskBytes }),
    due: undefined,
  };
}

/** A server that has been running for `uptimeMs`, with matching counters. */
export function runningServer(
  diskBytes: number,
  now: number,
  uptimeMs: number,
  traits: GameServerTraits,
): GameServer {
  const startedAt = now - uptimeMs;
  const fresh = start(newServer(diskBytes, startedAt), startedAt, traits);
  return advance({ ...fresh, state: 'running', due: undefined }, now, traits.profile, () => 0.5);
}

type Handler = (server: GameServer, now: number, traits: GameServerTraits) => GameStep;

const EVENTS: Readonly<Record<GameEvent, Handler>> = {
  start: (server, now, traits) =>
    server.state === 'offline' ? starting(server, now, traits) : unchanged(server),
  stop: (server, now, traits) => stop(server, { at: now + traits.stopMs, event: 'down' }),
  restart: (server, now, traits) =>
    server.state === 'offline'
      ? starting(server, now, traits)
      : stop(server, { at: now + traits.stopMs, event: 'again' }),
  kill: (server, now, { killsSilently }) => {
    if (server.state === 'offline') return unchanged({ ...server, due: undefined });
    const isShown = server.state !== 'stopping' && !killsSilently;
    const passed: GameState[] = isShown ? ['stopping', 'offline'] : ['offline'];
    return { server: off(server, now), passed };
  },
  crash: (server, now, { reviveMs }) => {
    if (server.state === 'offline') return unchanged(server);
    const due: DueEvent | undefined =
      reviveMs === undefined
        ? undefined
        : { at: now + reviveMs, event: server.state === 'starting' ? 'retry' : 'revive' };
    return { server: { ...off(server, now), due }, passed: ['offline'] };
  },
  due: (server, now, traits) =>
    server.due === undefined || now < server.due.at
      ? unchanged(server)
      : DUE[server.due.event](server, now, traits),
};

const DUE: Readonly<Record<DueEvent['event'], Handler>> = {
  up: (server) => ({ server: { ...server, state: 'running', due: undefined }, passed: ['running'] }),
  // A daemon sets `stopping` and `offline` before it publishes either, so its crash detection sees
  // a crash.
  fail: (server, now, traits) => EVENTS.crash(server, now, traits),
  down: (server, now) => ({ server: off(server, now), passed: ['offline'] }),
  again: (server, now, traits) => {
    const step = starting(off(server, now), now, traits);
    return { ...step, passed: ['offline', ...step.passed] };
  },
  revive: (server, now, traits) => starting(server, now, traits, 'abort'),
  retry: (server, now, traits) => starting(server, now, traits),
  // If a restart after a crash fails, the daemon publishes both states.
  abort: (server, now) => ({ server: off(server, now), passed: ['stopping', 'offline'] }),
};

/** The server after an event; the same object if the event has no effect in its state. */
export function applyEvent(
  server: GameServer,
  event: GameEvent,
  now: number,
  traits: GameServerTraits,
): GameStep {
  return EVENTS[event](server, now, traits);
}

function unchanged(server: GameServer): GameStep {
  return { server, passed: [] };
}

function starting(
  server: GameServer,
  now: number,
  traits: GameServerTraits,
  failure: 'fail' | 'abort' = 'fail',
): GameStep {
  return { server: start(server, now, traits, failure), passed: ['starting'] };
}

function stop(server: GameServer, due: DueEvent): GameStep {
  // A stop request for a crashed server cancels its restart.
  if (server.state === 'offline') return unchanged({ ...server, due: undefined });
  if (server.state === 'stopping') return unchanged(server);
  return { server: { ...server, state: 'stopping', due }, passed: ['stopping'] };
}

function start(
  server: GameServer,
  now: number,
  traits: GameServerTraits,
  failure: 'fail' | 'abort' = 'fail',
): GameServer {
  return {
    state: 'starting',
    startedAt: now,
    usageAt: now,
    usage: { ...usageWhenOff(server.usage), memoryLimitBytes: traits.memoryLimitBytes },
    due: { at: now + traits.startMs, event: traits.startFails ? failure : 'up' },
  };
}

function off(server: GameServer, now: number): GameServer {
  return { ...server, state: 'offline', usageAt: now, usage: usageWhenOff(server.usage), due: undefined };
}

/** The maximum memory usage of a game, even without a memory limit. */
const MOST_MEMORY_BYTES = 16_384 * MIB;

/** The server at a later instant. Its usage varies around the values in its profile. */
export function advance(server: GameServer, now: number, profile: ServerProfile, random: Random): GameServer {
  if (server.state === 'offline') return server;
  const seconds = Math.max(0, now - server.usageAt) / 1_000;
  const swing = 2 * random() - 1;
  // Traffic varies by ±20 %, in phase with the load.
  const pace = seconds * (1 + 0.2 * swing);
  const { usage } = server;
  return {
    ...server,
    usageAt: now,
    usage: {
      memoryBytes: Math.round(
        Math.min(usage.memoryLimitBytes, MOST_MEMORY_BYTES) * profile.memory * (1 + 0.02 * swing),
      ),
      memoryLimitBytes: usage.memoryLimitBytes,
      cpuAbsolute: Math.round(1_000 * Math.max(0, profile.cpu + profile.cpuSwing * swing)) / 1_000,
      diskBytes: usage.diskBytes,
      rxBytes: usage.rxBytes + Math.round(profile.rxPerSecond * pace),
      txBytes: usage.txBytes + Math.round(profile.txPerSecond * pace),
      readBytes: usage.readBytes + Math.round(profile.readPerSecond * pace),
      writtenBytes: usage.writtenBytes + Math.round(profile.writtenPerSecond * pace),
      uptimeMs: Math.max(0, Math.round(now - server.startedAt)),
    },
  };
}

/** Whether this run has lasted as long as its profile allows. */
export function diesNow(server: GameServer, now: number, crashEveryMs: number | undefined): boolean {
  return crashEveryMs !== undefined && server.state === 'running' && now - server.startedAt >= crashEveryMs;
}

/** The usage that a server reports, including pinned values. */
export function reported(usage: GameUsage, pin: UsagePin | undefined): GameUsage {
  if (pin === undefined) return usage;
  const fixed = Object.entries(pin).filter(([, value]) => value !== undefined);
  return { ...usage, ...(Object.fromEntries(fixed) as Partial<GameUsage>) };
}
