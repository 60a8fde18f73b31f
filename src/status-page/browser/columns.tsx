// The columns of the table.
import type { ComponentChild, JSX } from 'preact';
import { isOff } from '../../domain/power-states.ts';
import { SATURATED_FROM } from '../../domain/thresholds.ts';
import { coreLimit, cores, count, NOTHING, rate, size, sizeLimit, span } from '../data/amounts.ts';
import { attentionGroup, attentionSeverity } from '../data/attention-table.ts';
import type { LiveServer } from '../data/live-fields.ts';
import { conditionTitle, STOP_TITLES, sentence, stateTitle } from '../data/titles.ts';
import { bar } from './bar.tsx';
import { GROUPED_FROM, type ServerGroup } from './lines.ts';
import type { LiveFleet } from './live-fleet.ts';
import { SORTS, type SortKey } from './sorting.ts';
import { strip } from './strip.tsx';
import { ago, time } from './times.tsx';
import { isUnread, judgeServer } from './traits.ts';
import { withCode } from './with-code.tsx';

/** A column of the table, and its cell for a server; absent if no server of the fleet needs it. */
export interface Column {
  readonly name: string;
  readonly title: string;
  readonly sort?: SortKey;
  readonly cell: (server: LiveServer, fleet: LiveFleet) => ComponentChild;
  readonly isNeeded?: (server: LiveServer) => boolean;
}

/** A column of the values that the table is sorted by, absent if none is known. */
function valueColumn(sort: SortKey, cell: Column['cell']): Column {
  const { title, of } = SORTS[sort];
  return { name: sort, title, sort, cell, isNeeded: (server) => of(server) !== undefined };
}

/** A resource that a server may have a limit of. */
interface Resource {
  readonly name: 'cpu' | 'memory' | 'disk';
  readonly used: 'cpu_usage_cores' | 'memory_usage_bytes' | 'disk_usage_bytes';
  readonly limit: 'cpu_limit_cores' | 'memory_limit_bytes' | 'disk_limit_bytes';
  readonly amount: (value: number) => string;
  readonly limitText: (limit: number) => string;
  /** Whether the server's problem is about it. */
  readonly isShort?: (server: LiveServer) => boolean;
}

export const RESOURCES: readonly Resource[] = [
  {
    name: 'cpu',
    used: 'cpu_usage_cores',
    limit: 'cpu_limit_cores',
    amount: cores,
    limitText: coreLimit,
    isShort: ({ attention }) => attention === 'cpu_saturated',
  },
  {
    name: 'memory',
    used: 'memory_usage_bytes',
    limit: 'memory_limit_bytes',
    amount: size,
    limitText: (limit) => `${sizeLimit(limit)} memory`,
  },
  {
    name: 'disk',
    used: 'disk_usage_bytes',
    limit: 'disk_limit_bytes',
    amount: size,
    limitText: (limit) => `${sizeLimit(limit)} disk`,
    isShort: ({ disk_usage_bytes: used = 0, disk_limit_bytes: limit = Infinity }) =>
      used >= SATURATED_FROM * limit,
  },
];

const COLUMNS: readonly Column[] = [
  { name: 'who', title: 'Server', sort: 'name', cell: who },
  { name: 'state', title: 'State', sort: 'state', cell: state },
  { name: 'strip', title: 'Last two hours', cell: (server) => strip(server.strip) },
  { name: 'trouble', title: 'Problem', cell: trouble },
  ...RESOURCES.map((resource) => valueColumn(resource.name, (server) => meter(resource, server))),
  valueColumn('network', network),
  valueColumn('players', playerText),
];

/** The widths of a character of a name and of small texts, relative to that of a digit. */
const [NAME, SMALL] = [1.12, 0.75];
/** The narrowest and the widest column of names, in digits. */
const [LEAST, MOST] = [10, 26];

/**
 * The columns that the fleet needs, and the width of the names as a custom property. Nothing here
 * depends on problems, so that the first one moves no column.
 */
export function chooseColumns({ servers }: LiveFleet) {
  const columns = COLUMNS.filter(({ isNeeded }) => isNeeded === undefined || servers.some(isNeeded));
  const group = servers.length < GROUPED_FROM ? '' : `▸ ${count(servers.length)} servers`;
  let longest = Math.max(LEAST, group.length * NAME);
  for (const { server, egg = '' } of servers) {
    longest = Math.max(longest, server.length * NAME, egg.length * SMALL);
  }
  return { columns, widths: { '--name': `${Math.ceil(Math.min(longest, MOST))}ch` } };
}

export function alarmLevel({ attention }: LiveServer): 'error' | 'warning' | undefined {
  const severity = attention && attentionSeverity(attention);
  return severity === 'fact' ? undefined : severity;
}

function who(server: LiveServer, fleet: LiveFleet): JSX.Element {
  const place = describePlace(fleet, server);
  const players = playerText(server);
  return (
    <div title={`${server.server}\n${place}`}>
      <bdi class="name">{server.server}</bdi>
      <span class="sub">
        {players !== undefined && (
          <span class="on-card">{`${players} players${place === '' ? '' : ' · '}`}</span>
        )}
        {place}
      </span>
    </div>
  );
}

