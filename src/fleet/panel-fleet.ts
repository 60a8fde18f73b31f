// The fleet of one panel: its servers, server list, backups and queries.

import type { Cancel } from '../domain/clock.ts';
import type { ListingSettings } from '../domain/listing-settings.ts';
import type { Logger } from '../domain/logger.ts';
import type { PanelReading, ProblemReading } from '../domain/reading.ts';
import type { ServerTarget } from '../domain/server.ts';
import { shortId } from '../domain/server-ids.ts';
import type { Account } from '../panel/account.ts';
import type { SocketAccess } from '../session/session-ports.ts';
import type { Secret } from '../text/redaction.ts';
import type { ServerIdentity } from './discover-rules.ts';
import { Discovery } from './discovery.ts';
import { ListReads } from './list-reads.ts';
import { restIfMany } from './listing-walk.ts';
import { Members, type MembersOptions, type MembersSettings } from './members.ts';
import { countNeeds, type Needs } from './needs.ts';
import { NeedsWatch } from './needs-watch.ts';
import { nodeReadings } from './node-readings.ts';
import { type NodesApi, type NodesSettings, NodeWatch } from './node-watch.ts';
import { type IntervalSettings, type ListName, PER_SERVER_LISTS } from './per-server-list.ts';
import { type QueryAccess, QueryWatch } from './query-watch.ts';
import { serverLog } from './server-log.ts';
import type { ServerRecord } from './server-record.ts';
import type { SharedSockets } from './shared-sockets.ts';

/** What to monitor on a panel, and how. */
export interface FleetSettings extends MembersSettings {
  readonly name: string;
  readonly servers: readonly ServerTarget[];
  readonly listing?: ListingSettings | undefined;
  readonly backups?: IntervalSettings | undefined;
  readonly schedules?: IntervalSettings | undefined;
  readonly nodes?: NodesSettings | undefined;
  /** Hosts at which games may be queried even at local or metadata addresses. */
  readonly queryHosts?: readonly string[] | undefined;
}

/** The dependencies of a panel's fleet. */
export interface FleetContext extends Omit<MembersOptions, 'serverLog' | 'backupCompleted' | 'deleted'> {
  readonly log: Logger;
  readonly socketLimit: SharedSockets;
  /** Creates the dependencies of queries; if absent, no game is queried. */
  readonly openQueries?: () => QueryAccess;
  /** Opens the panel's application API with this key; if absent, no nodes are read. */
  readonly openNodes?: (apiKey: Secret) => NodesApi;
  /** Is the server in this exporter's shard? */
  readonly isOurs: (server: ServerIdentity) => boolean;
}

/** How long sessions wait for the first walk through the server list. */
const LISTED_WITHIN_MS = 3_000;

/**
 * The servers of one panel, configured and discovered, with a session for each, the server list,
 * backups and queries.
 */
export class PanelFleet {
  readonly discovery: Discovery;
  readonly #context: FleetContext;
  readonly #serverLog: ReturnType<typeof serverLog>;
  /** The lists that are read for each server, if configured. */
  readonly #lists: { [What in ListName]?: ListReads | undefined } = {};
  #nodes: NodeWatch | undefined;
  #queries: QueryWatch | undefined;
  readonly #needs: NeedsWatch;
  readonly #members: Members;
  #settings: FleetSettings;
  /** The servers' needs, and the inputs from which they were calculated. */
  #counted: { readonly basis: readonly unknown[]; readonly needs: Needs } | undefined;
  /** The inputs for which the gateway's users were last set. */
  #usedFrom: readonly unknown[] = [];
  #cancelBegin: Cancel = () => undefined;
  #isRunning = false;
  #isStopped = false;

