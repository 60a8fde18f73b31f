import { CAUSES } from '../diagnosis/causes.ts';
import type { Clock } from '../domain/clock.ts';
import type { BackupSettings, ListingSettings } from '../domain/discovery.ts';
import type { Logger } from '../domain/log.ts';
import type { Problem } from '../domain/problem.ts';
import type { PanelReading } from '../domain/reading.ts';
import { identityOf, type ServerTarget } from '../domain/server.ts';
import type { PanelTelemetry } from '../domain/telemetry.ts';
import type { PanelGateway } from '../panel/gateway.ts';
import type { QueryPolicy } from '../query/place.ts';
import { Session } from '../session/session.ts';
import type { SessionContext, SessionSettings, SocketAccess } from '../session/session-ports.ts';
import { BackupWatch } from './backups.ts';
import { Discovery } from './discovery.ts';
import { LimitLearner } from './limit-learner.ts';
import { NodeRecovery } from './node-recovery.ts';
import { nodeReadings } from './node-watch.ts';
import { Planner } from './planner.ts';
import { type QueryAccess, QueryWatch } from './query-watch.ts';
import { RefreshSlots } from './refresh-slots.ts';
import { Member, type MemberOwner, regroup, type TargetChanges } from './roster.ts';
import { EACH_CRASH, ServerLog } from './server-log.ts';
import { ServerRecord } from './server-record.ts';
import { type Defer, SlicedWork } from './sliced-work.ts';
import { SocketLimit } from './socket-limit.ts';
import { StopWatch } from './stop-watch.ts';

/** The settings of a panel's fleet. */
export interface PanelSettings extends SessionSettings {
  readonly name: string;
  readonly pollIntervalMs: number;
  readonly stalenessMs: number;
  /** The rate is pinned by the configuration, so there is no limit to learn. */
  readonly ratePinned: boolean;
}

/** What a panel's fleet depends on. */
export interface PanelContext extends SocketAccess {
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  readonly gateway: PanelGateway;
  readonly telemetry: PanelTelemetry;
  /** How long-running work yields to the event loop; `setImmediate` by default. */
  readonly defer?: Defer;
  /** Shared by all panels; if absent, the number of sockets is not limited. */
  readonly socketLimit?: SocketLimit;
  /** Shared by all panels; if absent, no game is queried. */
  readonly queries?: QueryAccess & Pick<QueryPolicy, 'panelUrl'>;
  /** Does the server belong to this shard? */
  readonly isOurs: (server: Pick<ServerTarget, 'panel' | 'id'>) => boolean;
}

/** What to observe on a panel: its configured servers, and what else is requested. */
export interface PanelSelection {
  readonly servers: readonly ServerTarget[];
  readonly listing?: ListingSettings;
  readonly backups?: BackupSettings;
  /** Hosts at which games may be queried even though they are local or metadata addresses. */
  readonly queryHosts?: readonly string[];
}

/** A smaller change of the reserve, in calls per minute, doesn't trigger a new plan. */
const MIN_RESERVE_CHANGE = 0.1;

/**
 * The servers of one panel, configured and discovered: a session for each, their backups, and the plan that keeps all calls
 * within the limit.
 */
export class PanelFleet {
  readonly #context: PanelContext;
  readonly #owner: MemberOwner;
  readonly #serverLog: ServerLog;
  /** Crashes have a log of their own, so that other server events don't hold them back in a busy minute. */
  readonly #stopLog: ServerLog;
  readonly #stopWatch: StopWatch;
  readonly #discovery: Discovery;
  readonly #backups: BackupWatch;
  readonly #queries: QueryWatch | undefined;
  readonly #learner: LimitLearner;
  readonly #planner: Planner;
  /** Notifies the sessions of changes in the panel's health. */
  readonly #notifying: SlicedWork;
  readonly #slots = new RefreshSlots();
  readonly #nodeRecovery: NodeRecovery;
  /** Members that were removed or reset, while their sockets close. */
  readonly #closing = new Set<Promise<void>>();
  #settings: PanelSettings;
  #members: readonly Member[] = [];
  #records: readonly ServerRecord[] = [];
  /** Calls a minute that the listing and the backups need. */
  #reserve = 0;
  /** Whether the gateway reported problems in its last health update. */
  #hadProblems = false;
  #isRunning = false;
  #isStopped = false;
  #unsubscribe: readonly (() => void)[] = [];

