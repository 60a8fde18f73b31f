import type { Clock } from '../domain/clock.ts';
import type { ServerTarget } from '../domain/server.ts';
import type { PanelApiOptions } from '../panel/api.ts';
import type { Resources } from '../panel/decode.ts';
import type { ListingPage } from '../panel/decode-listing.ts';
import { type Attempt, attempt, failedCall, STOPPED } from './attempt.ts';
import { bounded, inParallel } from './bounded.ts';
import { clockFinding, clockSkewMs } from './clock-skew.ts';
import { estimateMs, PAUSE_ALLOWANCE_MS, SERVERS_AT_ONCE } from './estimate.ts';
import { type Discovery, firstPage, listingFinding, walkOn } from './listing-walk.ts';
import type { Contact } from './panel-cause.ts';
import { PanelLine } from './panel-line.ts';
import {
  keyFinding,
  leavesOpen,
  limitFinding,
  type PanelProbe,
  reachFinding,
  settlesKey,
} from './panel-steps.ts';
import type { Progress } from './progress.ts';
import {
  type Finding,
  failed,
  type PanelReport,
  type PanelStep,
  type ServerReport,
  skipped,
} from './report.ts';
import { lateCut, tryServer } from './server-trial.ts';
import type { SocketTrialOptions } from './socket-trial.ts';
import { LOST, NO_KEY, NOT_REACHED, untried } from './untried.ts';

/** One panel to be tried, as the configuration says. */
export interface DoctorPanel {
  readonly name: string;
  readonly url: string;
  /** The servers in the configuration. */
  readonly targets: readonly ServerTarget[];
  /** Where the listing is to be walked for more. */
  readonly discovery?: Discovery;
  readonly pinnedPerMinute?: number;
  readonly api: Omit<PanelApiOptions, 'telemetry' | 'clock'>;
  readonly sockets: Omit<SocketTrialOptions, 'clock' | 'telemetry' | 'onStep'>;
}

/** What every panel's trial works with. */
export interface Tools {
  readonly clock: Clock;
  /** Stops the doctor. */
  readonly signal: AbortSignal;
  readonly progress: Progress;
}

/** A panel counts as asked once so many servers left open whether the key is taken. */
const SERVERS_ASKED = 3;

/** Tries one panel and its servers; never rejects for what the panel does. */
export class PanelTrial {
  readonly #panel: DoctorPanel;
  readonly #tools: Tools;
  readonly #contact: Contact;
  /** The same, once the panel has answered. */
  readonly #met: Contact;
  readonly #line: PanelLine;
  /** What the servers said that were asked for the panel's sake. */
  readonly #early = new Map<string, Attempt<Resources>>();
  #targets: readonly ServerTarget[];
  #page: Attempt<ListingPage> | undefined;
  #skewMs: number | undefined;

