import type { ServerEvent, ServerEventFields } from '../domain/log.ts';
import type { CauseCode } from '../domain/problem.ts';

export const EVENT_LEVELS = ['info', 'warn', 'error'] as const;
export type EventLevel = (typeof EVENT_LEVELS)[number];

/** A log line about one server, as its session wrote it. */
export interface EventLine {
  readonly level: EventLevel;
  readonly fields: ServerEventFields;
  readonly message: string;
}

/** Which lines are logged immediately. */
export interface DigestPolicy {
  /** The most immediate lines a minute. */
  readonly atOnce: number;
  /** `kind` logs only the first event of each kind, `event` logs each event up to the maximum. */
  readonly each: 'kind' | 'event';
}

/** Servers that had the same event since the last summary. */
export interface EventGroup {
  readonly level: EventLevel;
  readonly event: ServerEvent;
  /** The event that ended it meanwhile, if any. */
  readonly end: ServerEvent | undefined;
  readonly cause: CauseCode | undefined;
  readonly servers: number;
  readonly events: number;
  /** The first few names. */
  readonly names: readonly string[];
  /** The number of affected servers for each node. */
  readonly nodes: ReadonlyMap<string, number>;
}

/** What was held back: a single unchanged line, or groups, the most severe and largest first. */
export type Digest =
  | { readonly type: 'line'; readonly line: EventLine }
  | { readonly type: 'groups'; readonly groups: readonly EventGroup[]; readonly events: number };

/** A kind of event that was not seen for this long is new again; immediate lines older than this no longer count. */
const WINDOW_MS = 60_000;

/** How long a summary waits for more events: until none has come for `quietMs`, or until its first event is `longestMs` old. */
interface Wait {
  readonly quietMs: number;
  readonly longestMs: number;
}

/** Trouble is summarized soon, everything else once it is complete. */
const FOR_TROUBLE: Wait = { quietMs: 5_000, longestMs: 10_000 };
const FOR_THE_REST: Wait = { quietMs: 20_000, longestMs: 120_000 };

/** A longer wait is enough for facts, for servers that have yet to recover, and after a first summary. */
const LONG_QUIET_MS = 60_000;
const LATER_SUMMARY_MS = 600_000;

/** When this many servers are in trouble, events that follow for them within the window belong to the same incident. */
const INCIDENT_SERVERS = 4;
const INCIDENT_MS = 300_000;

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

/** What is held back for one server. */
interface Held {
  readonly first: EventLine;
  latest: EventLine;
  /** The newest trouble that has not been logged. */
  trouble: EventLine | undefined;
  level: EventLevel;
  events: number;
}

/** Decides which events are logged immediately and digests the others; pure, on the instants passed in. */
export class EventDigest {
  readonly #policy: DigestPolicy;
  /** By server. */
  #held = new Map<string, Held>();
  /** When each kind of event was last seen. */
  readonly #seenAt = new Map<string, number>();
  /** When each server in trouble last had an event; the least recent first. */
  readonly #troubled = new Map<string, number>();
  /** When there were last enough servers in trouble for an incident. */
  #incidentAt = Number.NEGATIVE_INFINITY;
  #loggedAt: readonly number[] = [];
  #lastAt = Number.NEGATIVE_INFINITY;
  #heldSince = 0;
  #heldAt = 0;
  #isUrgent = false;
  /** Only facts are held back. */
  #hasOnlyFacts = true;
  #summedUpAt = Number.NEGATIVE_INFINITY;
  #hasSummary = false;

  constructor(policy: DigestPolicy) {
    this.#policy = policy;
  }

  /** When the next summary is due; undefined while nothing is held back. */
  get dueAt(): number | undefined {
    if (this.#held.size === 0) return undefined;
    const { quietMs, longestMs } = this.#wait;
    return Math.max(
      this.#summedUpAt + WINDOW_MS,
      Math.min(this.#heldAt + quietMs, this.#heldSince + longestMs),
    );
  }

  /** Adds an event; true if it is to be logged immediately. */
  add(line: EventLine, now: number): boolean {
    if (now - this.#lastAt >= INCIDENT_MS) this.#hasSummary = false;
    this.#lastAt = now;
    for (const [server, at] of this.#troubled) {
      if (now - at < INCIDENT_MS) break;
      this.#troubled.delete(server);
    }
    const isAtOnce = this.#isAtOnce(line, now);
    const { server_id: server } = line.fields;
    this.#troubled.delete(server);
    if (isTrouble(line)) this.#troubled.set(server, now);
    if (this.#troubled.size >= INCIDENT_SERVERS) this.#incidentAt = now;
    if (isAtOnce) this.#loggedAt = [...this.#loggedAt, now];
    this.#note(line, now, isAtOnce);
    return isAtOnce;
  }

  /** The recovery of the panel was logged, so the recovery of its servers is no news. */
  recoveryLogged(now: number): void {
    for (const event of ['streaming_again', 'polling_again'] as const) this.#seenAt.set(event, now);
  }

  /** Drops what is held back about a server that is no longer observed. */
  forget(server: string): void {
    this.#troubled.delete(server);
    if (this.#held.delete(server) && this.#held.size === 0) this.#clear();
  }

  /** Returns what was held back and clears it; undefined if nothing was. */
  take(now: number): Digest | undefined {
    const held = [...this.#held.values()];
    const [first] = held;
    if (first === undefined) return undefined;
    this.#clear();
    this.#summedUpAt = now;
    this.#hasSummary = true;
    if (held.length === 1 && first.events === 1 && first.latest === first.first)
      return { type: 'line', line: first.first };
    const events = held.reduce((sum, one) => sum + one.events, 0);
    return { type: 'groups', groups: groupsOf(held), events };
  }

  #clear(): void {
    this.#held = new Map();
    this.#isUrgent = false;
    this.#hasOnlyFacts = true;
  }

  get #wait(): Wait {
    if (this.#isUrgent) return FOR_TROUBLE;
    return {
      quietMs: this.#troubled.size > 0 || this.#hasOnlyFacts ? LONG_QUIET_MS : FOR_THE_REST.quietMs,
      longestMs: this.#hasSummary ? LATER_SUMMARY_MS : FOR_THE_REST.longestMs,
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
    const isSameIncident =
      TROUBLE.has(event) && now - this.#incidentAt < INCIDENT_MS && this.#troubled.has(server);
    return now - seenAt >= WINDOW_MS && !isSameIncident;
  }

  /** A line that is logged immediately is held back only for what it says about the end of the server's trouble. */
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
    // A fallback is not urgent, because the server is observed again by polling.
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

/** A fact such as a suspension is not trouble: it can wait, and nobody waits for its end. */
function isTrouble({ level, fields: { event } }: EventLine): boolean {
  return TROUBLE.has(event) && (event !== 'blocked' || level !== 'info');
}

/** Groups the servers by what happened, why, and how it ended. */
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
