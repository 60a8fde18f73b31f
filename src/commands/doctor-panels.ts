import type { Config, PanelConfig } from '../config/config.ts';
import type { Discovery } from '../doctor/listing-walk.ts';
import type { DoctorPanel } from '../doctor/panel-trial.ts';
import type { Clock } from '../domain/clock.ts';
import { afterWalk, presentable } from '../fleet/census.ts';
import { mergeTargets } from '../fleet/discovered-targets.ts';
import { compileRules } from '../fleet/discovery-filter.ts';
import { apiAccess, socketAccess } from '../panel-access.ts';
import { isLocalHost } from '../session/socket-address.ts';

/** The panels of a configuration as the doctor takes them. */
export function doctorPanels({ panels }: Config, clock: Clock): readonly DoctorPanel[] {
  return panels.map((panel) => doctorPanel(panel, clock));
}

function doctorPanel(panel: PanelConfig, clock: Clock): DoctorPanel {
  const { name, url, origin, connectTimeoutMs, authTimeoutMs, socketHosts, requestsPerMinute } = panel;
  const discovery = discoveryOf(panel);
  return {
    name,
    url,
    targets: panel.servers,
    api: apiAccess(panel),
    sockets: {
      ...socketAccess(panel, clock),
      origin,
      connectTimeoutMs,
      authTimeoutMs,
      addressRules: {
        allowsPlain: panel.allowInsecure || isLocalHost(new URL(url).hostname),
        limitsHosts: socketHosts !== undefined,
      },
    },
    ...(discovery === undefined ? {} : { discovery }),
    ...(requestsPerMinute === undefined ? {} : { pinnedPerMinute: requestsPerMinute }),
  };
}

/** What the daemon would observe, going by one walk through the listing. */
function discoveryOf({ name, servers, listing }: PanelConfig): Discovery | undefined {
  const rules = listing?.discover;
  if (rules === undefined) return undefined;
  const compiled = { panel: name, labels: rules.labels, mode: rules.mode, judge: compileRules(rules) };
  return {
    ...(listing?.type === undefined ? {} : { type: listing.type }),
    targets: (listed) => {
      const shown = listed.map(presentable).filter((server) => server !== undefined);
      return mergeTargets(servers, afterWalk(new Map(), { servers: shown, complete: true }), compiled)
        .targets;
    },
  };
}
