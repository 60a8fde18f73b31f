// The columns of the table.
import type { ComponentChild } from 'preact';
import { countText } from '../data/amounts.ts';
import type { LiveServer } from '../data/live-fields.ts';
import { networkCell, problemCell, serverCell, stateCell } from './cells.tsx';
import type { LiveFleet } from './live-fleet.ts';
import { playerText } from './players.ts';
import { meter, RESOURCES } from './resources.tsx';
import { SORTS, type SortKey } from './sorting.ts';
import { stripCell } from './strip-cell.tsx';
import { GROUPED_FROM } from './table-lines.ts';

/**
 * A column of the table, with its cell for a server. It is left out if no server of the fleet needs
 * it.
 */
export interface Column {
  readonly name: string;
  readonly title: string;
  readonly sort?: SortKey;
  readonly cell: (server: LiveServer, fleet: LiveFleet) => ComponentChild;
  readonly isNeeded?: (server: LiveServer) => boolean;
}

/** A column of sortable values, which is left out if no server has a value. */
function valueColumn(sort: SortKey, cell: Column['cell']): Column {
  const { title, of } = SORTS[sort];
  return { name: sort, title, sort, cell, isNeeded: (server) => of(server) !== undefined };
}

const COLUMNS: readonly Column[] = [
  { name: 'who', title: 'Server', sort: 'name', cell: serverCell },
  { name: 'state', title: 'State', sort: 'state', cell: stateCell },
  { name: 'strip', title: 'Last two hours', cell: (server) => stripCell(server.strip) },
  { name: 'problem', title: 'Problem', cell: problemCell },
  ...RESOURCES.map((resource) => valueColumn(resource.name, (server) => meter(resource, server))),
  valueColumn('network', networkCell),
  valueColumn('players', playerText),
];

/** The width of a character in names and in small texts, relative to that of a digit. */
const [NAME, SMALL] = [1.12, 0.75];
/** The minimum and maximum width of the column of names, in digits. */
const [LEAST, MOST] = [10, 26];

/**
 * The columns for the fleet, and the width of the names as a custom property. Neither depends on
 * problems, so that columns don't move when the first problem appears.
 */
export function chooseColumns({ servers }: LiveFleet) {
  const columns = COLUMNS.filter(({ isNeeded }) => isNeeded === undefined || servers.some(isNeeded));
  const group = servers.length < GROUPED_FROM ? '' : `▸ ${countText(servers.length)} servers`;
  let longest = Math.max(LEAST, group.length * NAME);
  for (const { server, egg = '' } of servers) {
    longest = Math.max(longest, server.length * NAME, egg.length * SMALL);
  }
  return { columns, widths: { '--name': `${Math.ceil(Math.min(longest, MOST))}ch` } };
}
