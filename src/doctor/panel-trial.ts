import PQueue from 'p-queue';
import { CAUSES, isPanelWide } from '../diagnosis/causes.ts';
import { ADMIN_REMEDY } from '../diagnosis/panel-causes.ts';
import type { Clock } from '../domain/clock.ts';
import { readableDuration } from '../domain/durations.ts';
import { QUIET_LOG } from '../domain/log.ts';
import type { CauseCode, Problem } from '../domain/problem.ts';
import type { ServerTarget } from '../domain/server.ts';
import { NO_TELEMETRY, type PanelTelemetry } from '../domain/telemetry.ts';
import { bounded, untilAborted } from '../domain/until-aborted.ts';
import { PanelApi, type PanelApiOptions } from '../panel/api.ts';
import { Gateway, type PanelGateway } from '../panel/gateway.ts';
import { type ListingWalk, walkListing } from '../panel/listing.ts';
import { Canceled, STOPPED } from './canceled.ts';
import {
  type CallSpan,
  clockFinding,
  clockSkewMs,
  keyFinding,
  type ListingScope,
  limitFinding,
  listingFinding,
  reachFinding,
} from './panel-steps.ts';
import type { Progress } from './progress.ts';
import { type Finding, type PanelReport, type PanelStep, type ServerReport, skipped } from './report.ts';
import { untested } from './server-steps.ts';
import { type QueryTools, type ServerTrialOptions, tryServer } from './server-trial.ts';
import { type ConsoleAccess, estimateMs, PAUSE_ALLOWANCE_MS, SERVERS_AT_ONCE } from './trial.ts';

export const NOT_REACHED = 'not tested: the panel was not reached';
const LOST = 'not tested: the panel failed during the run';
const NO_KEY = 'not tested: the key was not accepted';

/** One panel to try, as configured. */
export interface DoctorPanel {
  readonly name: string;
  readonly url: string;
  /** The servers in the configuration. */
  readonly targets: readonly ServerTarget[];
  /** False to try only the panel and its server list. */
  readonly triesServers?: false;
  /** Set if the server list is read. */
  readonly listing?: ListingScope;
  readonly pinnedPerMinute?: number;
  /** Judges whether the servers can be monitored with this many calls per minute; absent if not all servers are tried. */
  readonly shortfall?: (servers: readonly ServerTarget[], perMinute: number) => Problem | undefined;
  readonly queries: QueryTools;
  readonly api: Omit<PanelApiOptions, 'telemetry' | 'clock'>;
  readonly sockets: ConsoleAccess;
}

/** Shared by the trials of all panels. */
export interface Tools {
  readonly clock: Clock;
  /** Stops the doctor. */
  readonly signal: AbortSignal;
  readonly progress: Progress;
}

/** The deadline of calls that nothing should overtake. */
const AT_ONCE = Number.NEGATIVE_INFINITY;

/** One of each kind: a page of the server list, a console, a poll. */
const CALLS_TO_JUDGE = 3;

/** Causes that a wrong address may lead to. */
const MISLEADING: ReadonlySet<CauseCode> = new Set([
  'key_refused',
  'redirect',
  'login_page',
  'not_a_panel',
  'bad_answer',
  'panel_error',
]);

/** Tries one panel and its servers; never rejects because of the panel's behavior. */
export class PanelTrial {
  readonly #panel: DoctorPanel;
  readonly #tools: Tools;
  readonly #gateway: PanelGateway;
  readonly #telemetry: PanelTelemetry;
  /** Aborts when the panel turns out to be unusable for every server. */
  readonly #lost = new AbortController();
  /** Aborts with `#lost`, and when the doctor is stopped. */
  readonly #signal: AbortSignal;
  #targets: readonly ServerTarget[];
  /** A problem with the whole panel or its API key. */
  #problem: Problem | undefined;
  /** Where the panel is, if not at the configured URL. */
  #origin: string | undefined;
  #calls = 0;
  #throttled: string | undefined;
  /** The duration of the call by which the clocks were compared, and their difference, in milliseconds. */
  #clocks: { readonly spanMs: number; readonly skewMs: number } | undefined;

