import type { GameUsage } from './game-server.ts';
import type { Random } from './random.ts';
import type { GameState } from './schema.ts';
import type { Settings } from './settings.ts';

/** The text of a frame; `args` is omitted if it is empty. */
export function eventFrame(event: string, args: readonly string[], trailingNewline: boolean): string {
  const text = JSON.stringify(args.length === 0 ? { event } : { event, args });
  return trailingNewline ? `${text}\n` : text;
}

/** The `stats` payload as text. */
export function statsPayload(
  state: GameState,
  usage: GameUsage,
  extras: Pick<Settings, 'statsDiskIo' | 'statsUptime' | 'statsShuffleKeys'>,
  random: Random,
): string {
  const payload = {
    memory_bytes: usage.memoryBytes,
    memory_limit_bytes: usage.memoryLimitBytes,
    cpu_absolute: usage.cpuAbsolute,
    network: { rx_bytes: usage.rxBytes, tx_bytes: usage.txBytes },
    ...(extras.statsDiskIo && {
      disk_io: { read_bytes: usage.readBytes, write_bytes: usage.writtenBytes },
    }),
    ...(extras.statsUptime && { uptime: usage.uptimeMs }),
    state,
    disk_bytes: usage.diskBytes,
  };
  return JSON.stringify(extras.statsShuffleKeys ? shuffled(payload, random) : payload);
}

function shuffled(payload: object, random: Random): object {
  const ranked = Object.entries(payload).map((entry) => ({ entry, rank: random() }));
  return Object.fromEntries(ranked.sort((a, b) => a.rank - b.rank).map(({ entry }) => entry));
}

/** A client's message, as far as it is valid; undefined for anything that isn't an event. */
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

/** Larger frames are dropped unread, in bytes. */
export const MAX_FRAME_BYTES = 4_096;
/** More frames per second than this have crashed real daemons. */
export const CRASHING_BURST = 10;

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
  /** Whether this is the first dropped frame of an episode; the peer is notified only of that one. */
  readonly notify: boolean;
  /** Whether this frame would have crashed a real daemon. */
  readonly crashing: boolean;
}

export function newFrameBudget(burst: number, now: number): FrameBudget {
  return { tokens: burst, at: now, recent: [], throttled: new Set() };
}

/** Accepts or drops one frame: one token bucket per socket, one throttling episode per event name. */
export function admitFrame(
  budget: FrameBudget,
  event: string,
  now: number,
  limits: { readonly framesPerSecond: number; readonly frameBurst: number },
): FrameVerdict {
  const recent = [...budget.recent.filter((at) => now - at < 1_000), now];
  // Only the frame that crosses the threshold counts, so one burst is one crash.
  const crashing = recent.length === CRASHING_BURST + 1;
  const refill = ((now - budget.at) / 1_000) * limits.framesPerSecond;
  const tokens = Math.min(limits.frameBurst, budget.tokens + refill);
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
