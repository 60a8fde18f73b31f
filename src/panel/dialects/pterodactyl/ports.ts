import type { ListedServer } from '../../dialect.ts';
import { isPort, localAllocation, serverAddress } from '../../server-address.ts';
import { asFields, asText, type Fields } from './fields.ts';

/** Far more than any server has, and too few to take long. */
const MAX_RELATED = 1_000;

/** Names of variables with the port at which a game responds to queries, as in the eggs of parkervcp/eggs and pelican-eggs. */
const QUERY_PORT = /^(?:[A-Z]{1,20}_)?QUERY_?PORT$|^QPORT$/;

/**
 * Where a server of the server list can be reached (`AllocationTransformer`, `EggVariableTransformer` and `sftp_details` of each panel). Panels list all
 * allocations of a server, or only the default one if the account may not see the others; and the variables that its users may
 * see, or none.
 */
export function decodePorts(
  attributes: Fields,
): Pick<ListedServer, 'address' | 'allocation' | 'namedPort' | 'otherPorts'> {
  const allocations = related(attributes, 'allocations');
  const chosen = allocations.find((allocation) => allocation['is_default'] === true);
  const [hosts, port] = [[chosen?.['ip_alias'], chosen?.['ip']], chosen?.['port']];
  const address = serverAddress(hosts, port);
  const node = asFields(attributes['sftp_details'])?.['ip'];
  const allocation = address === undefined ? localAllocation([...hosts, node], port) : undefined;
  const otherPorts = allocations
    .filter(({ ip, port: other }) => ip === chosen?.['ip'] && other !== port)
    .map((other) => other['port'])
    .filter(isPort);
  // A port that isn't the server's own isn't forwarded to it, and may be that of a server that isn't listed.
  const namedPort = namedPorts(attributes).find((named) => otherPorts.includes(named));
  return {
    ...(address !== undefined && { address }),
    ...(allocation !== undefined && { allocation }),
    ...(namedPort !== undefined && { namedPort }),
    ...(otherPorts.length > 0 && { otherPorts }),
  };
}

function namedPorts(attributes: Fields): readonly number[] {
  return related(attributes, 'variables')
    .filter((variable) => QUERY_PORT.test(asText(variable['env_variable']) ?? ''))
    .map((variable) => Number(variable['server_value'] ?? variable['default_value']));
}

/** The attributes of the entries of a relationship that is a list. */
function related(attributes: Fields, name: string): readonly Fields[] {
  const data = asFields(asFields(attributes['relationships'])?.[name])?.['data'];
  if (!Array.isArray(data)) return [];
  return data
    .slice(0, MAX_RELATED)
    .map((entry) => asFields(asFields(entry)?.['attributes']))
    .filter((fields) => fields !== undefined);
}