  constructor(settings: PanelSettings, selection: PanelSelection, context: PanelContext) {
    this.#settings = settings;
    this.#context = context;
    this.#serverLog = new ServerLog(settings.name, context.log, context.clock);
    this.#stopLog = new ServerLog(settings.name, context.log, context.clock, EACH_CRASH);
    this.#stopWatch = new StopWatch(context.clock, this.#stopLog);
    this.#nodeRecovery = new NodeRecovery(context, () => this.#members);
    const sessions = this.#sessionContext();
    this.#owner = {
      createSession: (record, owner) => new Session(sessions, record, owner),
      fallbackMs: () => this.#planner.plan.pollIntervalMs,
      standingChanged: () => this.#planner.standingsChanged(),
      recovered: (member, way) => this.#nodeRecovery.recovered(member, way),
    };
    this.#notifying = new SlicedWork(context.defer);
    this.#learner = new LimitLearner({
      clock: context.clock,
      records: () => this.#records,
      learn: (server, signal) => context.gateway.learn(server, signal),
    });
    this.#discovery = this.#createDiscovery();
    this.#backups = this.#createBackupWatch();
    this.#queries = this.#createQueryWatch();
    const targets = this.#configure(selection);
    this.#planner = this.#createPlanner();
    this.#observe(targets);
  }

  /** The servers in the order of the list; a new array whenever servers were added, removed or moved. */
  get records(): readonly ServerRecord[] {
    return this.#records;
  }

  start(): void {
    if (this.#isRunning || this.#isStopped) return;
    const { gateway } = this.#context;
    this.#isRunning = true;
    this.#countServers();
    this.#unsubscribe = [
      gateway.onHealthChange((isRelieved) => this.#healthChanged(isRelieved)),
      gateway.onRateChange(() => this.#planner.replan()),
    ];
    // Before the sessions' calls, because the panel's limit determines their pace.
    if (!this.#settings.ratePinned) this.#learner.start();
    this.#planner.start();
    this.#discovery.start();
    this.#backups.start();
    this.#queries?.start();
  }

  /**
   * Observes these configured servers, and what else is requested, from now on; anything unchanged isn't touched. A stop whose
   * reason is still pending is decided with what is known.
   */
  setSelection(selection: PanelSelection): TargetChanges {
    this.#stopWatch.settle();
    return this.#observe(this.#configure(selection));
  }

  #configure({ servers, listing, backups, queryHosts }: PanelSelection): readonly ServerTarget[] {
    const targets = this.#discovery.configure(servers, listing);
    this.#backups.configure(backups);
    this.#queries?.configure(queryHosts);
    return targets;
  }

  /**
   * Observes these servers from now on. A server that was already observed keeps its session, socket and record, even if its
   * description changed; applying the same list again costs next to nothing.
   */
  #observe(targets: readonly ServerTarget[]): TargetChanges {
    const changes = this.#regroup(targets);
    this.#queries?.follow();
    return changes;
  }

  #regroup(targets: readonly ServerTarget[]): TargetChanges {
    const reserve = this.#discovery.callsPerMinute + this.#backups.wantedPerMinute(targets);
    const { members, left, changes, isRegrouped } = regroup(this.#members, targets, (target) =>
      this.#createMember(target),
    );
    const isReserved = Math.abs(reserve - this.#reserve) >= MIN_RESERVE_CHANGE;
    if ((!isRegrouped && !isReserved) || this.#isStopped) return changes;
    this.#reserve = reserve;
    this.#members = members;
    if (isRegrouped) this.#records = members.map((member) => member.record);
    if (this.#isRunning) this.#countServers();
    this.#planner.replan();
    if (!this.#isRunning) return changes;
    for (const member of left) {
      this.#track(member.stop());
      this.#context.gateway.forget(member.record.target.id);
      this.#serverLog.forget(identityOf(member.record.target));
    }
    this.#learner.serversChanged();
    return changes;
  }

  /** Applies a new poll interval and a new staleness, in milliseconds. */
  setIntervals(intervals: Pick<PanelSettings, 'pollIntervalMs' | 'stalenessMs'>): void {
    this.#settings = { ...this.#settings, ...intervals };
    this.#planner.replan();
  }

  /** The gateway uses another API key: retries what the old key was refused, and learns the limit and reads the listing again. */
  keyChanged(): void {
    this.#context.gateway.keyChanged();
    if (!this.#isRunning) return;
    for (const member of this.#members) {
      const { condition } = member.record.status;
      if (condition === 'blocked' || condition === 'failing') this.#track(member.reset());
    }
    if (!this.#settings.ratePinned) {
      this.#learner.stop();
      this.#learner.start();
    }
    this.#planner.replan();
    this.#discovery.restart();
  }

  /** Resolves when all sockets are closed. */
  async stop(): Promise<void> {
    this.#isRunning = false;
    this.#isStopped = true;
    this.#discovery.stop();
    this.#backups.stop();
    this.#queries?.stop();
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#planner.stop();
    this.#notifying.cancel();
    this.#learner.stop();
    await Promise.all([
      ...this.#members.map((member) => member.stop()),
      ...this.#closing,
      this.#context.gateway.close(),
    ]);
    this.#stopWatch.settle();
    this.#stopLog.flush();
    this.#serverLog.flush();
  }

  reading(): PanelReading {
    const { gateway } = this.#context;
    const { reading: discovery } = this.#discovery;
    return {
      name: this.#settings.name,
      up: gateway.health === 'up',
      problems: this.#problems(),
      nodes: (now) => nodeReadings(this.#records, now),
      budget: gateway.budget(),
      plan: this.#planner.reading,
      ...(discovery !== undefined && { discovery }),
    };
  }

  /** Most severe first; each cause once. */
  #problems(): readonly Problem[] {
    const problems = [...this.#context.gateway.problems];
    for (const problem of [...this.#planner.problems, ...this.#discovery.problems]) {
      if (!problems.some(({ cause }) => cause === problem.cause)) problems.push(problem);
    }
    return problems;
  }

  #createDiscovery(): Discovery {
    const { clock, log, gateway, isOurs } = this.#context;
    return new Discovery({
      panel: this.#settings.name,
      clock,
      log,
      isOurs,
      isPanelUp: () => gateway.health === 'up',
      callsPerMinute: () => gateway.budget().limitPerMinute,
      listing: (query, signal, call) => gateway.listing(query, signal, call),
      notFound: () =>
        new Set(
          this.#records
            .filter(({ status }) => status.blocked === 'not_found')
            .map(({ target }) => identityOf(target)),
        ),
      found: (targets) => this.#observe(targets),
    });
  }

  #createBackupWatch(): BackupWatch {
    const { clock, log, random, gateway } = this.#context;
    return new BackupWatch({
      panel: this.#settings.name,
      clock,
      log,
      random,
      callsPerMinute: () => this.#planner.plan.backupsPerMinute,
      backups: (server, page, signal) => gateway.backups(server, page, signal),
      records: () => this.#records,
    });
  }

  #createQueryWatch(): QueryWatch | undefined {
    const { clock, log, queries } = this.#context;
    if (queries === undefined) return undefined;
    return new QueryWatch({
      ...queries,
      clock,
      log: new ServerLog(this.#settings.name, log, clock),
      records: () => this.#records,
      portsOfOthers: (server) => this.#discovery.portsOfOthers(server),
      isListingPending: () => this.#discovery.reading?.isPending === true,
    });
  }

  #createPlanner(): Planner {
    const { gateway, socketLimit = new SocketLimit() } = this.#context;
    return new Planner(
      { ...this.#context, slots: this.#slots, socketLimit },
      {
        panel: () => this.#settings,
        members: () => this.#members,
        budgetPerMinute: () => gateway.budget().limitPerMinute,
        knownLimit: () =>
          gateway.budget().knownLimitPerMinute ?? (this.#settings.ratePinned ? 'none' : undefined),
        listingPerMinute: () => this.#discovery.callsPerMinute,
        backupsPerMinute: () => this.#backups.wantedPerMinute(this.#records.map(({ target }) => target)),
      },
    );
  }

  #sessionContext(): SessionContext {
    const { clock, random, gateway, telemetry, codec, openSocket, addressProblem, isProxied } = this.#context;
    return {
      codec,
      clock,
      log: this.#serverLog,
      random,
      telemetry,
      settings: this.#settings,
      slots: this.#slots,
      backupCompleted: (server) => this.#backups.backupCompleted(server),
      openSocket,
      addressProblem,
      isProxied,
      panel: {
        credentials: (server, purpose, signal) => gateway.credentials(server, purpose, signal),
        resources: async (server, signal) => {
          const resources = await gateway.resources(server, signal);
          this.#learner.answered();
          return resources;
        },
      },
      keyProblem: () => {
        const { problem } = gateway;
        return problem !== undefined && CAUSES[problem.cause].scope === 'key' ? problem : undefined;
      },
    };
  }

  #createMember(target: ServerTarget): Member {
    // Applies until its role says otherwise.
    const { stalenessMs } = this.#settings;
    const staleness = { socket: stalenessMs, poll: stalenessMs };
    return new Member(new ServerRecord(target, staleness, this.#stopWatch), this.#owner);
  }

  #track(closing: Promise<void>): void {
    this.#closing.add(closing);
    void closing.finally(() => this.#closing.delete(closing));
  }

  #healthChanged(isRelieved: boolean): void {
    if (isRelieved && this.#hadProblems) this.#serverLog.recoveryLogged();
    this.#hadProblems = this.#context.gateway.problems.length > 0;
    this.#notifying.begin(this.#notifyHealth(isRelieved));
  }

  *#notifyHealth(isRelieved: boolean): Generator<void, void, void> {
    for (const member of this.#members) {
      member.followHealth(isRelieved);
      yield;
    }
  }

  #countServers(): void {
    // Servers that the listing marks as suspended or otherwise blocked need no calls.
    const asking = this.#records.map(({ target }) => target).filter(({ blocked }) => blocked === undefined);
    const consoles = asking.filter(({ mode }) => mode !== 'poll').map(({ id }) => id);
    this.#context.gateway.setFleetSize(asking.length, consoles);
  }
}
