import type { BackupSettings, ListingSettings } from '../domain/discovery.ts';
import type { PanelReading } from '../domain/reading.ts';
import type { ServerTarget } from '../domain/server.ts';
import { BackupWatch } from './backup-watch.ts';
import { Discovery } from './discovery.ts';
import { type PanelContext, PanelFleet, type PanelSettings } from './panel-fleet.ts';
import type { TargetChanges } from './roster.ts';
import type { ServerRecord } from './server-record.ts';

/** What a panel is asked for: its configured servers, and what else is to be known. */
export interface PanelWants {
  readonly servers: readonly ServerTarget[];
  readonly listing?: ListingSettings;
  readonly backups?: BackupSettings;
}

/** What this fleet works with beside what every panel's fleet does. */
export interface ListedContext extends PanelContext {
  /** Is the server this shard's? */
  readonly isOurs: (server: ServerTarget) => boolean;
}

/** A panel's fleet of configured and discovered servers, and their backups. */
export class ListedFleet {
  readonly #fleet: PanelFleet;
  readonly #discovery: Discovery;
  readonly #backups: BackupWatch;

  constructor(settings: PanelSettings, wants: PanelWants, context: ListedContext) {
    const { clock, log, random, gateway, isOurs } = context;
    const { name: panel } = settings;
    const callsPerMinute = () => gateway.budget().limitPerMinute;
    this.#discovery = new Discovery({
      panel,
      clock,
      log,
      callsPerMinute,
      isOurs,
      listing: (query, signal, urgent) => gateway.listing(query, signal, urgent),
      found: (targets) => this.#observe(targets),
    });
    const targets = this.#discovery.configure(wants.servers, wants.listing);
    this.#fleet = new PanelFleet(settings, targets, context);
    this.#backups = new BackupWatch({
      panel,
      clock,
      log,
      random,
      callsPerMinute,
      backups: (server, page, signal) => gateway.backups(server, page, signal),
      records: () => this.#fleet.records,
    });
    this.#backups.configure(wants.backups);
  }

  /** The servers in the list's order; another array where servers came, went or moved. */
  get records(): readonly ServerRecord[] {
    return this.#fleet.records;
  }

  start(): void {
    this.#fleet.setTargets(this.#discovery.targets, this.#reserve(this.#discovery.targets));
    this.#fleet.start();
    this.#discovery.start();
    this.#backups.start();
  }

  /** Observes these configured servers, and what else is wanted, from now on; what is the same isn't touched. */
  setWants({ servers, listing, backups }: PanelWants): TargetChanges {
    const targets = this.#discovery.configure(servers, listing);
    this.#backups.configure(backups);
    return this.#observe(targets);
  }

  /** Takes on how often to poll and when a sample is stale, in milliseconds. */
  setIntervals(intervals: Pick<PanelSettings, 'pollIntervalMs' | 'stalenessMs'>): void {
    this.#fleet.setIntervals(intervals);
  }

  /** The gateway uses another key, which may see other servers. */
  keyChanged(): void {
    this.#fleet.keyChanged();
    this.#discovery.restart();
  }

  /** Resolves when every socket is closed. */
  async stop(): Promise<void> {
    this.#discovery.stop();
    this.#backups.stop();
    await this.#fleet.stop();
  }

  reading(): PanelReading {
    const { reading } = this.#discovery;
    return { ...this.#fleet.reading(), ...(reading !== undefined && { discovery: reading }) };
  }

  #observe(targets: readonly ServerTarget[]): TargetChanges {
    return this.#fleet.setTargets(targets, this.#reserve(targets));
  }

  /** Calls a minute that the listing and backups take. */
  #reserve(targets: readonly ServerTarget[]): number {
    return this.#discovery.callsPerMinute + this.#backups.callsPerMinute(targets);
  }
}
