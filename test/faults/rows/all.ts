// All rows of faults, by group.
import type { CauseCode } from '../../../src/domain/problems.ts';
import type { FaultRow } from '../../support/fault-row.ts';
import { ACCOUNT_SHARED_ROW, BACKLOG_ROW, BUDGET_ROW } from './budget.ts';
import { CALAGOPUS_ROWS } from './calagopus.ts';
import { TLS_ROWS } from './certificates.ts';
import { DATA_ROWS } from './data.ts';
import { DESCRIPTORS_ROW } from './descriptors.ts';
import { DOCTOR_ROWS } from './doctor.ts';
import { NETWORK_ROWS } from './networks.ts';
import { PANEL_ROWS } from './panels.ts';
import { PROXY_ROWS } from './proxies.ts';
import { QUERY_ROWS } from './queries.ts';
import { REST_ROWS } from './rest.ts';
import { SERVER_ROWS } from './servers.ts';
import { SOCKET_ROWS } from './sockets.ts';
import { TOKEN_ROWS } from './tokens.ts';

/** A row of each kind, and rows that have found bugs. */
const QUICK: readonly string[] = [
  'credentials: 403 as errors',
  'resources: 504 as html',
  'upgrades that are refused with 404',
  'an auth without a response',
  'sockets that are closed with 1000 as soon as they open',
  'a half-open socket, and no new one opens',
  'a server that was moved to another node, detected by its new token',
  'a token that expires while the panel is down',
  'a wall clock that is stepped by an hour, back',
  'refused connections: the panel is stopped, and its nodes with it',
  'a key that is revoked while sockets are open',
  'every call fails because of a firewall page',
  '"daemon error" in response to auth: the node and the panel have different daemon tokens',
  'a node that accepts connections and drops all traffic',
  'a node whose connections are reset once',
  'a proxy that refuses the tunnel to a node',
];

const GROUPS = {
  credentials: REST_ROWS.filter(({ name }) => name.startsWith('credentials')),
  resources: REST_ROWS.filter(({ name }) => name.startsWith('resources')),
  sockets: SOCKET_ROWS,
  servers: [...SERVER_ROWS, ...TOKEN_ROWS],
  panels: PANEL_ROWS,
  data: DATA_ROWS,
  proxies: PROXY_ROWS,
  networks: NETWORK_ROWS,
  calagopus: CALAGOPUS_ROWS,
};

/** Rows with their names, in the form of test tables. */
type Titled = readonly (readonly [name: string, row: FaultRow])[];

/** The rows of `npm test`. */
export const QUICK_ROWS: Titled = titled(named(QUICK));

/** The causes of all rows. */
export const PLAYED_CAUSES: ReadonlySet<CauseCode> = new Set([
  ...Object.values(GROUPS)
    .flat()
    .flatMap(({ cause }) => cause ?? []),
  ...[
    ...TLS_ROWS,
    ...DOCTOR_ROWS,
    ...QUERY_ROWS,
    DESCRIPTORS_ROW,
    BUDGET_ROW,
    BACKLOG_ROW,
    ACCOUNT_SHARED_ROW,
  ].map(({ cause }) => cause),
]);

/** The rows with a cause that an exporter shows even if it starts during the fault. */
export const ROWS_WITH_A_CAUSE: Titled = titled(
  Object.values(GROUPS)
    .flat()
    .filter(({ cause, isOfOpenSocket }) => cause && !isOfOpenSocket),
);

/** The rows of this group, without the quick ones. */
export function slowRows(group: keyof typeof GROUPS): Titled {
  return titled(GROUPS[group].filter(({ name }) => !QUICK.includes(name)));
}

function titled(rows: readonly FaultRow[]): Titled {
  return rows.map((row) => [row.name, row]);
}

function named(names: readonly string[]): readonly FaultRow[] {
  const rows = [
    ...REST_ROWS,
    ...SOCKET_ROWS,
    ...SERVER_ROWS,
    ...TOKEN_ROWS,
    ...PANEL_ROWS,
    ...PROXY_ROWS,
    ...NETWORK_ROWS,
    ...DATA_ROWS,
  ];
  return names.map((name) => {
    const found = rows.find((row) => row.name === name);
    if (found === undefined) throw new Error(`expected a row named "${name}"`);
    return found;
  });
}
