import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ServerTarget } from '../domain/server.ts';
import type { Circuit } from '../panel/circuit.ts';
import { type CircuitKey, nodeOfKey } from '../panel/gate.ts';
import type { Session } from '../session/session.ts';
import { type Member, regroup, type TargetChanges } from './roster.ts';
import type { ServerRecord } from './server-record.ts';

/** Sessions that are notified between two turns of the event loop: less work than a scrape, which should get most of the time. */
const SLICE = 32;

/** Circuits of calls that no session makes. */
const NO_SESSIONS: ReadonlySet<CircuitKey> = new Set(['path listing', 'path backups', 'path schedules']);

export interface MembersOptions {
  readonly random: () => number;
  readonly create: (target: ServerTarget) => Member;
  /** The list changed: called before sessions of new servers begin and those of removed ones end. */
  readonly changed: () => void;
  readonly removed: (session: Session) => void;
}

/** The servers of one panel and their sessions. */
export class Members {
  readonly #options: MembersOptions;
  #members: readonly Member[] = [];
  #records: readonly ServerRecord[] = [];
  readonly #removed = new WeakSet<Session>();
  /** Sessions whose sockets close. */
  readonly #closing = new Set<Promise<void>>();
  #hasBegun = false;
  #isStopped = false;

  constructor(options: MembersOptions) {
    this.#options = options;
  }

  /** The servers in the order of the list; a new array whenever servers were added, removed or moved. */
  get records(): readonly ServerRecord[] {
    return this.#records;
  }

  /**
   * Monitors these servers from now on. A server that was already monitored keeps its session, socket and record, even if its
   * description changed; applying the same list again costs next to nothing.
   */
  observe(targets: readonly ServerTarget[]): TargetChanges {
    const before = new Set(this.#members);
    const regrouping = regroup(this.#members, targets, this.#options.create);
    const { members, left, changes, isRegrouped } = regrouping;
    if (!isRegrouped || this.#isStopped) return changes;
    this.#members = members;
    this.#records = members.map(({ record }) => record);
    this.#options.changed();
    for (const { session } of left) {
      this.#removed.add(session);
      this.#end(session);
      this.#options.removed(session);
    }
    if (!this.#hasBegun) return changes;
    this.#start(members.filter((member) => !before.has(member)));
    const remaining = members.filter((member) => before.has(member));
    void this.#tell(remaining, (session) => session.follow());
    return changes;
  }

  /** Begins the sessions, and those of servers that are added later. */
  begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#start(this.#members);
  }

  /** Something that all sessions depend on changed. */
  follow(): void {
    void this.#tell(this.#members, (session) => session.follow());
  }

  /** Retries what the panel refused. */
  retryRefused(): void {
    for (const { session, record } of this.#members) {
      const { condition } = record.status;
      if (condition !== 'blocked' && condition !== 'failing') continue;
      this.#end(session);
      session.start();
    }
  }

  /** The server list was read completely: servers that it shows as free may be tried. */
  listed(): void {
    for (const { session, record } of this.#members)
      if (record.target.blocked === undefined) session.listedAsFree();
  }

  /** A circuit opened or closed: the servers that it concerns wait for its trial, are polled meanwhile, or try again. */
  circuitChanged(key: CircuitKey, state: Circuit['state']): void {
    if (state === 'doubtful' || NO_SESSIONS.has(key)) return;
    const node = nodeOfKey(key);
    const concerned =
      node === undefined ? this.#members : this.#members.filter(({ record }) => record.node === node);
    const wake = wakeFor(key);
    void this.#tell(concerned, (session) => {
      wake(session);
      session.follow();
    });
  }

  /** Resolves when all sockets are closed. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([...this.#members.map(({ session }) => session.stop()), ...this.#closing]);
  }

  /** Starts sessions in random order, so that an exporter in a restart loop doesn't always begin with the same servers. */
  #start(members: readonly Member[]): void {
    void this.#tell(shuffled(members, this.#options.random), (session) => session.start());
  }

  /** Runs something in many sessions: ten thousand at a time would delay sockets and scrapes for 300 ms. */
  async #tell(members: readonly Member[], act: (session: Session) => void): Promise<void> {
    for (const [index, { session }] of members.entries()) {
      if (index > 0 && index % SLICE === 0) await nextTurn();
      if (this.#isStopped) return;
      if (!this.#removed.has(session)) act(session);
    }
  }

  #end(session: Session): void {
    const closing = session.stop();
    this.#closing.add(closing);
    void closing.finally(() => this.#closing.delete(closing));
  }
}

/** What a session does when this circuit opens or closes: its own back-off no longer matters. */
function wakeFor(key: CircuitKey): (session: Session) => void {
  if (key.startsWith('sockets ')) return (session) => session.wakeSocket();
  if (key.startsWith('polls ') || key === 'path resources') return (session) => session.wakePolls();
  return (session) => session.wake();
}

/** The items in random order (Fisher and Yates). */
function shuffled<Item>(items: readonly Item[], random: () => number): readonly Item[] {
  const order = [...items];
  for (let last = order.length - 1; last > 0; last -= 1) {
    const chosen = Math.floor(random() * (last + 1));
    const [one, other] = [order[last], order[chosen]];
    if (one === undefined || other === undefined) continue;
    order[chosen] = one;
    order[last] = other;
  }
  return order;
}
