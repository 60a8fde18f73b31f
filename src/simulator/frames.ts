import type { GameUsage } from './game-server.ts';
import type { Random } from './random.ts';
import type { GameState } from './schema.ts';
import type { Settings } from './settings.ts';

/** A frame's text: `args` is left out where there are none. */
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

/** What a client sent, as far as it can be read; undefined for anything that is no event. */
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

/** Frames of more bytes than this are dropped unread. */
export const MAX_FRAME_BYTES = 4_096;
/** More frames than this within a second have crashed real daemons. */
export const CRASHING_BURST = 10;

/** What a socket's peer has sent of late. */
export interface FrameBudget {
  readonly tokens: number;
  readonly at: number;
  /** Arrival times within the last second, oldest first. */
  readonly recent: readonly number[];
  /** Events that are in an episode of throttling. */
  readonly throttled: ReadonlySet<string>;
}

/** The verdict on one frame. */
export interface FrameVerdict {
  readonly budget: FrameBudget;
  readonly accepted: boolean;
  /** Is this the first dropped frame of an episode? The peer is notified of that one only. */
  readonly notify: boolean;
  /** Is this the frame that would have crashed a real daemon? */
  readonly crashing: boolean;
}

export function newFrameBudget(burst: number, now: number): FrameBudget {
  return { tokens: burst, at: now, recent: [], throttled: new Set() };
}

/** Takes or drops one frame: a token bucket per socket, an episode per event name. */
export function admitFrame(
  budget: FrameBudget,
  event: string,
  now: number,
  limits: { readonly framesPerSecond: number; readonly frameBurst: number },
): FrameVerdict {
  const recent = [...budget.recent.filter((at) => now - at < 1_000), now];
  // Only the frame that crosses the line counts, so one burst is one crash.
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
