import type { ValueMap } from '@grafana/grafana-foundation-sdk/dashboard';
import { GOOD, INFORMATION, NO_DATA, TROUBLE, wordsFor } from './appearance.ts';
import {
  byGrowth,
  CRASHES,
  expected,
  gauge,
  ofServers,
  overRange,
  perServer,
  SERVER,
  unless,
  whereAlso,
} from './promql.ts';

/** What a server's power state means, given whether it is expected to run and whether the panel blocks it. */
interface Status {
  /** The status as a number, which a graph can draw; the highest counts if two exporters disagree. */
  readonly code: number;
  readonly words: string;
  readonly color: string;
}

/** Every status of a server; codes up to 2 are problems. */
export const STATUSES = {
  noData: { code: 1, words: 'no data', color: NO_DATA },
  down: { code: 2, words: 'down', color: TROUBLE },
  blocked: { code: 3, words: 'blocked', color: 'purple' },
  off: { code: 4, words: 'expected off', color: INFORMATION },
  stopping: { code: 5, words: 'stopping', color: 'yellow' },
  starting: { code: 6, words: 'starting', color: 'light-green' },
  running: { code: 7, words: 'running', color: GOOD },
} as const satisfies Readonly<Record<string, Status>>;

const TROUBLE_UP_TO = STATUSES.down.code;

export const STATUS_WORDS: ValueMap = wordsFor(
  Object.fromEntries(Object.values(STATUSES).map(({ code, words, color }) => [code, [words, color]])),
);

/** The color of each status, by its text. */
export const STATUS_COLORS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.values(STATUSES).map(({ words, color }) => [words, color]),
);

/** Reasons for which the panel blocks a server for a while; these aren't faults, and don't depend on the exporter. */
const HOLD_REASONS = ['suspended', 'installing', 'transferring', 'restoring', 'maintenance'];

/** Servers that the panel blocks for a while, such as suspended ones. */
export const BLOCKED = perServer(ofServers('gameserver_blocked', `reason=~"${HOLD_REASONS.join('|')}"`));

function inState(states: string): string {
  return `${perServer(ofServers('gameserver_state', `state=~"${states}"`))} == 1`;
}

/** Servers that are running. */
export const RUNNING = inState('running');
const OFF = inState('offline|stopping');

/** Servers that are expected to run but don't. */
export const DOWN = `(${OFF}) and on (${SERVER}) (${expected()} == 1)`;

/** Servers that are off and not known to be expected to run. */
export const EXPECTED_OFF = unless(OFF, `${expected()} == 1`);

/** Servers without a fresh sample that the panel doesn't block. */
export const WITHOUT_DATA = unless(`${gauge('gameserver_collection_up')} == 0`, BLOCKED);

/** Servers that are running but don't respond to the query of their game, although they did within the last day. */
export const UNRESPONSIVE = whereAlso(
  `(${gauge('gameserver_query_up')} == 0) and on (${SERVER}) (${RUNNING})`,
  `max_over_time(${ofServers('gameserver_query_up')}[1d]) == 1`,
);

/** One series per server: the code of its status. */
export function statusCode(): string {
  return perServer(statusOfEach());
}

/** The status of each server according to each exporter. */
function statusOfEach(): string {
  const state = (name: string) => `(${ofServers('gameserver_state', `state=~"${name}"`)} == 1)`;
  const should = `(last_over_time(${ofServers('gameserver_expected_running')}[1h]) == 1)`;
  const blocked = ofServers('gameserver_blocked', `reason=~"${HOLD_REASONS.join('|')}"`);
  const { noData, down, off, stopping, starting, running } = STATUSES;
  return [
    `${state('running')} * ${running.code}`,
    `${state('starting')} * ${starting.code}`,
    `${state('stopping')} * ${stopping.code}`,
    `(${state('offline')} and on (${SERVER}) ${should}) * ${down.code}`,
    `${state('offline')} * ${off.code}`,
    `(${state('unknown')} and on (${SERVER}) ${blocked}) * ${STATUSES.blocked.code}`,
    `${state('unknown')} * ${noData.code}`,
  ].join(' or ');
}

/** The number of servers with each status, by its text. */
export function serversByStatus(): string {
  return Object.values(STATUSES).reduce(
    (vector, { code, words }) => `label_replace(${vector}, "status", "${words}", "status", "${code}")`,
    `count_values("status", ${statusCode()})`,
  );
}

/**
 * The statuses over time as two vectors: first servers with a problem at the end of the time range or a crash within it, then the
 * others.
 */
export function statusesTroubleFirst(): readonly [first: string, others: string] {
  const code = `max by (${SERVER}) (${statusOfEach()})`;
  // The last seconds of the range: a subquery can be fixed there as a whole, a vector only selector by selector.
  const trouble = `last_over_time((${code})[10s:5s] @ end()) <= ${TROUBLE_UP_TO}`;
  const first = overRange(`(${trouble}) or ${byGrowth('gameserver_stops_total', CRASHES)} > 0`);
  const all = overRange(`last_over_time(${ofServers('gameserver_collection_up')}[$__range] @ end())`);
  return [`${code} and on (${SERVER}) ${first}`, `${code} and on (${SERVER}) (${all} unless ${first})`];
}
