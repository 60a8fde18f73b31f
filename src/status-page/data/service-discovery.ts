// The servers' addresses for the HTTP service discovery of Prometheus.

import { parseEndpoint } from '../../addresses/hosts.ts';
import { isManyAddress, isMetadataAddress } from '../../addresses/ranges.ts';
import type { FleetReading, ServerReading } from '../../domain/reading.ts';
import { shortId } from '../../domain/server-ids.ts';
import { arrayText, inBlocks } from './blocks.ts';

/**
 * Whether a panel's server list hasn't been read yet. Until then, addresses from before a restart
 * are missing.
 */
export function isDiscoveryPending(fleet: Pick<FleetReading, 'panels'>): boolean {
  return fleet.panels().some(({ discovery }) => discovery?.isPending === true);
}

/**
 * The servers with known addresses as a list of targets, in the order of the fleet and in blocks of
 * text.
 */
export function* targetGroups(fleet: Pick<FleetReading, 'servers'>): Generator<string, void, void> {
  const groups = yield* inBlocks(fleet.servers(), targetGroup);
  yield* arrayText(groups.filter(Boolean), (group) => group);
  yield '\n';
}

const META = '__meta_gameserver_';

/** A server in the format of Prometheus' HTTP service discovery: targets with common labels. */
function targetGroup({ target, node }: ServerReading) {
  const { address, panel, name, uuid, egg } = target;
  if (address === undefined || isNeverTarget(address)) return undefined;
  return {
    targets: [address],
    labels: {
      [`${META}panel`]: panel,
      [`${META}server`]: name,
      [`${META}server_id`]: shortId(target),
      ...(uuid !== undefined && { [`${META}uuid`]: uuid }),
      ...(node !== undefined && { [`${META}node`]: node }),
      ...(egg !== undefined && { [`${META}egg`]: egg }),
      ...Object.fromEntries(
        Object.entries(target.labels).map(([label, value]) => [`${META}label_${label}`, value]),
      ),
    },
  };
}

/** A panel must not direct Prometheus to addresses that the exporter never queries. */
function isNeverTarget(address: string): boolean {
  const { host = '' } = parseEndpoint(address) ?? {};
  return isMetadataAddress(host) || isManyAddress(host);
}