  /** @throws Error for an invalid proxy address */
  constructor(panel: DoctorPanel, tools: Tools) {
    this.#panel = panel;
    this.#tools = tools;
    this.#targets = panel.targets;
    this.#signal = AbortSignal.any([tools.signal, this.#lost.signal]);
    this.#telemetry = {
      ...NO_TELEMETRY,
      request: () => {
        this.#calls += 1;
      },
    };
    this.#gateway = new Gateway({
      ...panel.api,
      pinnedPerMinute: panel.pinnedPerMinute,
      panel: panel.name,
      clock: tools.clock,
      log: QUIET_LOG,
      telemetry: this.#telemetry,
    });
  }

  async run(): Promise<PanelReport> {
    const { clock } = this.#tools;
    const startedAt = clock.now();
    this.#watch();
    try {
      const { listing } = this.#panel;
      const walk = listing && (await this.#walk(listing));
      const cut = await this.#judge(walk?.failure?.error);
      const reach = this.#notify(this.#reach(cut));
      const key = reach.result === 'ok' ? this.#notify(this.#key()) : skipped('key', NOT_REACHED);
      const isOpen = reach.result === 'ok' && key.result !== 'failed';
      return {
        name: this.#panel.name,
        url: this.#panel.url,
        ...(isOpen ? await this.#tryAll(key, walk) : this.#closed(reach, key)),
        problem: this.#problem,
        calls: this.#calls,
        durationMs: clock.now() - startedAt,
      };
    } finally {
      await this.#gateway.close();
    }
  }

  #watch(): void {
    const { name } = this.#panel;
    const gateway = this.#gateway;
    gateway.onChange(() => {
      if (gateway.problem === undefined) return;
      // Nothing waits for the probe that may find the panel healthy again, so the first such problem is kept.
      this.#problem ??= gateway.problem;
      this.#lost.abort(new Canceled(LOST));
    });
    gateway.onPause((durationMs) => {
      this.#throttled = `the panel's rate limit is exceeded: pausing calls for ${readableDuration(durationMs)}`;
      this.#tools.progress.note(name, this.#throttled);
    });
    this.#countFleet();
  }

  #countFleet(): void {
    const idsOf = (targets: readonly ServerTarget[]) => targets.map(({ id }) => id);
    const servers = this.#targets.length;
    this.#gateway.setUse({
      listing: this.#panel.listing?.discovers === true ? 'required' : 'optional',
      servers,
      consoles: idsOf(this.#targets.filter(({ mode }) => mode !== 'poll')),
      polled: idsOf(this.#targets.filter(({ mode }) => mode !== 'socket')),
      onNode: () => servers,
      knows: () => true,
    });
  }

  #notify(finding: Finding<PanelStep>): Finding<PanelStep> {
    this.#tools.progress.panelStep(this.#panel.name, finding);
    return finding;
  }

  #bounded<T>(calls: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const callMs = Math.max(this.#panel.api.requestTimeoutMs, 60_000 / this.#perMinute);
    const deadlineMs = calls * callMs + PAUSE_ALLOWANCE_MS;
    const tools = { clock: this.#tools.clock, signal: this.#signal };
    return bounded(tools, deadlineMs, () => this.#late(deadlineMs), work);
  }

  /** Why the time is up: the panel held the calls back, or something else is slow. */
  #late(deadlineMs: number): Canceled {
    const time = readableDuration(deadlineMs);
    return this.#gateway.budget().paused
      ? new Canceled(`no call got a response within ${time}: ${this.#throttled ?? ''}`, 'rate_limited')
      : new Canceled(`timed out after ${time}`, 'deadline');
  }

  get #perMinute(): number {
    return this.#gateway.budget().limitPerMinute;
  }

  /** Finds out whether the panel responds and accepts the key; returns the reason if that was canceled first. */
  async #judge(listingError: unknown): Promise<unknown> {
    const verify = (signal: AbortSignal) => untilAborted(this.#gateway.verify(), signal);
    const cut: unknown =
      listingError instanceof Canceled
        ? listingError
        : await this.#bounded(CALLS_TO_JUDGE, verify).catch((error: unknown) => error);
    await this.#lookAtRoot();
    return this.#gateway.health === 'unknown' ? cut : undefined;
  }

  /**
   * A panel responds to an unknown path as to an unknown key or server: if nothing below a path shows that the panel works, but it does
   * at the root of its host, then `url` is wrong.
   */
  async #lookAtRoot(): Promise<void> {
    const { url } = this.#panel;
    const { origin, pathname } = new URL(url);
    const mayBeMisled = this.#problem === undefined || MISLEADING.has(this.#problem.cause);
    if (pathname === '/' || this.#gateway.health === 'up' || !mayBeMisled) return;
    if (!(await this.#listsAt(origin))) return;
    this.#origin = origin;
    const detail = `the panel is at ${origin}, where it accepts the key, not at ${url}`;
    this.#problem = { cause: 'not_a_panel', detail };
    this.#lost.abort(new Canceled(LOST));
  }

  /** Whether a panel at this address lists servers for the key. */
  async #listsAt(baseUrl: string): Promise<boolean> {
    const { clock, signal } = this.#tools;
    const api = new PanelApi({ ...this.#panel.api, baseUrl, telemetry: this.#telemetry, clock });
    try {
      await api.listing({ page: 1, perPage: 1 }, signal);
      return true;
    } catch {
      return false;
    } finally {
      await api.close();
    }
  }

  #reach(cut?: unknown): Finding<PanelStep> {
    const { url, sockets } = this.#panel;
    const finding = reachFinding(this.#problem, cut, { url, proxied: sockets.isProxied(url) });
    return this.#origin === undefined ? finding : { ...finding, remedy: `Set url to ${this.#origin}.` };
  }

  #key(): Finding<PanelStep> {
    const problems = this.#problem === undefined ? this.#gateway.problems : [this.#problem];
    return keyFinding(problems, this.#gateway.health === 'up');
  }

  #limit(): Finding<PanelStep> {
    const { knownLimitPerMinute: known, limitPerMinute: perMinute } = this.#gateway.budget();
    return limitFinding({
      known,
      perMinute,
      throttled: this.#throttled,
      pinned: this.#panel.pinnedPerMinute,
      shortfall: this.#panel.shortfall?.(this.#targets, perMinute),
    });
  }

  /** The report on a panel on which no server can be tried. */
  #closed(reach: Finding<PanelStep>, key: Finding<PanelStep>): PanelOutcome {
    const why = reach.result === 'ok' ? NO_KEY : NOT_REACHED;
    return {
      steps: [reach, key, skipped('limit', why), skipped('listing', why), skipped('clock', why)],
      servers: this.#targets.map((target) => untested(target, why)),
    };
  }

  async #tryAll(key: Finding<PanelStep>, walk: ListingWalk | undefined): Promise<PanelOutcome> {
    const limit = this.#notify(this.#limit());
    const listing = await this.#discover(walk);
    // With the discovered servers, the limit may turn out to be too low.
    if (this.#limit().result !== limit.result) this.#notify(this.#limit());
    const servers = this.#panel.triesServers === false ? [] : await this.#tryServers();
    const clock = this.#notify(clockFinding(this.#clocks?.skewMs));
    // A problem that affects all servers may have become apparent only while they were tried.
    const [reach, keyNow] = [this.#reach(), this.#key()];
    for (const finding of [reach, keyNow]) if (finding.result === 'failed') this.#notify(finding);
    return {
      steps: [reach, keyNow.result === 'failed' ? keyNow : key, this.#limit(), listing, clock],
      servers: this.#problem === undefined ? servers : servers.map(withoutPanelWide),
    };
  }

  /** Finds the servers to try in addition to the configured ones, and the addresses of their games. */
  async #discover(walk: ListingWalk | undefined): Promise<Finding<PanelStep>> {
    const { listing } = this.#panel;
    const isOff = skipped<PanelStep>('listing', 'discover is not set');
    if (listing === undefined || walk === undefined) return isOff;
    const selection = listing.select(walk);
    this.#targets = selection.targets;
    if (!listing.discovers) return isOff;
    this.#countFleet();
    const finding = listingFinding(walk, selection);
    const isEmpty = finding.cause === 'nothing_listed' && walk.servers.length === 0;
    const isOffered = isEmpty && listing.type !== 'admin-all' && (await this.#isAdmins());
    return this.#notify(isOffered ? { ...finding, remedy: ADMIN_REMEDY } : finding);
  }

  /** Whether the key belongs to an administrator, as far as the panel tells. */
  async #isAdmins(): Promise<boolean> {
    const { clock } = this.#tools;
    const api = new PanelApi({ ...this.#panel.api, telemetry: this.#telemetry, clock });
    try {
      return (await api.account(this.#signal)).value.isAdmin;
    } catch {
      return false;
    } finally {
      await api.close();
    }
  }

  /** Reads all pages of the server list; servers found before a failed page are kept. */
  async #walk(scope: ListingScope): Promise<ListingWalk> {
    return walkListing(({ page, perPage }) =>
      this.#bounded(1, (signal) =>
        this.#gateway.listing({ page, perPage, type: scope.type }, AT_ONCE, signal),
      ),
    );
  }

  async #tryServers(): Promise<readonly ServerReport[]> {
    const { name } = this.#panel;
    const { progress, signal } = this.#tools;
    const targets = this.#targets;
    const modes = targets.map(({ mode }) => mode);
    const options = this.#serverOptions();
    if (targets.length > 0) progress.planned(name, targets.length, estimateMs(modes, this.#perMinute));
    const trials = targets.map((target) => async () => {
      if (this.#signal.aborted) return untested(target, signal.aborted ? STOPPED : LOST);
      const report = await tryServer(target, options);
      progress.serverDone(name, report);
      return report;
    });
    return new PQueue({ concurrency: SERVERS_AT_ONCE }).addAll(trials);
  }

  #serverOptions(): ServerTrialOptions {
    const { clock, progress } = this.#tools;
    const { name, sockets, api, queries } = this.#panel;
    return {
      clock,
      sockets,
      queries,
      signal: this.#signal,
      gateway: this.#gateway,
      telemetry: this.#telemetry,
      requestTimeoutMs: api.requestTimeoutMs,
      late: (deadlineMs) => this.#late(deadlineMs),
      onToken: (token, span) => this.#compareClocks(token, span),
      onStep: (server, step) => progress.began(name, server, step),
    };
  }

  // A call may have waited in a queue: the faster it was, the more accurate the comparison.
  #compareClocks(token: string, span: CallSpan): void {
    const spanMs = span.to - span.from;
    if (this.#clocks !== undefined && this.#clocks.spanMs <= spanMs) return;
    const skewMs = clockSkewMs(token, span);
    if (skewMs !== undefined) this.#clocks = { spanMs, skewMs };
  }
}

/** What the trial found out about the panel and its servers. */
type PanelOutcome = Pick<PanelReport, 'steps' | 'servers'>;

/** The report without the problem of the whole panel, which is reported once for the panel. */
function withoutPanelWide(report: ServerReport): ServerReport {
  const steps = report.steps.map((finding) =>
    finding.cause !== undefined && isPanelWide(CAUSES[finding.cause]) ? skipped(finding.step, LOST) : finding,
  );
  return { ...report, steps };
}
