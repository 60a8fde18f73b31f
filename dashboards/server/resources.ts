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
      description: `CPU usage, the highest one-second value of the preceding minute (dotted), and the limit (dashed). Only servers that stream have peaks. ${LIMITED}`,
      unit: 'suffix:cores',
      min: 0,
      noValue: NO_SAMPLES,
      width: 12,
      height: 11,
      queries: [
        { expr: top(rate('gameserver_cpu_seconds_total'), byCpu), legend: NAME },
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
      description: `Memory usage, the highest one-second value of the preceding minute (dotted), and the limit (dashed). Only servers that stream have peaks. ${LIMITED}`,
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
      description: `Share of time in which at least 95% of the CPU limit, or of the memory limit (dotted), was in use. The server must stream and have a limit. ${LIMITED}`,
      unit: 'percentunit',
      min: 0,
      max: 1,
      noValue: 'No data: the server must have a limit and stream',
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
      looks: [['/ memory$/', EXTREME]],
    }),
  ],
};

export const disk: Section = {
  title: 'Disk',
  panels: [
    graph({
      title: 'Disk',
      description: `Disk usage, the prediction for 24 hours later from the last six hours (dotted), and the limit (dashed). ${LIMITED}`,
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
      title: 'Disk I/O',
      description: `Disk reads (positive) and writes (negative) per second. Not all panels report them. ${LIMITED}`,
      unit: 'binBps',
      noValue: 'No data: not all panels report disk I/O',
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
      description: `Received (positive) and sent (negative) bytes per second. ${LIMITED}`,
      unit: 'binBps',
      noValue: NO_SAMPLES,
      width: 12,
      height: 10,
      queries: [
        { expr: top(rate('gameserver_network_receive_bytes_total'), byReceived), legend: `${NAME} received` },
        { expr: top(rate('gameserver_network_transmit_bytes_total'), bySent), legend: `${NAME} sent` },
      ],
      looks: [['/ sent$/', DOWNWARDS]],
    }),
    graph({
      title: 'Console lines',
      description: `Lines per second that the server wrote to its console. ${LIMITED}`,
      unit: 'suffix:lines/s',
      min: 0,
      noValue: NO_SERVERS,
      width: 12,
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
