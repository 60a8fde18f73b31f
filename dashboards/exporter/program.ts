import { NO_EXPORTER, steps } from '../appearance.ts';
import type { Section } from '../board.ts';
import { DASHED, graph } from '../panels.ts';
import { BUILD, ofEachExporter, ofExporters, quantile } from '../promql.ts';

export const program: Section = {
  title: 'The program',
  panels: [
    graph({
      title: 'Scrape time',
      description: 'How long it took to render the metrics, in seconds.',
      unit: 's',
      min: 0,
      noValue: NO_EXPORTER,
      width: 8,
      queries: [
        {
          expr: quantile(0.5, ofExporters('gameserver_exporter_scrape_duration_seconds_bucket'), 'instance'),
          legend: '{{instance}}: half are faster',
        },
        {
          expr: quantile(0.99, ofExporters('gameserver_exporter_scrape_duration_seconds_bucket'), 'instance'),
          legend: '{{instance}}: 99 % are faster',
        },
      ],
    }),
    graph({
      title: 'Event loop',
      description: 'How late the event loop ran, in seconds: while it is late, nothing is read or answered.',
      unit: 's',
      min: 0,
      noValue: NO_EXPORTER,
      width: 8,
      thresholds: steps('green', [0.1, 'red']),
      thresholdLines: true,
      queries: [
        { expr: ofEachExporter('nodejs_eventloop_lag_p50_seconds'), legend: '{{instance}}: half are below' },
        { expr: ofEachExporter('nodejs_eventloop_lag_p99_seconds'), legend: '{{instance}}: 99 % are below' },
        { expr: ofEachExporter('nodejs_eventloop_lag_max_seconds'), legend: '{{instance}}: longest' },
      ],
    }),
    graph({
      title: 'Memory',
      description: 'Memory of the process, of its heap, and outside of the heap, in bytes.',
      unit: 'bytes',
      min: 0,
      noValue: NO_EXPORTER,
      width: 8,
      queries: [
        { expr: ofEachExporter('process_resident_memory_bytes'), legend: '{{instance}}: process' },
        { expr: ofEachExporter('nodejs_heap_size_used_bytes'), legend: '{{instance}}: heap in use' },
        { expr: ofEachExporter('nodejs_heap_size_total_bytes'), legend: '{{instance}}: heap' },
        { expr: ofEachExporter('nodejs_external_memory_bytes'), legend: '{{instance}}: outside' },
      ],
    }),
    graph({
      title: 'CPU',
      description: 'CPU time of the process, in cores.',
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
      description: 'Lines a minute that could not be written: the disk is full, or nothing reads the log.',
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
      description: 'Part of the time that went into collecting garbage.',
      unit: 'percentunit',
      min: 0,
      noValue: 'No collection yet',
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
        'Open files and sockets, how many the system allows (dashed), and how many all servers need. Every console socket takes one.',
      unit: 'none',
      decimals: 0,
      min: 0,
      noValue: 'Only Linux tells them',
      width: 6,
      queries: [
        { expr: ofEachExporter('process_open_fds'), legend: '{{instance}}: open' },
        { expr: ofEachExporter('process_max_fds'), legend: '{{instance}}: allowed' },
        {
          expr: ofEachExporter('gameserver_exporter_wanted_file_descriptors'),
          legend: '{{instance}}: needed for all servers',
        },
      ],
      looks: [['/: allowed$/', DASHED]],
    }),
  ],
};