  constructor(settings: FleetSettings, context: FleetContext) {
    const shared = { ...context, panel: settings.name };
    this.#settings = settings;
    this.#context = context;
    this.#serverLog = serverLog(context.log, context.clock);
    this.#needs = new NeedsWatch({ ...shared, needs: () => this.#needed() });
    this.#members = new Members(settings, {
      ...shared,
      serverLog: this.#serverLog,
      deleted: () => this.discovery.serverDeleted(),
      backupCompleted: (record) => this.#lists.backups?.changed(record),
    });
    this.discovery = new Discovery({
      ...shared,
      notFound: () => {
        const missing = this.records.filter(({ status }) => status.blocked === 'not_found');
        return new Set(missing.map(({ target }) => shortId(target)));
      },
      found: (targets, isComplete) => this.#found(targets, isComplete),
    });
    this.#observe(this.discovery.configure(settings.servers, settings.listing));
  }

  /**
   * The servers in the order of the list; a new array whenever the list or a server's description
   * changed.
   */
  get records(): readonly ServerRecord[] {
    return this.#members.records;
  }

  start(): void {
    if (this.#isRunning || this.#isStopped) return;
    this.#isRunning = true;
    this.#followServers();
    this.#context.gateway.events.on('changed', (change) => {
      if (this.#isRunning && change.of === 'rate') this.#followNeeds();
    });
    this.discovery.start();
    // With the server list, sessions know which servers share a node, so that not all of them have
    // to fail first.
    if (this.#settings.listing === undefined) this.#members.begin();
    else this.#cancelBegin = this.#context.clock.schedule(LISTED_WITHIN_MS, () => this.#members.begin());
    this.#followSettings();
    this.#followServers();
  }

  /** Applies new settings. Unchanged servers aren't touched. */
  configure(settings: FleetSettings): void {
    this.#settings = settings;
    this.#members.configure(settings);
    const targets = this.discovery.configure(settings.servers, settings.listing);
    if (this.#isRunning) this.#followSettings();
    // Even if the servers are the same, other data about them may be required.
    if (!this.#observe(targets) && this.#isRunning) this.#followServers();
  }

  #followSettings(): void {
    const { name: panel, nodes } = this.#settings;
    const { openNodes } = this.#context;
    for (const what of PER_SERVER_LISTS) this.#readList(what);
    if (nodes && openNodes) this.#nodes ??= new NodeWatch({ ...this.#context, panel, openNodes });
    this.#nodes?.configure(nodes);
  }

  /**
   * Reads this list of each server with the current settings. Without settings, the earlier lists
   * are dropped.
   */
  #readList(what: ListName): void {
    const { name: panel, [what]: settings } = this.#settings;
    const before = this.#lists[what];
    if (settings?.intervalMs === before?.intervalMs) return;
    before?.stop();
    if (settings === undefined) for (const record of this.records) record[what] = undefined;
    const options = { ...this.#context, panel, what, records: () => this.records };
    this.#lists[what] = settings && new ListReads({ ...options, ...settings });
  }

  /** Returns whether the servers or their descriptions changed. */
  #observe(targets: readonly ServerTarget[]): boolean {
    if (!this.#members.regroup(targets)) return false;
    if (this.#isRunning) this.#followServers();
    this.#members.follow();
    return true;
  }

  /**
   * Retries failures and reads the lists again after the gateway's API key, and perhaps its
   * account, changed.
   */
  keyChanged(account?: Account): void {
    this.#retry(() => this.#context.gateway.keyChanged(account));
  }

  /**
   * Handles a changed connection to the panel and its nodes. With new access to sockets, all
   * sockets are reopened.
   */
  accessChanged(sockets?: SocketAccess): void {
    this.#retry(() => this.#context.gateway.accessChanged(), sockets);
  }

  #retry(forget: () => void, sockets?: SocketAccess): void {
    this.#members.retry(forget, sockets);
    this.discovery.restart();
    this.#nodes?.reopen();
  }

  /** Resolves when all sockets are closed. */
  async stop(): Promise<void> {
    this.#isRunning = false;
    this.#isStopped = true;
    this.discovery.stop();
    for (const what of PER_SERVER_LISTS) this.#lists[what]?.stop();
    const queriesEnd = this.#queries?.stop();
    this.#cancelBegin();
    this.#needs.stop();
    this.#context.socketLimit.leave(this.#partChanged);
    await Promise.all([this.#members.stop(), this.#nodes?.stop(), queriesEnd, this.#context.gateway.close()]);
    this.#serverLog.flush();
  }

  reading(): PanelReading {
    const { gateway } = this.#context;
    return {
      name: this.#settings.name,
      up: gateway.health === 'up',
      isJudging: gateway.isJudging,
      problems: this.#problems(),
      nodes: (now) => nodeReadings(this.records, (node) => gateway.problems.ofNode(node), now),
      capacities: (now) => this.#nodes?.reading(now) ?? [],
      budget: gateway.budget(),
      needs: this.#needs.reading,
      discovery: this.discovery.reading,
    };
  }

  /**
   * Most severe first, and each cause once. While the panel itself has a problem, no other problem
   * about it is certain.
   */
  #problems(): readonly ProblemReading[] {
    const { gateway } = this.#context;
    if (gateway.problems.ofPanel !== undefined) return gateway.problems.all;
    const all = [...gateway.problems.all, ...this.#needs.problems, ...this.discovery.problems];
    return all.filter(({ cause }, index) => all.findIndex((one) => one.cause === cause) === index);
  }

  /** Handles a server list that was read completely or in part. */
  async #found(targets: readonly ServerTarget[], isComplete: boolean): Promise<void> {
    if (this.#members.regroup(targets)) {
      await restIfMany(targets);
      if (this.#isRunning) this.#followServers();
      await restIfMany(targets);
      if (this.#isStopped) return;
      this.#members.follow();
    } else {
      this.#context.gateway.keepNodes();
      this.#followNeeds();
    }
    this.#members.begin();
    if (isComplete) this.#members.listed();
  }

  /** Handles changed servers, or other required data about them. */
  #followServers(): void {
    const { listing, queryHosts } = this.#settings;
    const { gateway, socketLimit } = this.#context;
    const use = listing === undefined ? 'none' : listing.discover === undefined ? 'optional' : 'required';
    const basis = [this.records, use, this.#lists.backups, this.#lists.schedules];
    // A reload rarely changes these, and a pass over thousands of servers is slow.
    if (basis.some((part, index) => part !== this.#usedFrom[index]))
      gateway.setUse({ listing: use, asked: this.#asked() });
    this.#usedFrom = basis;
    if (this.records.some(({ target }) => target.query !== undefined)) this.#queries ??= this.#openQueries();
    this.#queries?.follow(this.records, queryHosts);
    socketLimit.require(this.#needs.reading.requiredSockets, this.#partChanged);
    this.#members.divide(socketLimit.part);
    this.#followNeeds();
  }

  /**
   * The servers of each path, in a single pass, because each pass over thousands of servers takes
   * milliseconds.
   */
  #asked() {
    const { backups, schedules } = this.#lists;
    const none = () => new Map<string, ServerRecord>();
    const asked = { websocket: none(), resources: none(), backups: none(), schedules: none() };
    for (const record of this.records) {
      const { target } = record;
      const { id, mode, blocked } = target;
      // A server that the panel blocks according to the server list needs no calls.
      if (blocked !== undefined) continue;
      if (mode !== 'poll') asked.websocket.set(id, record);
      if (mode !== 'socket') asked.resources.set(id, record);
      if (backups?.isRead(target) === true) asked.backups.set(id, record);
      if (schedules?.isRead(target) === true) asked.schedules.set(id, record);
    }
    return asked;
  }

  #followNeeds(): void {
    this.#needs.follow();
    this.#context.gateway.needs(this.#needs.reading.requiredCallsPerMinute);
  }

  #openQueries(): QueryWatch | undefined {
    const access = this.#context.openQueries?.();
    const log = this.#serverLog;
    const isListingPending = () => this.discovery.reading?.isPending === true;
    return access && new QueryWatch({ ...this.#context, ...access, log, isListingPending });
  }

  readonly #partChanged = () => {
    this.#members.divide(this.#context.socketLimit.part);
    this.#members.changed();
    this.#followNeeds();
  };

  #needed(): Needs {
    const own = this.#ownNeeds();
    return { ...own, requiredCallsPerMinute: own.requiredCallsPerMinute + this.discovery.callsPerMinute };
  }

  /**
   * The servers' needs without the server list. They are cached, because each scrape and each
   * change of the rate limit reads them.
   */
  #ownNeeds(): Needs {
    const { records } = this;
    const { pollIntervalMs } = this.#settings;
    const lists = PER_SERVER_LISTS.map((what) => this.#lists[what]);
    const { isPolledByNode } = this.#context.gateway;
    const basis = [records, pollIntervalMs, isPolledByNode, ...lists];
    const counted = this.#counted;
    if (counted !== undefined && basis.every((part, index) => part === counted.basis[index]))
      return counted.needs;
    const servers = records.map(({ target }) => target);
    const listsPerMinute = lists.reduce((sum, list) => sum + (list?.wantedPerMinute(servers) ?? 0), 0);
    const needs = countNeeds(servers, pollIntervalMs, listsPerMinute, isPolledByNode);
    this.#counted = { basis, needs };
    return needs;
  }
}
