import { NAME, NEAR_LIMIT, NO_SERVERS, SOURCE_WORDS, steps, TIME_LEFT, TROUBLE } from '../appearance.ts';
import type { Section } from '../board.ts';
import { type Figure, figure, ranking, timeline } from '../panels.ts';
import {
  dataSource,
  expected,
  gauge,
  info,
  type Resource,
  sampleAge,
  secondsToFullDisk,
  share,
  unless,
  uptime,
  uptimeOf30Days,
} from '../promql.ts';
import { STATUS_WORDS, statusCode } from '../status.ts';

const UPTIME = steps(TROUBLE, [0.95, 'yellow'], [0.99, 'green']);

const LIMITED_RESOURCES = [
  ['cpu', 'CPU'],
  ['memory', 'memory'],
  ['disk', 'disk'],
] as const satisfies readonly (readonly [Resource, string])[];

type Tile = Pick<
  Figure,
  'title' | 'description' | 'noValue' | 'unit' | 'decimals' | 'thresholds' | 'mappings' | 'trend'
>;

/** One number for each selected server. */
function tile(expr: string, spec: Tile) {
  return figure({ width: 3, ...spec, queries: [{ expr, legend: NAME }] });
}

/** Servers that are allowed to be off have no uptime that is too low. */
function unlessOff(vector: string): string {
  return unless(vector, `${expected()} == 0`);
}

function age(timestamp: string): string {
  return `time() - ${gauge(timestamp)}`;
}

export const now: Section = {
  title: 'Now',
  panels: [
    tile(statusCode(), {
      title: 'State',
      description: 'State at the end of the time range.',
      unit: 'short',
      mappings: [STATUS_WORDS],
    }),
    tile(age('gameserver_start_time_seconds'), {
      title: 'Up for',
      description: 'Time since the server was started.',
      unit: 's',
      decimals: 1,
    }),
    tile(age('gameserver_last_stop_timestamp_seconds'), {
      title: 'Last stop',
      description: 'Time since the last stop that the exporter has seen.',
      noValue: 'None',
      unit: 's',
      decimals: 1,
    }),
    tile(gauge('gameserver_last_exit_code'), {
      title: 'Exit code',
      description: 'Exit code of the last crash.',
      noValue: 'None',
      unit: 'none',
    }),
    tile(unlessOff(uptime()), {
      title: 'Uptime',
      description: 'Share of the time range in which the server was running.',
      unit: 'percentunit',
      decimals: 1,
      thresholds: UPTIME,
    }),
    tile(unlessOff(uptimeOf30Days()), {
      title: '30 days',
      description: 'Uptime of the last 30 days. Requires the recording rules.',
      unit: 'percentunit',
      decimals: 2,
      thresholds: UPTIME,
    }),
    tile(dataSource(), {
      title: 'Data',
      description: 'Whether samples are streamed or polled.',
      unit: 'short',
      mappings: [SOURCE_WORDS],
    }),
    tile(sampleAge(), {
      title: 'Data age',
      description: 'Age of the newest sample when Prometheus scraped it.',
      unit: 's',
      decimals: 0,
    }),
    ranking({
      title: 'Usage of limits',
      description: 'Usage as a share of the limit. Resources without a limit have no bar.',
      unit: 'percentunit',
      decimals: 0,
      min: 0,
      max: 1,
      noValue: 'No fresh sample, or no limits',
      width: 15,
      height: 4,
      thresholds: NEAR_LIMIT,
      queries: LIMITED_RESOURCES.map(([resource, called]) => ({
        expr: share(resource),
        legend: `${NAME} ${called}`,
      })),
    }),
    figure({
      title: 'Disk full in',
      description:
        'Time until the disk is full at the rate of the last six hours. Empty if it does not fill.',
      noValue: 'Not filling',
      unit: 's',
      decimals: 0,
      width: 4,
      thresholds: TIME_LEFT,
      queries: [{ expr: secondsToFullDisk(), legend: NAME }],
    }),
    figure({
      title: 'Node and egg',
      description: 'Where the server runs, and what it is.',
      unit: 'none',
      width: 5,
      namesOnly: true,
      queries: [{ expr: info('node', 'egg'), legend: '{{node}}, {{egg}}' }],
    }),
    timeline({
      title: 'State over time',
      description: 'State of the selected servers over time, 25 servers per page.',
      unit: 'short',
      noValue: NO_SERVERS,
      width: 24,
      height: 6,
      mappings: [STATUS_WORDS],
      queries: [{ expr: statusCode(), legend: NAME }],
    }),
  ],
};
