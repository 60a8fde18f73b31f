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
  /** Is this the drop that opens an episode, which the peer is told of? */
  readonly tell: boolean;
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
    const tell = !budget.throttled.has(event);
    const throttled = tell ? new Set([...budget.throttled, event]) : budget.throttled;
    return { budget: { tokens, at: now, recent, throttled }, accepted: false, tell, crashing };
  }
  const throttled = new Set([...budget.throttled].filter((name) => name !== event));
  return {
    budget: { tokens: tokens - 1, at: now, recent, throttled },
    accepted: true,
    tell: false,
    crashing,
  };
}
