/**
 * What a call is for. `probe` and `tokenProbe` check whether the panel can serve any server; `learn` requests one server's
 * resources to learn the panel's limit; `firstListing` requests a page of the listing before the listing has been read completely
 * once; `retry` requests the credentials of a server whose console socket failed or was refused several times.
 */
export type CallKind =
  | 'probe'
  | 'tokenProbe'
  | 'learn'
  | 'refresh'
  | 'firstListing'
  | 'connect'
  | 'poll'
  | 'listing'
  | 'backups'
  | 'retry';

/** The groups of call kinds, each with a guaranteed share of the rate. */
export const LANES = ['socket', 'poll', 'listing', 'backups', 'retry'] as const;
export type Lane = (typeof LANES)[number];

/** Each lane's share of the rate; at most 1 in total. */
export type Shares = Readonly<Record<Lane, number>>;

/** Applies until there is a plan. */
export const DEFAULT_SHARES: Shares = { socket: 0.5, poll: 0.28, listing: 0.1, backups: 0.1, retry: 0.02 };

/** The lane of each kind; probes have none, because only one runs at a time and everything else waits for its result. */
const LANE: Readonly<Record<CallKind, Lane | undefined>> = {
  probe: undefined,
  tokenProbe: undefined,
  learn: undefined,
  refresh: 'socket',
  connect: 'socket',
  poll: 'poll',
  firstListing: 'listing',
  listing: 'listing',
  backups: 'backups',
  retry: 'retry',
};

/** The order in which kinds take turns that are guaranteed to no lane. */
const BY_PRIORITY: readonly CallKind[] = [
  'probe',
  'tokenProbe',
  'learn',
  'refresh',
  // A few of these reveal which servers to connect; behind the connects they would wait for half an hour.
  'firstListing',
  'connect',
  'poll',
  'listing',
  'backups',
  'retry',
];

/** A lane that could not be served for a while, for example during a pause, catches up on at most this much. */
const MAX_BEHIND_MS = 5_000;

/** When each lane's next guaranteed turn is due, in monotonic milliseconds. */
export type LaneTurns = Readonly<Record<Lane, number>>;

export const NO_TURNS: LaneTurns = {
  socket: Number.NEGATIVE_INFINITY,
  poll: Number.NEGATIVE_INFINITY,
  listing: Number.NEGATIVE_INFINITY,
  backups: Number.NEGATIVE_INFINITY,
  retry: Number.NEGATIVE_INFINITY,
};

export function laneOf(kind: CallKind): Lane | undefined {
  return LANE[kind];
}

/**
 * The kind of call that goes next; pure. A lane whose guaranteed turn is due goes first, the one due longest before the others;
 * turns for which no lane is due go by priority. A retry never goes before its turn, because most retries fail. Undefined if no
 * kind of call may go now.
 */
export function nextKind(turns: LaneTurns, waiting: readonly CallKind[], now: number): CallKind | undefined {
  let chosen: CallKind | undefined;
  let chosenDueAt = Number.POSITIVE_INFINITY;
  for (const kind of BY_PRIORITY) {
    if (!waiting.includes(kind)) continue;
    const lane = LANE[kind];
    if (lane === undefined) return kind;
    // Lanes that are not due yet go by priority.
    const isDue = turns[lane] <= now;
    if (!isDue && kind === 'retry') continue;
    const dueAt = isDue ? turns[lane] : Number.MAX_VALUE;
    if (dueAt >= chosenDueAt) continue;
    chosen = kind;
    chosenDueAt = dueAt;
  }
  return chosen;
}

/** The turns after a call arrived in an empty lane: turns that the lane didn't use before are lost. */
export function began(turns: LaneTurns, lane: Lane, now: number): LaneTurns {
  return turns[lane] >= now ? turns : { ...turns, [lane]: now };
}

/** The turns after a call of this lane started; `perMinute` is the lane's guaranteed rate. */
export function served(turns: LaneTurns, lane: Lane, perMinute: number, now: number): LaneTurns {
  const periodMs = 60_000 / perMinute;
  const dueAt = turns[lane];
  // A late turn doesn't delay the turns after it; a turn taken early counts as well.
  const next = dueAt <= now ? dueAt + periodMs : now + periodMs;
  return { ...turns, [lane]: Math.max(next, now - MAX_BEHIND_MS) };
}

/** Shares of the rate for the planned calls per minute; the remainder goes to the sockets. */
export function sharesOf(
  planned: Readonly<Record<Exclude<Lane, 'socket'>, number>>,
  perMinute: number,
): Shares {
  const wanted = planned.poll + planned.listing + planned.backups + planned.retry;
  const scale = wanted > perMinute ? perMinute / wanted : 1;
  const part = (calls: number) => (calls * scale) / perMinute;
  const others = {
    poll: part(planned.poll),
    listing: part(planned.listing),
    backups: part(planned.backups),
    retry: part(planned.retry),
  };
  return { ...others, socket: Math.max(0, 1 - wanted * (scale / perMinute)) };
}