/** Where a server is, as far as servers differ in it. */
function describePlace({ status: { panels }, hasNodes }: LiveFleet, server: Partial<LiveServer>): string {
  const names = [panels.length > 1 ? server.panel : '', hasNodes ? server.node : '', server.egg];
  return names.filter((name) => name !== undefined && name !== '').join(' · ');
}

function state(server: LiveServer, fleet: LiveFleet): JSX.Element {
  const group = server.attention && attentionGroup(server.attention);
  const isDown = group === 'down' || group === 'no_data';
  return (
    <>
      <span class="badge" data-state={isDown ? 'down' : server.state}>
        {isUnread(server) ? 'not read yet' : stateTitle(server.state, server.condition)}
      </span>
      <span class="sub">{monitoringText(fleet, server)}</span>
    </>
  );
}

/** How the server is monitored; the sample of a polled server may be some time old. */
function monitoringText(fleet: LiveFleet, server: LiveServer): string {
  const { condition, blocked, last_sample_timestamp_seconds: sampled } = server;
  // Not shown while it streams, as every server without a problem does; a failure is shown as the
  // problem.
  if ((condition === 'streaming' || condition === 'failing') && blocked === undefined) return '';
  const title = blocked ?? conditionTitle(condition);
  // 0 while samples keep coming.
  const age = sampled === 0 ? 0 : fleet.time - (sampled ?? fleet.time);
  return condition === 'polling' && age > 0 ? `${title} · ${span(age)}` : title;
}

/** A server's problem, and since when; below it, what to do. */
function trouble(server: LiveServer, { time: now }: LiveFleet): JSX.Element | null {
  const { complaint, last_crash: crash } = server;
  if (complaint === undefined || judgeServer(server) === undefined) return null;
  const { severity, title, action, since } = complaint;
  // The last sample may be older than the cause.
  const sinceText = server.attention === 'no_data' ? `no data for ${span(now - (since ?? now))}` : '';
  return (
    <>
      <span class="what" data-severity={severity}>
        <span class="cause" title={title}>
          {sentence(title)}
        </span>
        {since === undefined
          ? crash &&
            time(
              crash.timestamp_seconds,
              `${STOP_TITLES[crash.reason]} ${ago(crash.timestamp_seconds, now)}`,
              'sub since',
            )
          : time(since, sinceText || ago(since, now), 'sub since')}
      </span>
      <span class="action" title={action}>
        {withCode(action)}
      </span>
    </>
  );
}

/** What a server uses of a resource; of one that is off, only its disk is in use. */
function amountInUse({ name, used }: Resource, server: LiveServer): number | undefined {
  return isOff(server.state) && name !== 'disk' ? undefined : server[used];
}

/** Whether anything is known of what a server uses. */
export function hasUsage(server: LiveServer): boolean {
  return RESOURCES.some((resource) => amountInUse(resource, server) !== undefined);
}

/**
 * The amount that a server uses, its percentage of the limit, and a bar; hovering shows the limit.
 */
function meter(resource: Resource, server: LiveServer): JSX.Element {
  const used = amountInUse(resource, server);
  const limit = server[resource.limit];
  const percent = used !== undefined && limit !== undefined ? Math.round((used / limit) * 100) : undefined;
  const level = resource.isShort?.(server) === true ? alarmLevel(server) : undefined;
  const title = percent === undefined ? undefined : `${percent} % of ${resource.limitText(limit ?? 0)}`;
  return (
    <div class="usage" title={title} data-level={level}>
      <span class="main" data-label={SORTS[resource.name].title}>
        {used === undefined ? NOTHING : resource.amount(used)}
      </span>
      {percent !== undefined && <span class="sub">{percent} %</span>}
      {percent !== undefined && bar(percent, level)}
    </div>
  );
}

function network(server: LiveServer): ComponentChild {
  const { network_receive_bytes_per_second: received, network_transmit_bytes_per_second: sent } = server;
  if (received === undefined || isOff(server.state)) return NOTHING;
  return (
    <>
      <span>↓ {rate(received)}</span>
      <span>↑ {rate(sent ?? 0)}</span>
    </>
  );
}

/** Players online and the maximum, such as 12/40; undefined if unknown. */
export function playerText({ players, players_max: most }: LiveServer): string | undefined {
  if (players === undefined) return undefined;
  return most === undefined ? String(players) : `${players}/${most}`;
}

/** How many names of servers a line with a group of them shows. */
const NAMES_SHOWN = 12;

/** The cells of a line with a group of servers, by their columns. */
export function groupCells({ servers }: ServerGroup, fleet: LiveFleet): Record<string, ComponentChild> {
  const [first] = servers;
  const same = (field: 'panel' | 'node' | 'state') =>
    servers.every((server) => server[field] === first[field]) ? first[field] : undefined;
  const names = servers.slice(0, NAMES_SHOWN).map(({ server }) => server);
  if (servers.length > NAMES_SHOWN) names.push('…');
  return {
    who: (
      <>
        <bdi class="name">{count(servers.length)} servers</bdi>
        <span class="sub">{describePlace(fleet, { panel: same('panel'), node: same('node') })}</span>
      </>
    ),
    state: same('state') && state(first, fleet),
    strip: <span class="sub">{names.join(', ')}</span>,
    trouble: trouble(first, fleet),
  };
}
