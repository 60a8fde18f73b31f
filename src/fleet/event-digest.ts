import type { ServerEvent, ServerEventFields } from '../domain/log.ts';
import type { CauseCode } from '../domain/problem.ts';

export const EVENT_LEVELS = ['info', 'warn', 'error'] as const;
export type EventLevel = (typeof EVENT_LEVELS)[number];

/** A line about one server, as its session wrote it. */
export interface EventLine {
  readonly level: EventLevel;
  readonly fields: ServerEventFields;
  readonly message: string;
}

/** Which lines are written as they come. */
export interface DigestPolicy {
  /** So many a minute at most. */
  readonly atOnce: number;
  /** The first of each kind only, or each until there were as many. */
  readonly each: 'kind' | 'event';
}

/** Servers to which the same happened since the last summary. */
export interface EventGroup {
  readonly level: EventLevel;
  readonly event: ServerEvent;
  /** How it ended meanwhile, if it did. */
  readonly end: ServerEvent | undefined;
  readonly cause: CauseCode | undefined;
  readonly servers: number;
  readonly events: number;
  /** The first few. */
  readonly names: readonly string[];
  /** How many of the servers each node has. */
  readonly nodes: ReadonlyMap<string, number>;
}

/** What was held back: one line as it was, or groups, the gravest and largest first. */
export type Digest =
  | { readonly type: 'line'; readonly line: EventLine }
  | { readonly type: 'groups'; readonly groups: readonly EventGroup[]; readonly events: number };

/** Kinds that were not seen for so long are new, and what was logged at once so long ago no longer counts. */
const WINDOW_MS = 60_000;

/** How long a summary waits for more: until nothing came for so long, or the first event that it tells of is so old. */
interface Patience {
  readonly quietMs: number;
  readonly longestMs: number;
}

/** Trouble is told soon, all else once it is complete. */
const FOR_TROUBLE: Patience = { quietMs: 5_000, longestMs: 10_000 };
const FOR_NEWS: Patience = { quietMs: 20_000, longestMs: 120_000 };

/** While servers are yet to recover, for facts, and once there was a summary, less often is enough. */
const FOR_STRAGGLERS_MS = 60_000;
const FOR_MORE_MS = 600_000;

/** With so many servers in trouble, what follows for each of them within so long is the same story. */
const CROWD = 4;
const STORY_MS = 300_000;

export const SERVERS_NAMED = 3;

const TROUBLE: ReadonlySet<ServerEvent> = new Set([
  'closed',
  'failing',
  'fallback',
  'blocked',
  'crashed',
  'out_of_memory',
  'disk_full',
  'query_failed',
]);

/** What is held back of one server. */
interface Held {
  readonly first: EventLine;
  latest: EventLine;
  /** The newest trouble that no line told of. */
  trouble: EventLine | undefined;
  level: EventLevel;
  events: number;
}

/** Decides which events are logged as they come, and digests the others; pure, on the instants that it is given. */
export class EventDigest {
  readonly #policy: DigestPolicy;
  /** By server. */
  #held = new Map<string, Held>();
  /** When each kind was last seen. */
  readonly #seenAt = new Map<string, number>();
  /** When something last happened to each server that is in trouble; the one that waits longest comes first. */
  readonly #troubled = new Map<string, number>();
  /** When there was last a crowd of them. */
  #crowdAt = Number.NEGATIVE_INFINITY;
  #loggedAt: readonly number[] = [];
  #lastAt = Number.NEGATIVE_INFINITY;
  #heldSince = 0;
  #heldAt = 0;
  #isUrgent = false;
  /** Nothing but facts is held back. */
  #hasOnlyFacts = true;
  #summedUpAt = Number.NEGATIVE_INFINITY;
  #hasSummary = false;

  constructor(policy: DigestPolicy) {
    this.#policy = policy;
  }

