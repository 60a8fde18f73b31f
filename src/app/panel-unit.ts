import { isSameKey, type PanelConfig } from '../config/config.ts';
import type { Clock } from '../domain/clock.ts';
import type { Logger } from '../domain/log.ts';
import type { TargetChanges } from '../fleet/members.ts';
import { type PanelContext, PanelFleet } from '../fleet/panel-fleet.ts';
import { isInShard, type Shard } from '../fleet/shard.ts';
import type { SocketLimit } from '../fleet/socket-limit.ts';
import type { SelfMetrics } from '../metrics/self.ts';
import type { NameLookups } from '../names/name-lookups.ts';
import { PanelApi } from '../panel/api.ts';
import { Gateway } from '../panel/gateway.ts';
import { RateLimit } from '../panel/rate-limit.ts';
import { apiAccess, socketAccess } from './panel-access.ts';
import type { SharedQueryAccess } from './query-access.ts';

/** What all panels share. */
export interface PanelShared {
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  readonly self: SelfMetrics;
  readonly shard: Shard;
  readonly socketLimit: SocketLimit;
  /** By account. */
  readonly limits: Map<string, RateLimit>;
  readonly queries: SharedQueryAccess;
  readonly names: NameLookups;
}

/** The rate limit of the panel's account: entries with the same address and key share one. */
function limitOf(panel: PanelConfig, { clock, limits, shard }: PanelShared): RateLimit {
  const { url, apiKey, requestsPerMinute, keyPerShard } = panel;
  const account = JSON.stringify([url, apiKey.reveal(), requestsPerMinute, keyPerShard]);
  const share = keyPerShard ? 1 : 1 / shard.total;
  const limit = limits.get(account) ?? new RateLimit({ clock, pinnedPerMinute: requestsPerMinute, share });
  limits.set(account, limit);
  return limit;
}

/** One running panel of the configuration. */
export interface PanelUnit {
  /** The configuration currently in use. */
  readonly config: PanelConfig;
  readonly fleet: PanelFleet;
  /** Applies a new configuration with the same connection; unchanged servers are not affected. */
  update(next: PanelConfig): TargetChanges;
}

/**
 * Builds the parts of one panel; nothing is opened before its fleet is started.
 *
 * @throws Error if the environment's proxy is invalid
 */
export function createPanelUnit(panel: PanelConfig, shared: PanelShared): PanelUnit {
  const { clock, log, random, self, shard, socketLimit, queries, names } = shared;
  const resolve = names.forPanel();
  let config = panel;
  const telemetry = self.telemetry(panel.name);
  const context: PanelContext = {
    clock,
    log,
    random,
    telemetry,
    gateway: new Gateway({
      ...apiAccess(panel, clock, resolve),
      apiKey: () => config.apiKey.reveal(),
      telemetry,
      clock,
      log,
      limit: limitOf(panel, shared),
    }),
    ...socketAccess(panel, clock, resolve, () => socketLimit.take()),
    openNodes: (apiKey) =>
      new PanelApi({ ...apiAccess(panel, clock, resolve), apiKey: () => apiKey.reveal(), telemetry }),
    socketLimit,
    queries: { ...queries, resolve, panelUrl: panel.url },
    isOurs: (server) => isInShard(server, shard),
  };
  const ratePinned = panel.requestsPerMinute !== undefined;
  const fleet = new PanelFleet({ ...panel, ratePinned }, panel, context);
  return {
    get config() {
      return config;
    },
    fleet,
    update: (next) => {
      const before = config;
      config = next;
      if (before.pollIntervalMs !== next.pollIntervalMs || before.stalenessMs !== next.stalenessMs) {
        fleet.setIntervals(next);
      }
      const changes = fleet.setSelection(next);
      if (!isSameKey(before, next)) fleet.keyChanged();
      return changes;
    },
  };
}
