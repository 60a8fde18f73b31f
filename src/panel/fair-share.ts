/**
 * What a call is for. `probe` and `tokenProbe` find out whether the panel is of use at all; `learn` asks for one server's resources to
 * learn the panel's limit; `firstListing` asks for a page of the listing before the listing was ever read completely; `retry` asks for
 * the credentials of a server whose console socket failed or was refused several times.
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

/** The kinds that share one guaranteed part of the rate. */
export const LANES = ['socket', 'poll', 'listing', 'backups', 'retry'] as const;
export type Lane = (typeof LANES)[number];

/** Each lane's part of the rate; together they are at most 1. */
export type Shares = Readonly<Record<Lane, number>>;

/** Until there is a plan. */
export const DEFAULT_SHARES: Shares = { socket: 0.5, poll: 0.28, listing: 0.1, backups: 0.1, retry: 0.02 };

/** The lane of each kind; probes have none, because there is one at a time and everything else waits for its result. */
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

/** Who takes a turn that is guaranteed to nobody: the first of these. */
const BY_PRIORITY: readonly CallKind[] = [
  'probe',
  'tokenProbe',
  'learn',
  'refresh',
  // Who there is to connect is known after a few of these; behind the connects they would wait for half an hour.
  'firstListing',
  'connect',
  'poll',
  'listing',
  'backups',
  'retry',
];

/** A lane that could not be served for long, as during a pause, catches up on this much at most. */
const MOST_BEHIND_MS = 5_000;

/** When each lane's next guaranteed turn is due, as monotonic instants. */
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
 * The kind of call that goes next; pure. A lane whose guaranteed turn is due goes first, the one that has been due for longest before
 * the others; turns that no lane is due for go by priority. A retry never goes before its turn: most of them are in vain. Undefined if
 * no kind of call may go now.
 */
export function nextKind(turns: LaneTurns, waiting: readonly CallKind[], now: number): CallKind | undefined {
  let chosen: CallKind | undefined;
  let chosenDueAt = Number.POSITIVE_INFINITY;
  for (const kind of BY_PRIORITY) {
    if (!waiting.includes(kind)) continue;
    const lane = LANE[kind];
    if (lane === undefined) return kind;
    // What isn't due yet goes by priority.
    const isDue = turns[lane] <= now;
    if (!isDue && kind === 'retry') continue;
    const dueAt = isDue ? turns[lane] : Number.MAX_VALUE;
    if (dueAt >= chosenDueAt) continue;
    chosen = kind;
    chosenDueAt = dueAt;
  }
  return chosen;
}

/** A lane without a waiting call has one now: what it didn't use before is lost. */
export function began(turns: LaneTurns, lane: Lane, now: number): LaneTurns {
  return turns[lane] >= now ? turns : { ...turns, [lane]: now };
}

/** The turns after a call of this lane started; `perMinute` is the rate that the lane is guaranteed. */
export function served(turns: LaneTurns, lane: Lane, perMinute: number, now: number): LaneTurns {
  const periodMs = 60_000 / perMinute;
  const dueAt = turns[lane];
  // A late turn doesn't put off those after it; a turn taken early counts as well.
  const next = dueAt <= now ? dueAt + periodMs : now + periodMs;
  return { ...turns, [lane]: Math.max(next, now - MOST_BEHIND_MS) };
}

/** Parts of the rate for calls a minute that were planned; what is left over goes to the sockets. */
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