  /** When the next summary is due; undefined while nothing is held back. */
  get dueAt(): number | undefined {
    if (this.#held.size === 0) return undefined;
    const { quietMs, longestMs } = this.#patience;
    return Math.max(
      this.#summedUpAt + WINDOW_MS,
      Math.min(this.#heldAt + quietMs, this.#heldSince + longestMs),
    );
  }

  /** Takes in an event; true if it is to be logged at once. */
  add(line: EventLine, now: number): boolean {
    if (now - this.#lastAt >= STORY_MS) this.#hasSummary = false;
    this.#lastAt = now;
    for (const [server, at] of this.#troubled) {
      if (now - at < STORY_MS) break;
      this.#troubled.delete(server);
    }
    const isAtOnce = this.#isAtOnce(line, now);
    const { server_id: server } = line.fields;
    this.#troubled.delete(server);
    if (isTrouble(line)) this.#troubled.set(server, now);
    if (this.#troubled.size >= CROWD) this.#crowdAt = now;
    if (isAtOnce) this.#loggedAt = [...this.#loggedAt, now];
    this.#note(line, now, isAtOnce);
    return isAtOnce;
  }

  /** The recovery of the panel was logged: that of its servers is no news. */
  recoveryLogged(now: number): void {
    for (const event of ['streaming_again', 'polling_again'] as const) this.#seenAt.set(event, now);
  }

  /** What was held back, which is forgotten then; undefined if nothing was. */
  take(now: number): Digest | undefined {
    const held = [...this.#held.values()];
    const [first] = held;
    if (first === undefined) return undefined;
    this.#held = new Map();
    this.#isUrgent = false;
    this.#hasOnlyFacts = true;
    this.#summedUpAt = now;
    this.#hasSummary = true;
    if (held.length === 1 && first.events === 1 && first.latest === first.first)
      return { type: 'line', line: first.first };
    const events = held.reduce((sum, one) => sum + one.events, 0);
    return { type: 'groups', groups: groupsOf(held), events };
  }

  get #patience(): Patience {
    if (this.#isUrgent) return FOR_TROUBLE;
    return {
      quietMs: this.#troubled.size > 0 || this.#hasOnlyFacts ? FOR_STRAGGLERS_MS : FOR_NEWS.quietMs,
      longestMs: this.#hasSummary ? FOR_MORE_MS : FOR_NEWS.longestMs,
    };
  }

  #isAtOnce({ fields }: EventLine, now: number): boolean {
    const { event, cause, server_id: server } = fields;
    const kind = TROUBLE.has(event) && cause !== undefined ? `${event} ${cause}` : event;
    const seenAt = this.#seenAt.get(kind) ?? Number.NEGATIVE_INFINITY;
    this.#seenAt.set(kind, now);
    this.#loggedAt = this.#loggedAt.filter((at) => now - at < WINDOW_MS);
    const { atOnce, each } = this.#policy;
    if (this.#loggedAt.length >= atOnce) return false;
    if (each === 'event') return true;
    const isSameStory = TROUBLE.has(event) && now - this.#crowdAt < STORY_MS && this.#troubled.has(server);
    return now - seenAt >= WINDOW_MS && !isSameStory;
  }

  /** A line that is logged at once is held back no more than by what it says of the server's end. */
  #note(line: EventLine, now: number, isLogged: boolean): void {
    const { server_id: server, event } = line.fields;
    const held = this.#held.get(server);
    if (held !== undefined) {
      held.latest = line;
      if (TROUBLE.has(event)) held.trouble = line;
    }
    if (isLogged) return;
    if (this.#held.size === 0) this.#heldSince = now;
    this.#heldAt = now;
    // A server that is polled meanwhile is observed again.
    this.#isUrgent ||= isTrouble(line) && event !== 'fallback';
    this.#hasOnlyFacts &&= event === 'blocked' && !isTrouble(line);
    if (held === undefined) {
      const trouble = TROUBLE.has(event) ? line : undefined;
      this.#held.set(server, { first: line, latest: line, trouble, level: line.level, events: 1 });
      return;
    }
    held.events += 1;
    held.level = graver(held.level, line.level);
  }
}

/** A fact such as a suspension is no trouble: it can wait, and nobody waits for its end. */
function isTrouble({ level, fields: { event } }: EventLine): boolean {
  return TROUBLE.has(event) && (event !== 'blocked' || level !== 'info');
}

/** The servers by what happened to them, why, and how it ended. */
function groupsOf(held: readonly Held[]): readonly EventGroup[] {
  const groups = new Map<string, Held[]>();
  for (const one of held) {
    const { event, end, cause } = kindOf(one);
    const key = `${event} ${end ?? ''} ${cause ?? ''}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [one]);
    else group.push(one);
  }
  return [...groups.values()]
    .map(groupOf)
    .sort((one, other) => rank(other.level) - rank(one.level) || other.servers - one.servers);
}

function groupOf(held: readonly Held[]): EventGroup {
  const nodes = new Map<string, number>();
  for (const { latest } of held) {
    const { node } = latest.fields;
    if (node !== undefined) nodes.set(node, (nodes.get(node) ?? 0) + 1);
  }
  return {
    ...kindOf(held[0] as Held),
    level: held.map(({ level }) => level).reduce(graver),
    servers: held.length,
    events: held.reduce((sum, { events }) => sum + events, 0),
    names: held.slice(0, SERVERS_NAMED).map(({ latest }) => latest.fields.server),
    nodes,
  };
}

function kindOf({ latest, trouble }: Held): Pick<EventGroup, 'event' | 'end' | 'cause'> {
  const { event, cause } = latest.fields;
  if (trouble === undefined || TROUBLE.has(event)) return { event, end: undefined, cause };
  return { event: trouble.fields.event, end: event, cause: trouble.fields.cause };
}

const rank = (level: EventLevel) => EVENT_LEVELS.indexOf(level);

function graver(one: EventLevel, other: EventLevel): EventLevel {
  return rank(other) > rank(one) ? other : one;
}
