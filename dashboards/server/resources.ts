import { LIMITED, NAME, NO_SAMPLES, NO_SERVERS } from '../appearance.ts';
import type { Section } from '../board.ts';
import { DOWNWARDS, EXTREME, graph, LIMIT } from '../panels.ts';
import { byGrowth, byMean, gauge, ofServers, perServer, rate, top } from '../promql.ts';

const byCpu = byMean('gameserver_cpu_usage_cores');
const byMemory = byMean('gameserver_memory_usage_bytes');
const byDisk = byMean('gameserver_disk_usage_bytes');
const byReceived = byGrowth('gameserver_network_receive_bytes_total');
const bySent = byGrowth('gameserver_network_transmit_bytes_total');

/** The maximum of a peak gauge within each step, so that no peak between two points of the graph is lost. */
function peak(metric: string): string {
  return perServer(`max_over_time(${ofServers(metric)}[$__rate_interval])`);
}

export const cpuAndMemory: Section = {
  title: 'CPU and memory',
  panels: [
    graph({
      title: 'CPU',
      description: `CPU in use, the highest one-second value of the minute before (dotted), and the limit where one is known (dashed), in cores. Peaks are there only for servers that stream. ${LIMITED}`,
      unit: 'suffix:cores',
      min: 0,
      noValue: NO_SAMPLES,
      width: 12,
      height: 11,
      queries: [
        { expr: top(gauge('gameserver_cpu_usage_cores'), byCpu), legend: NAME },
        { expr: top(peak('gameserver_cpu_usage_peak_cores'), byCpu), legend: `${NAME} peak` },
        { expr: top(gauge('gameserver_cpu_limit_cores'), byCpu), legend: `${NAME} limit` },
      ],
      looks: [
        ['/ peak$/', EXTREME],
        ['/ limit$/', LIMIT],
      ],
    }),
    graph({
      title: 'Memory',
      description: `Memory in use, the highest one-second value of the minute before (dotted), and the limit where there is one (dashed), in bytes. ${LIMITED}`,
      unit: 'bytes',
      min: 0,
      noValue: NO_SAMPLES,
      width: 12,
      height: 11,
      queries: [
        { expr: top(gauge('gameserver_memory_usage_bytes'), byMemory), legend: NAME },
        { expr: top(peak('gameserver_memory_usage_peak_bytes'), byMemory), legend: `${NAME} peak` },
        { expr: top(gauge('gameserver_memory_limit_bytes'), byMemory), legend: `${NAME} limit` },
      ],
      looks: [
        ['/ peak$/', EXTREME],
        ['/ limit$/', LIMIT],
      ],
    }),
    graph({
      title: 'Time at the limit',
      description: `The share of time with 95 % of the CPU limit (upwards) or memory limit (downwards) in use, by the second. Only for servers that stream and have a limit. ${LIMITED}`,
      unit: 'percentunit',
      noValue: 'No data: it needs a limit and a console socket',
      width: 24,
      height: 7,
      queries: [
        {
          expr: top(
            rate('gameserver_cpu_saturated_seconds_total'),
            byGrowth('gameserver_cpu_saturated_seconds_total'),
          ),
          legend: `${NAME} CPU`,
        },
        {
          expr: top(
            rate('gameserver_memory_saturated_seconds_total'),
            byGrowth('gameserver_memory_saturated_seconds_total'),
          ),
          legend: `${NAME} memory`,
        },
      ],
      looks: [['/ memory$/', DOWNWARDS]],
    }),
  ],
};

export const disk: Section = {
  title: 'Disk',
  panels: [
    graph({
      title: 'Disk',
      description: `Disk space in use, what it will be in 24 hours if it changes as in the last six (dotted), and the limit where one is known (dashed), in bytes. ${LIMITED}`,
      unit: 'bytes',
      min: 0,
      noValue: NO_SAMPLES,
      width: 12,
      height: 10,
      queries: [
        { expr: top(gauge('gameserver_disk_usage_bytes'), byDisk), legend: NAME },
        {
          expr: top(
            `clamp_min(${perServer(`predict_linear(${ofServers('gameserver_disk_usage_bytes')}[6h], 86400)`)}, 0)`,
            byDisk,
          ),
          legend: `${NAME} in 24 h`,
        },
        { expr: top(gauge('gameserver_disk_limit_bytes'), byDisk), legend: `${NAME} limit` },
      ],
      looks: [
        ['/ in 24 h$/', EXTREME],
        ['/ limit$/', LIMIT],
      ],
    }),
    graph({
      title: 'Disk traffic',
      description: `Bytes read (upwards) and written (downwards) a second, where the panel tells them. ${LIMITED}`,
      unit: 'binBps',
      noValue: 'No samples: not every panel tells disk traffic',
      width: 12,
      height: 10,
      queries: [
        {
          expr: top(rate('gameserver_disk_read_bytes_total'), byGrowth('gameserver_disk_read_bytes_total')),
          legend: `${NAME} read`,
        },
        {
          expr: top(
            rate('gameserver_disk_written_bytes_total'),
            byGrowth('gameserver_disk_written_bytes_total'),
          ),
          legend: `${NAME} written`,
        },
      ],
      looks: [['/ written$/', DOWNWARDS]],
    }),
  ],
};

export const network: Section = {
  title: 'Network and console',
  panels: [
    graph({
      title: 'Network',
      description: `Bytes received (upwards) and sent (downwards) a second. ${LIMITED}`,
      unit: 'binBps',
      noValue: NO_SAMPLES,
      width: 8,
      height: 10,
      queries: [
        { expr: top(rate('gameserver_network_receive_bytes_total'), byReceived), legend: `${NAME} received` },
        { expr: top(rate('gameserver_network_transmit_bytes_total'), bySent), legend: `${NAME} sent` },
      ],
      looks: [['/ sent$/', DOWNWARDS]],
    }),
    graph({
      title: 'Network peaks',
      description: `The highest one-second rates of the minute before, received (upwards) and sent (downwards), in bytes a second; only for servers that stream. ${LIMITED}`,
      unit: 'binBps',
      noValue: 'No peaks: they need a console socket',
      width: 8,
      height: 10,
      queries: [
        {
          expr: top(peak('gameserver_network_receive_peak_bytes_per_second'), byReceived),
          legend: `${NAME} received`,
        },
        {
          expr: top(peak('gameserver_network_transmit_peak_bytes_per_second'), bySent),
          legend: `${NAME} sent`,
        },
      ],
      looks: [['/ sent$/', DOWNWARDS]],
    }),
    graph({
      title: 'Console lines',
      description: `Lines that the server wrote to its console, a second. ${LIMITED}`,
      unit: 'suffix:lines/s',
      min: 0,
      noValue: NO_SERVERS,
      width: 8,
      height: 10,
      queries: [
        {
          expr: top(rate('gameserver_console_lines_total'), byGrowth('gameserver_console_lines_total')),
          legend: NAME,
        },
      ],
    }),
  ],
};
