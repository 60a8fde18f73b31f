import { NAME, NEAR_LIMIT, SERIES_TO_SERVER, TIME_LEFT } from '../appearance.ts';
import type { Section } from '../board.ts';
import { graph, ranking } from '../panels.ts';
import {
  byGrowth,
  byMean,
  gauge,
  type Resource,
  rate,
  resourceMetric,
  SHOWN,
  secondsToFullDisk,
  share,
  top,
} from '../promql.ts';

/** The servers with the highest usage over time, and those closest to their limit now. */
function usage(resource: Resource, called: string, unit: string, inUnit: string) {
  const metric = resourceMetric(resource, 'usage');
  return [
    graph({
      title: `Most ${called}`,
      description: `The ${SHOWN} servers that used most ${called} on average over the time range, ${inUnit}.`,
      unit,
      min: 0,
      noValue: 'No samples: did any of these servers run?',
      width: 14,
      height: 9,
      links: [SERIES_TO_SERVER],
      queries: [{ expr: top(gauge(metric), byMean(metric)), legend: NAME }],
    }),
    ranking({
      title: `Nearest to their ${called} limit`,
      description: `The ${SHOWN} servers that now use the largest part of their ${called} limit; those without a limit are not in it.`,
      unit: 'percentunit',
      decimals: 0,
      min: 0,
      max: 1,
      noValue: `No server has a known ${called} limit and a fresh sample`,
      width: 10,
      height: 9,
      thresholds: NEAR_LIMIT,
      links: [SERIES_TO_SERVER],
      query: { expr: `topk(${SHOWN}, ${share(resource)})`, legend: NAME },
    }),
  ];
}

/** The servers with the most traffic over time. */
function traffic(title: string, counter: string, what: string) {
  return graph({
    title,
    description: `The ${SHOWN} servers that ${what} most over the time range, in bytes a second.`,
    unit: 'binBps',
    min: 0,
    noValue: 'No samples: did any of these servers run?',
    width: 12,
    links: [SERIES_TO_SERVER],
    queries: [{ expr: top(rate(counter), byGrowth(counter)), legend: NAME }],
  });
}

export const resources: Section = {
  title: 'CPU and memory',
  panels: [
    ...usage('cpu', 'CPU', 'suffix:cores', 'in cores'),
    ...usage('memory', 'memory', 'bytes', 'in bytes'),
  ],
};

export const networkAndDisk: Section = {
  title: 'Network and disk',
  panels: [
    traffic('Most received', 'gameserver_network_receive_bytes_total', 'received'),
    traffic('Most sent', 'gameserver_network_transmit_bytes_total', 'sent'),
    ...usage('disk', 'disk', 'bytes', 'in bytes'),
    traffic('Most read from disk', 'gameserver_disk_read_bytes_total', 'read'),
    traffic('Most written to disk', 'gameserver_disk_written_bytes_total', 'wrote'),
    ranking({
      title: 'Disks that are full first',
      description: `The ${SHOWN} servers whose disks are full first if they fill as in the last six hours: the time until then. Only those within 30 days.`,
      unit: 's',
      noValue: 'No disk with a known limit is full within 30 days at this pace',
      width: 24,
      height: 7,
      thresholds: TIME_LEFT,
      links: [SERIES_TO_SERVER],
      query: { expr: `bottomk(${SHOWN}, ${secondsToFullDisk()} < 2592000)`, legend: NAME },
    }),
  ],
};
