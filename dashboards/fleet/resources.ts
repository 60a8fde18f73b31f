import { NAME, NEAR_LIMIT, NO_SAMPLES, SERIES_TO_SERVER, TIME_LEFT } from '../appearance.ts';
import type { Section } from '../board.ts';
import { graph, ranking } from '../panels.ts';
import {
  byGrowth,
  byMean,
  gauge,
  ofServers,
  perServer,
  type Resource,
  rate,
  resourceMetric,
  SHOWN,
  secondsToFullDisk,
  share,
  top,
} from '../promql.ts';
import { table } from '../table.ts';

/** The servers with the highest usage over time, and those closest to their limit now. */
function usage(resource: Resource, called: string, unit: string) {
  const metric = resourceMetric(resource, 'usage');
  return [
    graph({
      title: `Top ${called} usage`,
      description: `The ${SHOWN} servers with the highest ${called} usage on average over the time range.`,
      unit,
      min: 0,
      noValue: NO_SAMPLES,
      width: 14,
      height: 9,
      links: [SERIES_TO_SERVER],
      queries: [{ expr: top(gauge(metric), byMean(metric)), legend: NAME }],
    }),
    ranking({
      title: `Top share of ${called} limit`,
      description: `The ${SHOWN} servers with the highest ${called} usage as a share of their limit. Servers without a limit aren't shown.`,
      unit: 'percentunit',
      decimals: 0,
      min: 0,
      max: 1,
      noValue: `No fresh sample of a server with a ${called} limit`,
      width: 10,
      height: 9,
      thresholds: NEAR_LIMIT,
      links: [SERIES_TO_SERVER],
      queries: [{ expr: `topk(${SHOWN}, ${share(resource)})`, legend: NAME }],
    }),
  ];
}

function traffic30Days(direction: 'receive' | 'transmit'): string {
  return perServer(ofServers('server:gameserver_traffic_bytes:sum30d', `direction="${direction}"`));
}

/** The servers with the most traffic over time. */
function traffic(title: string, counter: string, what: string) {
  return graph({
    title,
    description: `The ${SHOWN} servers that ${what} over the time range.`,
    unit: 'binBps',
    min: 0,
    noValue: NO_SAMPLES,
    width: 12,
    links: [SERIES_TO_SERVER],
    queries: [{ expr: top(rate(counter), byGrowth(counter)), legend: NAME }],
  });
}

export const resources: Section = {
  title: 'CPU and memory',
  collapsed: true,
  panels: [...usage('cpu', 'CPU', 'suffix:cores'), ...usage('memory', 'memory', 'bytes')],
};

export const networkAndDisk: Section = {
  title: 'Network and disk',
  collapsed: true,
  panels: [
    traffic('Top received traffic', 'gameserver_network_receive_bytes_total', 'received the most bytes'),
    traffic('Top sent traffic', 'gameserver_network_transmit_bytes_total', 'sent the most bytes'),
    table({
      title: 'Traffic of 30 days',
      description:
        'Bytes that each server received and sent in the 30 days before the end of the time range. Requires the recording rules.',
      unit: 'bytes',
      noValue: 'No data: load the recording rules in deploy/prometheus/rules',
      height: 9,
      columns: [
        { label: 'server', name: 'Server', width: 150, grows: true, filters: true },
        { label: 'panel', name: 'Panel', width: 150, grows: true },
        { name: 'Received', expr: traffic30Days('receive'), width: 120, unit: 'bytes', decimals: 1 },
        { name: 'Sent', expr: traffic30Days('transmit'), width: 120, unit: 'bytes', decimals: 1 },
      ],
      hiddenLabels: ['server_id'],
      sortBy: [['Sent', 'descending']],
    }),
    ...usage('disk', 'disk', 'bytes'),
    traffic('Top disk reads', 'gameserver_disk_read_bytes_total', 'read the most bytes from disk'),
    traffic('Top disk writes', 'gameserver_disk_written_bytes_total', 'wrote the most bytes to disk'),
    ranking({
      title: 'Time until disk is full',
      description: `The ${SHOWN} servers whose disks will be full first at the rate of the last six hours. Only disks that will be full within 30 days.`,
      unit: 's',
      noValue: 'No data, or no disk will be full within 30 days',
      width: 24,
      height: 9,
      thresholds: TIME_LEFT,
      links: [SERIES_TO_SERVER],
      queries: [{ expr: `bottomk(${SHOWN}, ${secondsToFullDisk()} < 2592000)`, legend: NAME }],
    }),
  ],
};
