import type { Cancel, Clock } from '../domain/clock.ts';
import type { ListingSettings } from '../domain/discovery.ts';
import type { Logger } from '../domain/log.ts';
import type { Problem } from '../domain/problem.ts';
import type { BackupsReading, PanelReading, SchedulesReading } from '../domain/reading.ts';
import type { Secret } from '../domain/secret.ts';
import { identityOf, type ServerTarget } from '../domain/server.ts';
import type { PanelTelemetry } from '../domain/telemetry.ts';
import { nodeOf, type Subject } from '../panel/blame.ts';
import type { ListedServer } from '../panel/dialect.ts';
import type { PanelGateway } from '../panel/gateway.ts';
import type { QueryPolicy } from '../query/ask.ts';
import { type PollIntervals, polledStalenessMs } from '../session/due.ts';
import { Session } from '../session/session.ts';
import type {
  SessionContext,
  SessionRecord,
  SessionSettings,
  SocketAccess,
} from '../session/session-ports.ts';
import type { ServerIdentity } from './discovered-targets.ts';
import { Discovery } from './discovery.ts';
import { Members, type TargetChanges } from './members.ts';
import { isStreamed, type Needs, NeedsWatch, needsOf, pollEveryMs } from './needs.ts';
import { type NodesApi, type NodesSettings, NodeWatch, nodeReadings } from './node-watch.ts';
import { type QueryAccess, QueryWatch } from './query-watch.ts';
import { backupsOfServers, type IntervalSettings, ListReads, schedulesOfServers } from './server-lists.ts';
import { serverLog } from './server-log.ts';
import { ServerRecord } from './server-record.ts';
import { sessionLog } from './session-log.ts';
import { SocketLimit } from './socket-limit.ts';
import { PanelSurroundings } from './surroundings.ts';

/** The settings of a panel's fleet. */
export interface PanelSettings extends SessionSettings, PollIntervals {
  readonly name: string;
}

/** What a panel's fleet depends on. */
export interface PanelContext extends SocketAccess {
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  readonly gateway: PanelGateway;
  readonly telemetry: PanelTelemetry;
  /** Shared by all panels; if absent, the number of sockets is not limited. */
  readonly socketLimit?: SocketLimit;
  /** Shared by all panels; if absent, no game is queried. */
  readonly queries?: QueryAccess & Pick<QueryPolicy, 'panelUrl'>;
  /** Opens the panel's application API for this key; if absent, no nodes are read. */
  readonly openNodes?: (apiKey: Secret) => NodesApi;
  /** Is the server monitored here? Other servers belong to other shards. */
  readonly isOurs: (server: ServerIdentity) => boolean;
}

/** What to monitor on a panel: its configured servers, and what else is requested. */
export interface PanelSelection {
  readonly servers: readonly ServerTarget[];
  readonly listing?: ListingSettings;
  readonly backups?: IntervalSettings;
  readonly schedules?: IntervalSettings;
  readonly nodes?: NodesSettings;
  /** Hosts at which games may be queried even though they are local or metadata addresses. */
  readonly queryHosts?: readonly string[];
}

/** What no session uses. */
const WITHOUT_SESSIONS: ReadonlySet<Subject> = new Set<Subject>([
  'path listing',
  'path backups',
  'path schedules',
]);

/** How often the interval of polls follows what the rate carries. */
const PACED_MS = 1_000;

/** How long sessions wait for the first walk through the server list. */
const LISTED_WITHIN_MS = 3_000;

/** The servers of one panel, configured and discovered: a session for each, the server list, backups and queries. */
export class PanelFleet {
  readonly #context: PanelContext;
  readonly #serverLog: ReturnType<typeof serverLog>;
  readonly #discovery: Discovery;
  readonly #backups: ListReads<BackupsReading>;
  readonly #schedules: ListReads<SchedulesReading>;
  readonly #nodes: NodeWatch | undefined;
  readonly #queries: QueryWatch | undefined;
  readonly #needs: NeedsWatch;
  readonly #socketLimit: SocketLimit;
  readonly #surroundings: PanelSurroundings;
  readonly #members: Members;
  #settings: PanelSettings;
  #paced: { readonly at: number; readonly of: PanelSettings; readonly intervals: PollIntervals };
  #selection: PanelSelection;
  #cancelBegin: Cancel = () => undefined;
  #isRunning = false;
  #isStopped = false;
  /** The servers for whose sockets there is room; undefined if there is for all. */
  #withRoom: ReadonlySet<SessionRecord> | undefined;
  #unsubscribe: readonly (() => void)[] = [];

