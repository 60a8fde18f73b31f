// The WebSocket frames of a simulated node.

import type { GameUsage } from './game-server.ts';
import type { GameState } from './simulator-schema.ts';
import type { SimulatorSettings } from './simulator-settings.ts';

/** The text of a frame; `args` is omitted if it is empty, except by Calagopus' daemon. */
export function eventFrame(event: string, args: readonly string[], hasArgs = false): string {
  return JSON.stringify(args.length === 0 && !hasArgs ? { event } : { event, args });
}

/**
 * A server's resources in the format of Calagopus and its daemon
 * (application/src/server/resources.rs of calagopus/wings).
 */
export function resourceUsage(state: GameState, usage: GameUsage): object {
  return {
    memory_bytes: usage.memoryBytes,
    memory_limit_bytes: usage.memoryLimitBytes,
    disk_bytes: usage.diskBytes,
    state,
    network: { rx_bytes: usage.rxBytes, rx_packets: 0, tx_bytes: usage.txBytes, tx_packets: 0 },
    cpu_absolute: usage.cpuAbsolute,
    cpu_limit_absolute: 0,
    uptime: usage.uptimeMs,
  };
}

/** The `stats` payload as text. */
export function statsPayload(
  state: GameState,
  usage: GameUsage,
  { panel, statsDiskIo }: Pick<SimulatorSettings, 'panel' | 'statsDiskIo'>,
): string {
  if (panel === 'calagopus') return JSON.stringify(resourceUsage(state, usage));
  return JSON.stringify({
    memory_bytes: usage.memoryBytes,
    memory_limit_bytes: usage.memoryLimitBytes,
    cpu_absolute: usage.cpuAbsolute,
    network: { rx_bytes: usage.rxBytes, tx_bytes: usage.txBytes },
    ...(statsDiskIo && { disk_io: { read_bytes: usage.readBytes, write_bytes: usage.writtenBytes } }),
    uptime: usage.uptimeMs,
    state,
    disk_bytes: usage.diskBytes,
  });
}

/** A client's message as far as it is valid; undefined if it isn't an event. */
export function parseClientFrame(text: string): { event: string; args: unknown[] } | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { event, args } = value as { event?: unknown; args?: unknown };
  if (typeof event !== 'string') return undefined;
  return { event, args: Array.isArray(args) ? args : [] };
}

/** Larger frames are dropped unread; in bytes. */
export const MAX_CLIENT_FRAME_BYTES = 4_096;
/** More frames per second than this have crashed real daemons. */
export const CRASHING_BURST = 10;

/** How many frames a node accepts from one socket. */
export interface FrameLimits {
  readonly perSecond: number;
  readonly burst: number;
}

export const FRAME_LIMITS: FrameLimits = { perSecond: 2, burst: 4 };
/** Daemons limit commands separately from all other frames. */
export const COMMAND_LIMITS: FrameLimits = { perSecond: 1, burst: 10 };

/** The recent frames of a socket's peer. */
export interface FrameBudget {
  readonly tokens: number;
  readonly at: number;
  /** Arrival times within the last second, oldest first. */
  readonly recent: readonly number[];
  /** Events that are currently being throttled. */
  readonly throttled: ReadonlySet<string>;
}

/** The decision about one frame. */
export interface FrameVerdict {
  readonly budget: FrameBudget;
  readonly accepted: boolean;
  /**
   * Whether this is the first dropped frame of an episode; the peer is notified only of that one.
   */
  readonly notify: boolean;
  /** Whether this frame would have crashed a real daemon. */
  readonly crashing: boolean;
}

export function newFrameBudget({ burst }: FrameLimits, now: number): FrameBudget {
  return { tokens: burst, at: now, recent: [], throttled: new Set() };
}

/**
 * Accepts or drops one frame: one token bucket per socket, one throttling episode per event name.
 */
export function admitFrame(
  budget: FrameBudget,
  event: string,
  now: number,
  limits: FrameLimits,
): FrameVerdict {
  const recent = [...budget.recent.filter((at) => now - at < 1_000), now];
  // Only the frame that crosses the threshold counts, so one burst is one crash.
  const crashing = recent.length === CRASHING_BURST + 1;
  const refill = ((now - budget.at) / 1_000) * limits.perSecond;
  const tokens = Math.min(limits.burst, budget.tokens + refill);
  if (tokens < 1) {
    const notify = !budget.throttled.has(event);
    const throttled = notify ? new Set([...budget.throttled, event]) : budget.throttled;
    return { budget: { tokens, at: now, recent, throttled }, accepted: false, notify, crashing };
  }
  const throttled = new Set([...budget.throttled].filter((name) => name !== event));
  return {
    budget: { tokens: tokens - 1, at: now, recent, throttled },
    accepted: true,
    notify: false,
    crashing,
  };
}
