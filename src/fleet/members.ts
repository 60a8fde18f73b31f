// The servers of one panel, each with a record and a session.

import { INTERNAL_ERRORS } from '../domain/internal-errors.ts';
import type { KeptServer } from '../domain/kept-server.ts';
import type { Logger } from '../domain/logger.ts';
import type { ServerTarget } from '../domain/server.ts';
import type { PanelChange, PanelGateway } from '../panel/gateway.ts';
import { subjectNode } from '../panel/subjects.ts';
import { shownCauses } from '../session/condition.ts';
import { type PollIntervals, polledStalenessMs } from '../session/poll-state.ts';
import { Session } from '../session/session.ts';
import type {
  SessionContext,
  SessionRecord,
  SessionSettings,
  SocketAccess,
} from '../session/session-ports.ts';
import type { Surroundings } from '../session/surroundings.ts';
import { MemberIndex } from './member-index.ts';
import { MemberWalks } from './member-walks.ts';
import { isStreamed } from './needs.ts';
import { PanelSurroundings } from './panel-surroundings.ts';
import { PollPace } from './poll-pace.ts';
import { regroup } from './regroup.ts';
import { type RecordContext, ServerRecord, type Staleness } from './server-record.ts';
import { sessionLog } from './session-log.ts';
import { unknownStateLog } from './unknown-state-log.ts';

/** One server of a fleet. */
export interface Member {
  readonly record: ServerRecord;
  readonly session: Session;
}

/** How and how often servers are monitored. */
export type MembersSettings = SessionSettings & PollIntervals;

export interface MembersOptions extends Omit<SessionContext, 'panel' | 'log' | 'settings' | 'surroundings'> {
  readonly gateway: PanelGateway;
  readonly serverLog: Logger;
  /** Called when a discovered server's own calls show that it was deleted. */
  readonly deleted: () => void;
  /** Takes a server's state from before the exporter's restart. Each state can be taken once. */
  readonly kept?: ((target: ServerTarget) => KeptServer | undefined) | undefined;
}

/** The servers of one panel, with their sessions. */
export class Members {
  readonly #options: MembersOptions;
  readonly #surroundings: PanelSurroundings;
  readonly #recordContext: RecordContext;
  /** The context of all sessions, in which settings and access can be replaced. */
  readonly #sessions: { -readonly [Key in keyof SessionContext]: SessionContext[Key] };
  #members: readonly Member[] = [];
  /**
   * The servers in the order of the list; a new array whenever the list or a server's description
   * changed.
   */
  records: readonly ServerRecord[] = [];
  /** The members with running sessions. */
  readonly #begun = new Set<Member>();
  /** The same members, by the facts in events. */
  readonly #index = new MemberIndex();
  readonly #walks: MemberWalks<Member>;
  /** Removed sessions whose sockets are closing. */
  readonly #closing = new Set<Promise<void>>();
  /** The servers that may have a socket; undefined if all may. */
  #withRoom: ReadonlySet<SessionRecord> | undefined;
  readonly #pace: PollPace;
  /** Shared by all servers, because each frame reads it. */
  #staleness: Staleness;
  #hasBegun = false;

