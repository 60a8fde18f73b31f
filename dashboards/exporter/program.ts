import { NO_EXPORTER, tooHighFrom } from '../appearance.ts';
import type { Section } from '../board.ts';
import { DASHED, graph } from '../panels.ts';
import { BUILD, ofEachExporter, ofExporters } from '../promql.ts';

export const program: Section = {
  title: 'Process',
  panels: [
    graph({
      title: 'Scrape duration',
      description: 'Time that Prometheus took to scrape each exporter.',
      unit: 's',
      min: 0,
      noValue: NO_EXPORTER,
      width: 8,
      queries: [{ expr: ofEachExporter('scrape_duration_seconds'), legend: '{{instance}}' }],
    }),
    graph({
      title: 'Event loop lag',
      description:
        "Delay of the event loop. While it is blocked, the exporter doesn't read messages or serve requests.",
      unit: 's',
      min: 0,
      noValue: NO_EXPORTER,
      width: 8,
      thresholds: tooHighFrom(0.1),
      thresholdLines: true,
      queries: [
        { expr: ofEachExporter('nodejs_eventloop_lag_p50_seconds'), legend: '{{instance}} p50' },
        { expr: ofEachExporter('nodejs_eventloop_lag_p99_seconds'), legend: '{{instance}} p99' },
        { expr: ofEachExporter('nodejs_eventloop_lag_max_seconds'), legend: '{{instance}} maximum' },
      ],
    }),
    graph({
      title: 'Memory',
      description: 'Resident memory of the process, the JavaScript heap, and memory outside of the heap.',
      unit: 'bytes',
      min: 0,
      noValue: NO_EXPORTER,
      width: 8,
      queries: [
        { expr: ofEachExporter('process_resident_memory_bytes'), legend: '{{instance}} resident' },
        { expr: ofEachExporter('nodejs_heap_size_used_bytes'), legend: '{{instance}} heap used' },
        { expr: ofEachExporter('nodejs_heap_size_total_bytes'), legend: '{{instance}} heap total' },
        { expr: ofEachExporter('nodejs_external_memory_bytes'), legend: '{{instance}} external' },
      ],
    }),
    graph({
      title: 'CPU',
      description: 'CPU usage of the process.',
      unit: 'suffix:cores',
      min: 0,
      noValue: NO_EXPORTER,
      width: 6,
      queries: [
        {
          expr: `max by (job, instance) (rate(${ofExporters('process_cpu_seconds_total')}[$__rate_interval]) and on (job, instance) ${BUILD})`,
          legend: '{{instance}}',
        },
      ],
    }),
    graph({
      title: 'Dropped log lines',
      description:
        "Log lines per minute that couldn't be written because the disk is full or nothing reads the output.",
      unit: 'none',
      min: 0,
      decimals: 0,
      noValue: NO_EXPORTER,
      width: 6,
      queries: [
        {
          expr: `60 * max by (job, instance) (rate(${ofExporters('gameserver_exporter_log_lines_dropped_total')}[$__rate_interval]))`,
          legend: '{{instance}}',
        },
      ],
    }),
    graph({
      title: 'Garbage collection',
      description: 'Share of the time spent on garbage collection.',
      unit: 'percentunit',
      min: 0,
      noValue: 'No garbage collection yet',
      width: 6,
      queries: [
        {
          expr: `sum by (job, instance) (rate(${ofExporters('nodejs_gc_duration_seconds_sum')}[$__rate_interval]) and on (job, instance) ${BUILD})`,
          legend: '{{instance}}',
        },
      ],
    }),
    graph({
      title: 'File descriptors',
      description:
        'Open file descriptors, the limit of the process (dashed), and how many are required to stream from every server.',
      unit: 'none',
      decimals: 0,
      min: 0,
      noValue: 'Only available on Linux',
      width: 6,
      queries: [
        { expr: ofEachExporter('process_open_fds'), legend: '{{instance}} open' },
        {
          expr: ofEachExporter('gameserver_exporter_allowed_file_descriptors'),
          legend: '{{instance}} allowed',
        },
        {
          expr: ofEachExporter('gameserver_exporter_required_file_descriptors'),
          legend: '{{instance}} required',
        },
      ],
      looks: [['/ allowed$/', DASHED]],
    }),
  ],
};
