import type { NodeCapacity } from '../../../domain/reading.ts';
import { finiteLimit, MIB } from '../../../domain/server.ts';
import type { NodesPage } from '../../dialect.ts';
import { asFields, asText, attributesOf, entriesOf, isUsable, limit, pageCount } from './fields.ts';

/**
 * The nodes on one page of the application API's list, in the panel's order.
 *
 * @throws ShapeError if the body holds no list
 */
export function decodeNodesPage(body: unknown): NodesPage {
  return { nodes: entriesOf(body).filter(isUsable) as readonly NodeCapacity[], totalPages: pageCount(body) };
}

/**
 * A node in the application API's list (`NodeTransformer` of Pterodactyl and Pelican, which also contains what the daemons'
 * configuration needs); undefined without a name.
 */
export function decodeNode(entry: unknown): NodeCapacity | undefined {
  const attributes = attributesOf(entry);
  const name = asText(attributes?.['name']);
  if (attributes === undefined || name === undefined) return undefined;
  const allocated = asFields(attributes['allocated_resources']);
  return {
    name,
    memoryBytes: finiteLimit(limit(attributes['memory'], MIB)),
    diskBytes: finiteLimit(limit(attributes['disk'], MIB)),
    memoryAllocatedBytes: sumOfLimits(allocated?.['memory']),
    diskAllocatedBytes: sumOfLimits(allocated?.['disk']),
    memoryOverallocation: overallocation(attributes['memory_overallocate']),
    diskOverallocation: overallocation(attributes['disk_overallocate']),
    isUnderMaintenance: attributes['maintenance_mode'] === true,
  };
}

function sumOfLimits(value: unknown): number | undefined {
  return value === 0 ? 0 : finiteLimit(limit(value, MIB));
}

/** In percent on the wire, where -1 means that any amount may be allocated. */
function overallocation(value: unknown): number | undefined {
  if (value === -1) return Number.POSITIVE_INFINITY;
  return typeof value === 'number' && value >= 0 ? value / 100 : undefined;
}