  constructor(settings: MembersSettings, options: MembersOptions) {
    const { gateway, serverLog } = options;
    this.#options = options;
    this.#recordContext = {
      clock: options.clock,
      log: serverLog,
      deleted: options.deleted,
      unknownState: unknownStateLog(serverLog),
    };
    this.#pace = new PollPace(settings, { ...options, members: this.#index });
    this.#staleness = staleAfter(settings);
    this.#surroundings = new PanelSurroundings(options);
    const surroundings = this.surroundings.bind(this);
    const shown = (record: SessionRecord) => this.#index.update(record);
    this.#sessions = {
      ...options,
      panel: gateway,
      settings,
      log: sessionLog(serverLog),
      surroundings,
      shown,
    };
    this.#walks = new MemberWalks(options.clock, (member) => this.#show(member));
    gateway.events.on('changed', (change) => this.#panelChanged(change));
  }

  /** The surroundings of this server's session. */
  surroundings(record: SessionRecord, isRunning: boolean): Surroundings {
    const hasRoom = this.#withRoom?.has(record) ?? true;
    return this.#surroundings.of(record, { isRunning, hasRoom, ...this.#pace.intervals() });
  }

  /**
   * Applies new poll intervals and staleness at once. Timeouts and the origin apply from the next
   * socket.
   */
  configure(settings: MembersSettings): void {
    this.#pace.configure(settings);
    this.#sessions.settings = settings;
    this.#staleness = staleAfter(settings);
    for (const record of this.records) record.staleness = this.#staleness;
    this.changed();
  }

  /**
   * Replaces the list of servers. A known server keeps its session, socket and record, even if its
   * description changed. Returns whether anything changed; in that case, `follow` must be called.
   */
  regroup(targets: readonly ServerTarget[]): boolean {
    const { clock, kept } = this.#options;
    const create = (target: ServerTarget) => {
      const record = new ServerRecord(target, this.#staleness, this.#recordContext);
      const before = kept?.(target);
      if (before !== undefined) record.restore(before, clock);
      return { record, session: new Session(this.#sessions, record) };
    };
    const { members, isRegrouped } = regroup(this.#members, targets, create);
    if (!isRegrouped) return false;
    this.#members = members;
    this.records = members.map(({ record }) => record);
    this.#surroundings.keepNodes(this.records);
    return true;
  }

  /** Ends the sessions of removed servers, and begins those of new ones. */
  follow(): void {
    const remaining = new Set(this.#members);
    for (const member of this.#begun) if (!remaining.has(member)) this.#end(member);
    for (const { record } of this.#begun) this.#index.update(record);
    this.changed();
    if (this.#hasBegun) this.#start(this.#members.filter((member) => !this.#begun.has(member)));
  }

  /** Begins all sessions. Servers that are added later begin at once. */
  begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#start(this.#members);
  }

  /** Notes that the server list was read completely. */
  listed(): void {
    this.#surroundings.listedAt = this.#options.clock.now();
    this.#showWithoutData();
  }

  /**
   * Gives sockets only to the first `part` streamed servers of the list, so that the same servers
   * keep theirs.
   */
  divide(part: number): void {
    this.#withRoom = undefined;
    if (this.records.length <= part) return;
    const streamed = this.records.filter(({ target }) => isStreamed(target));
    if (streamed.length > part) this.#withRoom = new Set(streamed.slice(0, part));
  }

  /** Passes changed surroundings on to all sessions. */
  changed(): void {
    this.#walks.walk(this.#begun);
  }

  /**
   * Restarts the sessions without data, or all sessions if `sockets` is given; the others retry
   * what failed. `forget` ends outages, and must run between stop and start. Before the stop, it
   * would wake sessions whose token calls are then withdrawn but counted. After the start, the
   * outages would hold the new attempts.
   */
  retry(forget: () => void, sockets?: SocketAccess): void {
    this.#sessions.sockets = sockets ?? this.#sessions.sockets;
    const members = [...this.#begun].filter(({ record }) => sockets !== undefined || hasNoData(record));
    for (const member of members) this.#end(member);
    forget();
    this.#surroundings.accessedAnewAt = this.#options.clock.now();
    this.#walks.walk(this.#begun);
    this.#start(members);
  }

  /** Resolves when all sockets are closed. */
  async stop(): Promise<void> {
    this.#hasBegun = false;
    this.#walks.stop();
    for (const member of this.#begun) this.#end(member);
    await Promise.all(this.#closing);
  }

  /** Passes a change of the panel on to the sessions that it affects. */
  #panelChanged(change: PanelChange): void {
    if (change.of === 'subject') {
      const node = subjectNode(change.subject);
      this.#walks.walk(node === undefined ? this.#begun : this.#index.onNode(node));
    } else if (change.of === 'trial') {
      const member = this.#index.withId(change.server);
      if (member !== undefined) this.#show(member);
    } else if (change.of === 'recovery') {
      this.#showWithoutData();
      for (const cause of shownCauses(change.cause)) this.#walks.walk(this.#index.withCause(cause));
    }
  }

  /**
   * Starts sessions in random order, so that an exporter in a restart loop doesn't always start
   * with the same servers.
   */
  #start(members: readonly Member[]): void {
    const drawn = members.map((member) => ({ member, at: this.#options.random() }));
    const inOrder = drawn.sort((one, other) => one.at - other.at).map(({ member }) => member);
    for (const member of inOrder) {
      this.#begun.add(member);
      this.#index.add(member);
    }
    this.#walks.walk(inOrder);
  }

  #show(member: Member): void {
    if (!this.#begun.has(member)) return;
    INTERNAL_ERRORS.contain(() => member.session.sees(this.surroundings(member.record, true)));
  }

  /** Passes the current surroundings to the sessions of blocked and failing servers. */
  #showWithoutData(): void {
    for (const condition of WITHOUT_DATA) this.#walks.walk(this.#index.inCondition(condition));
  }

  #end(member: Member): void {
    const { session, record } = member;
    this.#begun.delete(member);
    this.#index.remove(member);
    session.sees(this.surroundings(record, false));
    const { closing } = session;
    this.#closing.add(closing);
    void closing.finally(() => this.#closing.delete(closing));
  }
}

/** The conditions of servers without data. */
const WITHOUT_DATA = ['blocked', 'failing'] as const;

function hasNoData({ status: { condition } }: ServerRecord): boolean {
  return WITHOUT_DATA.some((one) => one === condition);
}

/** The maximum age of samples by socket and by poll. */
function staleAfter(intervals: PollIntervals): Staleness {
  return { socket: intervals.stalenessMs, poll: polledStalenessMs(intervals) };
}