  constructor(settings: PanelSettings, selection: PanelSelection, context: PanelContext) {
    const {
      clock,
      log,
      random,
      gateway,
      socketLimit = new SocketLimit(),
      openNodes: open,
      queries,
    } = context;
    const shared = { panel: settings.name, clock, log, random, gateway };
    const records = () => this.records;
    this.#settings = settings;
    this.#paced = { at: Number.NEGATIVE_INFINITY, of: settings, intervals: settings };
    this.#context = context;
    this.#serverLog = serverLog(log, clock);
    this.#socketLimit = socketLimit;
    this.#needs = new NeedsWatch({
      ...shared,
      socketLimit,
      needs: () => this.#neededFor(this.records.map(({ target }) => target)),
      budget: () => gateway.budget(),
    });
    this.#surroundings = new PanelSurroundings({
      ...shared,
      intervals: () => this.#pollIntervals(),
      hasRoom: (record) => this.#withRoom?.has(record) ?? true,
    });
    this.#members = this.#createMembers();
    this.#discovery = new Discovery({
      ...shared,
      isOurs: context.isOurs,
      notFound: () => this.#notFound(),
      found: (targets, isComplete) => this.#found(targets, isComplete),
    });
    this.#backups = new ListReads({ ...shared, records, list: backupsOfServers(gateway, clock) });
    this.#schedules = new ListReads({ ...shared, records, list: schedulesOfServers(gateway, clock) });
    this.#nodes = open && new NodeWatch({ ...shared, open });
    this.#queries =
      queries &&
      new QueryWatch({
        ...shared,
        ...queries,
        log: this.#serverLog,
        records,
        isListingPending: () => this.#discovery.reading?.isPending === true,
      });
    this.#selection = selection;
    this.#observe(this.#discovery.configure(selection.servers, selection.listing));
  }

  /** The servers in the order of the list; a new array whenever servers were added, removed or moved. */
  get records(): readonly ServerRecord[] {
    return this.#members.records;
  }

  /** The known servers of the panel's server list; empty if it isn't used. */
  get listed(): readonly ListedServer[] {
    return this.#discovery.listed;
  }

  /** Does a port of the address of a server of any panel belong to another server of this one? */
  isTaken(server: ServerTarget, port: number): boolean {
    return this.#discovery.isTaken(server, port);
  }

  start(): void {
    if (this.#isRunning || this.#isStopped) return;
    const { gateway } = this.#context;
    this.#isRunning = true;
    this.#followServers();
    this.#unsubscribe = [
      gateway.blamed.add((subject) => this.#blameChanged(subject)),
      gateway.socketTrials.add((server) => this.#members.changed(({ target }) => target.id === server)),
      gateway.recoveries.add((recovery) => {
        this.#surroundings.recoveredFrom(recovery);
        this.#members.changed(
          (record) => hasNoData(record) || record.status.problem?.cause === recovery.cause,
        );
      }),
      gateway.changes.add(() => this.#needs.follow()),
    ];
    this.#discovery.start();
    // The server list shows which servers share a node, so that they don't all have to fail first.
    const waitMs = this.#selection.listing === undefined ? 0 : LISTED_WITHIN_MS;
    if (waitMs === 0) this.#beginAll();
    else this.#cancelBegin = this.#context.clock.schedule(waitMs, () => this.#beginAll());
    this.#followSelection();
  }

  /** Monitors these configured servers, and what else is requested, from now on; anything unchanged isn't touched. */
  setSelection(selection: PanelSelection): TargetChanges {
    this.#selection = selection;
    const changes = this.#observe(this.#discovery.configure(selection.servers, selection.listing));
    if (this.#isRunning) this.#followSelection();
    return changes;
  }

  #followSelection(): void {
    const { backups, schedules, nodes } = this.#selection;
    this.#backups.configure(backups);
    this.#schedules.configure(schedules);
    this.#nodes?.configure(nodes);
    this.#followServers();
  }

  #observe(targets: readonly ServerTarget[]): TargetChanges {
    const changes = this.#members.observe(targets);
    if (this.#isRunning) this.#followServers();
    return changes;
  }

  /** Applies new settings; timeouts and the origin count from the next socket on. */
  setSettings(settings: PanelSettings): void {
    this.#settings = settings;
    for (const record of this.records) record.staleness = this.#staleness;
    this.#members.changed();
    this.#followServers();
  }

  /** The gateway uses another API key: retries what the old key was refused, and reads the server list again. */
  keyChanged(): void {
    this.#retry('refused', () => this.#context.gateway.keyChanged());
  }

  /**
   * The panel and its nodes are reached in another way: retries what failed, and reads the lists again. `with sockets`, those that are
   * open may no longer be as they should: all are opened anew.
   */
  accessChanged(reach?: 'with sockets'): void {
    this.#retry(reach === undefined ? 'refused' : 'all', () => this.#context.gateway.accessChanged());
    this.#nodes?.reopen();
  }

  #retry(whom: 'refused' | 'all', closeCircuits: () => void): void {
    if (!this.#isRunning) {
      closeCircuits();
      return;
    }
    this.#members.retry(whom, closeCircuits);
    this.#discovery.restart();
  }

  /** Resolves when all sockets are closed. */
  async stop(): Promise<void> {
    this.#isRunning = false;
    this.#isStopped = true;
    this.#discovery.stop();
    this.#backups.stop();
    this.#schedules.stop();
    const queriesEnd = this.#queries?.stop();
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#cancelBegin();
    this.#needs.stop();
    this.#socketLimit.leave(this.#partChanged);
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
      nodes: (now) => nodeReadings(this.records, (node) => gateway.nodeProblem(node), now),
      capacities: (now) => this.#nodes?.reading(now) ?? [],
      budget: gateway.budget(),
      needs: this.#needs.reading,
      discovery: this.#discovery.reading,
    };
  }

  /** Most severe first; each cause once. While the panel has a problem, nothing else about it can be judged. */
  #problems(): readonly Problem[] {
    const { gateway } = this.#context;
    if (gateway.problem !== undefined) return [gateway.problem];
    const problems = [...gateway.problems];
    for (const problem of [...this.#needs.problems, ...this.#discovery.problems]) {
      if (!problems.some(({ cause }) => cause === problem.cause)) problems.push(problem);
    }
    return problems;
  }

  get #staleness() {
    return { socket: this.#settings.stalenessMs, poll: polledStalenessMs(this.#settings) };
  }

  /** The servers that the panel reports as not found. */
  #notFound(): ReadonlySet<string> {
    const missing = this.records.filter(({ status }) => status.blocked === 'not_found');
    return new Set(missing.map(({ target }) => identityOf(target)));
  }

  /** The server list was read, if only in part. */
  #found(targets: readonly ServerTarget[], isComplete: boolean): void {
    this.#observe(targets);
    this.#beginAll();
    if (!isComplete) return;
    this.#surroundings.listed();
    this.#members.changed(hasNoData);
  }

  #createMembers(): Members {
    const { clock, random, gateway, telemetry, codec, openSocket, addressProblem, isProxied } = this.#context;
    const settings = () => this.#settings;
    const surroundings: SessionContext['surroundings'] = (record, isRunning) =>
      this.#surroundings.of(record, isRunning);
    const context: SessionContext = {
      codec,
      clock,
      log: sessionLog(this.#serverLog),
      random,
      telemetry,
      get settings() {
        return settings();
      },
      backupCompleted: (record) => this.#backups.changed(record),
      openSocket,
      addressProblem,
      isProxied,
      panel: gateway,
      surroundings,
    };
    const stops = { clock, log: this.#serverLog };
    return new Members({
      random,
      create: (target) => {
        const record = new ServerRecord(target, this.#staleness, stops);
        return { record, session: new Session(context, record) };
      },
      surroundings,
      changed: () => {
        if (this.#isRunning) this.#followServers();
      },
    });
  }

  /** The intervals as configured, or as many polls as the rate carries now. */
  #pollIntervals(): PollIntervals {
    const { clock, gateway } = this.#context;
    const now = clock.now();
    if (now - this.#paced.at < PACED_MS && this.#paced.of === this.#settings) return this.#paced.intervals;
    const count = (isMeant: (record: ServerRecord) => boolean) => this.records.filter(isMeant).length;
    const { stalenessMs, pollIntervalMs: configuredMs } = this.#settings;
    const pollIntervalMs = pollEveryMs(configuredMs, {
      perMinute: gateway.budget().limitPerMinute,
      // Those that were never polled will be.
      polled: count(
        ({ status, target }) =>
          status.condition === 'polling' || (target.mode === 'poll' && status.condition === 'waiting'),
      ),
      streaming: count(({ status }) => status.condition === 'streaming'),
    });
    this.#paced = { at: now, of: this.#settings, intervals: { pollIntervalMs, stalenessMs } };
    return this.#paced.intervals;
  }

  /** Something is blamed, or no longer, or for another problem. */
  #blameChanged(subject: Subject): void {
    if (WITHOUT_SESSIONS.has(subject)) return;
    this.#surroundings.judged(subject);
    const node = nodeOf(subject);
    this.#members.changed((record) => node === undefined || record.node === node);
  }

  #beginAll(): void {
    if (!this.#isRunning) return;
    this.#cancelBegin();
    this.#members.begin();
  }

  /** The servers changed, and so what they need of the panel and the process. */
  #followServers(): void {
    const { gateway } = this.#context;
    const { listing, queryHosts } = this.#selection;
    // Servers that the panel blocks according to the server list need no calls.
    const asking = this.records.filter(({ target }) => target.blocked === undefined);
    const askedFor = (isMeant: (target: ServerTarget) => boolean) =>
      new Map(asking.filter(({ target }) => isMeant(target)).map((record) => [record.target.id, record]));
    gateway.setUse({
      listing: listing === undefined ? 'none' : listing.discover === undefined ? 'optional' : 'required',
      asked: {
        websocket: askedFor(({ mode }) => mode !== 'poll'),
        resources: askedFor(({ mode }) => mode !== 'socket'),
        backups: askedFor((target) => this.#backups.isRead(target)),
        schedules: askedFor((target) => this.#schedules.isRead(target)),
      },
    });
    this.#surroundings.keepNodes(this.records);
    this.#queries?.follow(queryHosts);
    this.#socketLimit.require(this.#needs.reading.requiredSockets, this.#partChanged);
    this.#divideRoom();
    this.#needs.follow();
  }

  readonly #partChanged = () => {
    this.#divideRoom();
    this.#members.changed();
    this.#needs.follow();
  };

  #neededFor(servers: readonly ServerTarget[]): Needs {
    const listsPerMinute = this.#backups.wantedPerMinute(servers) + this.#schedules.wantedPerMinute(servers);
    const { pollIntervalMs } = this.#settings;
    return needsOf(servers, pollIntervalMs, this.#discovery.callsPerMinute + listsPerMinute);
  }

  /** The first servers of the list have room, so that the same ones keep their sockets. */
  #divideRoom(): void {
    const { part } = this.#socketLimit;
    const streamed = this.records.filter(({ target }) => isStreamed(target));
    this.#withRoom = streamed.length > part ? new Set(streamed.slice(0, part)) : undefined;
  }
}

function hasNoData({ status: { condition } }: ServerRecord): boolean {
  return condition === 'blocked' || condition === 'failing';
}
