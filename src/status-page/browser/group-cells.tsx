// The cells of a table line with a group of servers.
import type { ComponentChild } from 'preact';
import { countText } from '../data/amounts.ts';
import { describePlace, problemCell, stateCell } from './cells.tsx';
import type { LiveFleet } from './live-fleet.ts';
import type { ServerGroup } from './table-lines.ts';

/** The maximum number of server names in the line of a group. */
const NAMES_IN_GROUP = 12;

/** The cells of a group's line, by column. */
export function groupCells({ servers }: ServerGroup, fleet: LiveFleet): Record<string, ComponentChild> {
  const [first] = servers;
  const same = (field: 'panel' | 'node' | 'state') =>
    servers.every((server) => server[field] === first[field]) ? first[field] : undefined;
  const names = servers.slice(0, NAMES_IN_GROUP).map(({ server }) => server);
  if (servers.length > NAMES_IN_GROUP) names.push('…');
  return {
    who: (
      <>
        <bdi class="name">{countText(servers.length)} servers</bdi>
        <span class="sub">{describePlace(fleet, { panel: same('panel'), node: same('node') })}</span>
      </>
    ),
    state: same('state') && stateCell(first, fleet),
    strip: <span class="sub">{names.join(', ')}</span>,
    problem: problemCell(first, fleet),
  };
}
