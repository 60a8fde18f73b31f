// One running panel with its configuration.

import type { NameLookups } from '../addresses/name-lookups.ts';
import type { PanelConfig } from '../config/config.ts';
import { affectedByChanges } from '../config/reload-effects.ts';
import type { Clock } from '../domain/clock.ts';
import type { KeptServer } from '../domain/kept-server.ts';
import type { Logger } from '../domain/logger.ts';
import type { ServerTarget } from '../domain/server.ts';
import type { PanelTelemetry } from '../domain/telemetry.ts';
import type { ServerIdentity } from '../fleet/discover-rules.ts';
import { PanelFleet } from '../fleet/panel-fleet.ts';
import type { QueryAccess } from '../fleet/query-watch.ts';
import type { SharedSockets } from '../fleet/shared-sockets.ts';
import type { Account } from '../panel/account.ts';
import { Gateway } from '../panel/gateway.ts';
import { PanelApi } from '../panel/panel-api.ts';
import { Connections } from '../panel/panel-connections.ts';
import { SpokenDialect } from '../panel/spoken-dialect.ts';
import { type QueryClient, QueryThread } from '../query/query-thread.ts';
import { findService } from '../query/service-lookup.ts';
import { makeIsTakenNow } from '../query/taken-ports.ts';
import type { ConnectPacer, InTurn } from '../session/connect-pacer.ts';
import type { Accounts } from './accounts.ts';
import { apiAccess, socketAccess } from './panel-access.ts';
import type { Shard } from './shard.ts';

/** The context that all panels share. */
export interface PanelShared {
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  /** Returns the counters for this panel's collection. */
  readonly telemetry: (panel: string) => PanelTelemetry;
  readonly shard: Shard;
  /** Is the server in this exporter's shard? */
  readonly isOurs: (server: ServerIdentity) => boolean;
  readonly socketLimit: SharedSockets;
  /** Replaces the query thread of each panel. */
  readonly queryClient?: QueryClient | undefined;
  readonly names: NameLookups;
  /** Takes a server's state from before the exporter's restart. Each state can be taken once. */
  readonly kept?: ((target: ServerTarget) => KeptServer | undefined) | undefined;
}

/** Adds the shared state that the supervisor creates. */
export interface PanelContext extends PanelShared, Pick<QueryAccess, 'isTaken'> {
  readonly connects: ConnectPacer;
}

/**
 * One running panel, and the configuration that it currently uses. Nothing is opened before its
 * fleet starts.
 */
export class RunningPanel {
  readonly fleet: PanelFleet;
  /**
   * Does this panel's server list show that another server has this port at this address? The
   * server that asks may be another panel's.
   */
  readonly isTaken: QueryAccess['isTaken'];
  readonly #clock: Clock;
  readonly #resolve: ReturnType<NameLookups['forPanel']>;
  readonly #inTurn: InTurn;
  readonly #api: PanelApi;
  readonly #dialect: SpokenDialect;
  #config: PanelConfig;
  #account: Account;

  /** @throws Error if the environment's proxy is invalid */
  constructor(config: PanelConfig, account: Account, shared: PanelContext) {
    const { clock, names, connects, queryClient, isTaken } = shared;
    const telemetry = shared.telemetry(config.name);
    const resolve = names.forPanel();
    const inTurn = connects.line();
    this.#account = account;
    this.isTaken = makeIsTakenNow(config.name, () => this.fleet.discovery.listed);
    this.#clock = clock;
    this.#resolve = resolve;
    this.#inTurn = inTurn;
    this.#config = config;
    const access = { ...apiAccess(config, clock, resolve), telemetry };
    const apiKey = () => this.#config.apiKey.reveal();
    this.#dialect = new SpokenDialect({ kind: config.panel, apiKey });
    this.#dialect.events.on('recognized', ({ rate }) => this.#account.limit.speaks(rate));
    const options = { ...access, apiKey, dialect: this.#dialect, log: shared.log, account };
    this.#api = new PanelApi(options);
    this.fleet = new PanelFleet(config, {
      ...shared,
      telemetry,
      gateway: new Gateway({ ...options, inTurn: connects.line() }, this.#api),
      sockets: socketAccess(config, clock, resolve, this.#dialect, inTurn),
      openNodes: (key) =>
        new PanelApi({ ...access, ...apiAccess(this.#config, clock, resolve), apiKey: () => key.reveal() }),
      openQueries: () => {
        const client = queryClient ?? new QueryThread();
        return { client, resolve, findService, isTaken, panelUrl: config.url };
      },
    });
  }

  get config(): PanelConfig {
    return this.#config;
  }

  /** The account that the current key belongs to. */
  get account(): Account {
    return this.#account;
  }

  /**
   * Prepares another configuration of the same panel. The returned function applies the
   * differences.
   *
   * @throws Error if the environment's proxy is invalid
   */
  prepare(next: PanelConfig, accounts: Accounts): () => void {
    const affected = affectedByChanges(this.#config, next);
    const connections = affected.has('calls')
      ? new Connections(apiAccess(next, this.#clock, this.#resolve))
      : undefined;
    const sockets = affected.has('sockets')
      ? socketAccess(next, this.#clock, this.#resolve, this.#dialect, this.#inTurn)
      : undefined;
    return () => {
      this.#config = next;
      if (connections !== undefined) this.#api.use(connections);
      this.fleet.configure(next);
      if (affected.has('key')) {
        this.#account = accounts.findOrAdd(next);
        this.fleet.keyChanged(this.#account);
      }
      if (sockets !== undefined || connections !== undefined) this.fleet.accessChanged(sockets);
    };
  }
}
