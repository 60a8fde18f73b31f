// The allocations of simulated servers, in panels' format.

import type { Allocation } from './panel-documents.ts';
import type { SimulatedServer } from './simulated-server.ts';

/** The lowest port for a server without a port in its spec. */
const FIRST_PORT = 20_000;

/**
 * The server's allocations. Addresses that no spec contains are reserved for documentation (RFC
 * 5737) and unreachable. The default allocation comes last, because panels list allocations in no
 * particular order.
 */
export function listedAllocations({
  allocationSpec,
  identifier,
  node,
}: Pick<SimulatedServer, 'allocationSpec' | 'identifier' | 'node'>): readonly Allocation[] {
  if (allocationSpec === null) return [];
  const free = FIRST_PORT + (Number.parseInt(identifier.slice(0, 4), 16) % 40_000);
  const {
    ip = `198.51.100.${node + 1}`,
    alias = null,
    port = free,
    otherPorts = [port - 1],
  } = allocationSpec;
  return [
    ...otherPorts.map((other) => ({ ip, ip_alias: null, port: other, is_default: false })),
    { ip, ip_alias: alias, port, is_default: true },
  ];
}