  /** @throws Error where the proxy's address is none */
  constructor(panel: DoctorPanel, tools: Tools) {
    this.#panel = panel;
    this.#tools = tools;
    this.#targets = panel.targets;
    this.#line = new PanelLine({
      panel: panel.name,
      api: panel.api,
      clock: tools.clock,
      fleetSize: () => this.#targets.length,
      onThrottled: (words) => tools.progress.note(panel.name, words),
      ...(panel.pinnedPerMinute === undefined ? {} : { pinnedPerMinute: panel.pinnedPerMinute }),
    });
    // After the line, which says what is wrong with a proxy's address.
    this.#contact = { url: panel.url, proxied: panel.sockets.isProxied(panel.url) };
    this.#met = { ...this.#contact, met: true };
  }

  async run(): Promise<PanelReport> {
    const { clock } = this.#tools;
    const startedAt = clock.now();
    try {
      const probe = await this.#probe();
      const reach = this.#tell(reachFinding(probe, this.#contact));
      const key = this.#tell(reach.result === 'ok' ? keyFinding(probe) : skipped('key', NOT_REACHED));
      const isOpen = reach.result === 'ok' && key.result !== 'failed';
      const why = reach.result === 'ok' ? NO_KEY : NOT_REACHED;
      const limit = isOpen ? this.#tell(this.#limit()) : skipped('limit', why);
      const listing = isOpen ? await this.#discover() : skipped('listing', why);
      const servers = isOpen ? await this.#tryServers() : this.#untried(why);
      const clockStep = isOpen ? this.#tell(clockFinding(this.#skewMs)) : skipped('clock', why);
      return {
        name: this.#panel.name,
        url: this.#panel.url,
        steps: [...this.#afterwards(reach, key), isOpen ? this.#limit() : limit, listing, clockStep],
        servers,
        calls: this.#line.calls,
        durationMs: clock.now() - startedAt,
      };
    } finally {
      await this.#line.close();
    }
  }

  #tell(finding: Finding<PanelStep>): Finding<PanelStep> {
    this.#tools.progress.panelStep(this.#panel.name, finding);
    return finding;
  }

  /** Asks until it is clear whether the panel answers and takes the key. */
  #probe(): Promise<PanelProbe> {
    return this.#bounded(SERVERS_ASKED + 1, (signal) => this.#ask(signal));
  }

  #bounded<T>(calls: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const callMs = Math.max(this.#panel.api.requestTimeoutMs, 60_000 / this.#line.perMinute);
    const deadlineMs = calls * callMs + PAUSE_ALLOWANCE_MS;
    return bounded(this.#tools, deadlineMs, () => lateCut(this.#line, deadlineMs), work);
  }

  async #ask(signal: AbortSignal): Promise<PanelProbe> {
    const { discovery } = this.#panel;
    if (discovery !== undefined) this.#page = await firstPage(this.#line, discovery, signal);
    let listing: PanelProbe['listing'] = this.#page;
    if (listing !== undefined && settlesKey(listing)) return { resources: [], listing };
    for (const { id } of this.#targets.slice(0, SERVERS_ASKED)) {
      const asked = await attempt(this.#line.probe(id, signal));
      this.#early.set(id, asked);
      if (!leavesOpen(asked)) break;
      listing ??= await attempt(this.#line.listing({ page: 1, perPage: 1 }, signal));
      if (settlesKey(listing)) break;
    }
    return { resources: [...this.#early.values()], ...(listing === undefined ? {} : { listing }) };
  }

  /** Finds the servers that are to be tried beside the configured ones. */
  async #discover(): Promise<Finding<PanelStep>> {
    const { discovery } = this.#panel;
    const page = this.#page;
    if (discovery === undefined || page === undefined) return skipped('listing', 'discover is not set');
    const pages = page.ok ? page.value.totalPages : 1;
    const walk = await this.#bounded(pages, (signal) => walkOn(this.#line, discovery, page, signal));
    this.#targets = discovery.targets(walk.listed);
    return this.#tell(listingFinding(walk, this.#targets.length, this.#met));
  }

  async #tryServers(): Promise<readonly ServerReport[]> {
    const { name } = this.#panel;
    const { progress } = this.#tools;
    const targets = this.#targets;
    const modes = targets.map(({ mode }) => mode);
    progress.planned(name, targets.length, estimateMs(modes, this.#line.perMinute));
    return inParallel(targets, SERVERS_AT_ONCE, async (target) => {
      const lost = this.#tools.signal.aborted ? STOPPED : this.#line.lost && LOST;
      if (lost !== undefined) return untried(target, lost);
      const report = await this.#tryServer(target);
      progress.serverDone(name, report);
      return report;
    });
  }

  async #tryServer(target: ServerTarget): Promise<ServerReport> {
    const { clock, signal, progress } = this.#tools;
    const { name, sockets, api } = this.#panel;
    const options = {
      clock,
      signal,
      sockets,
      line: this.#line,
      contact: this.#met,
      requestTimeoutMs: api.requestTimeoutMs,
      onToken: (token: string, from: number, to: number) => {
        this.#skewMs ??= clockSkewMs(token, { from, to });
      },
      onStep: (server: string, step: ServerReport['steps'][number]['step']) =>
        progress.began(name, server, step),
    };
    return tryServer(target, options, this.#early.get(target.id));
  }

  #untried(why: string): readonly ServerReport[] {
    return this.#targets.map((target) => untried(target, why));
  }

  /** What is to be said of the panel if it was lost while its servers were tried. */
  #afterwards(reach: Finding<PanelStep>, key: Finding<PanelStep>): readonly Finding<PanelStep>[] {
    const { lost } = this.#line;
    if (lost === undefined) return [reach, key];
    const found = failedCall('reach' as const, lost.error, this.#met);
    if (lost.trouble === 'unreachable') return [this.#tell(found), key];
    return [reach, this.#tell(failed('key', 'key_refused', found.detail))];
  }

  #limit(): Finding<PanelStep> {
    const { knownLimit: known, perMinute, throttled } = this.#line;
    return limitFinding({ known, perMinute, throttled, pinned: this.#panel.pinnedPerMinute });
  }
}
