import { CONDITION_COLORS, GOOD, NAME, NO_PANELS, SOCKET_COLORS, TROUBLE, wordsFor } from '../appearance.ts';
import type { Section } from '../board.ts';
import { coloredByName, graph, timeline } from '../panels.ts';
import { gauge, ofPanels, ofServers, overRange, perMinute, SHOWN, sampleAge, whereAlso } from '../promql.ts';

export const sockets: Section = {
  title: 'Console sockets',
  panels: [
    graph({
      title: 'Sockets by state',
      description: 'Console sockets by state. Nearly all of them should be streaming.',
      unit: 'none',
      decimals: 0,
      min: 0,
      noValue: NO_PANELS,
      width: 8,
      stacked: true,
      queries: [{ expr: `sum by (state) (${ofPanels('gameserver_exporter_sockets')})`, legend: '{{state}}' }],
      looks: coloredByName(SOCKET_COLORS),
    }),
    graph({
      title: 'Servers by condition',
      description:
        'How servers are monitored: streaming, polling, waiting for their first call, connecting, failing, or blocked.',
      unit: 'none',
      decimals: 0,
      min: 0,
      noValue: NO_PANELS,
      width: 8,
      stacked: true,
      queries: [
        { expr: `sum by (condition) (${ofPanels('gameserver_exporter_servers')})`, legend: '{{condition}}' },
      ],
      looks: coloredByName(CONDITION_COLORS),
    }),
    graph({
      title: 'Reconnects',
      description:
        'Reconnects of console sockets per minute, by reason. A steady rate indicates a network problem.',
      unit: 'suffix:/min',
      min: 0,
      noValue: NO_PANELS,
      width: 8,
      stacked: true,
      queries: [{ expr: perMinute('gameserver_exporter_reconnects_total', 'reason'), legend: '{{reason}}' }],
    }),
    graph({
      title: 'Messages',
      description:
        'Messages over console sockets per second, by event. A running server sends stats once per second.',
      unit: 'suffix:/s',
      min: 0,
      noValue: NO_PANELS,
      width: 8,
      queries: [
        {
          expr: `sum by (event) (rate(${ofPanels('gameserver_exporter_messages_total')}[$__rate_interval])) > 0`,
          legend: '{{event}}',
        },
      ],
    }),
    graph({
      title: 'Invalid messages',
      description: 'Invalid messages and API responses per minute, by kind.',
      unit: 'suffix:/min',
      min: 0,
      noValue: NO_PANELS,
      width: 8,
      queries: [{ expr: perMinute('gameserver_exporter_bad_messages_total', 'kind'), legend: '{{kind}}' }],
    }),
    timeline({
      title: 'Panels',
      description: "Whether each panel's API responds and accepts the API key.",
      unit: 'none',
      noValue: NO_PANELS,
      width: 8,
      mappings: [wordsFor({ 0: ['down', TROUBLE], 1: ['up', GOOD] })],
      queries: [{ expr: `min by (panel) (${ofPanels('gameserver_panel_up')})`, legend: '{{panel}}' }],
    }),
  ],
};

const FRESH = `${gauge('gameserver_collection_up')} == 1`;

export const freshness: Section = {
  title: 'Age of samples',
  panels: [
    graph({
      title: 'Sample age',
      description:
        'Age of fresh samples. Samples of servers that are off or polled are older than those of running servers that stream.',
      unit: 's',
      min: 0,
      noValue: 'No server has a fresh sample',
      width: 12,
      queries: [
        { expr: `quantile(0.5, ${whereAlso(sampleAge(), FRESH)})`, legend: 'p50' },
        { expr: `quantile(0.99, ${whereAlso(sampleAge(), FRESH)})`, legend: 'p99' },
        { expr: `max(${whereAlso(sampleAge(), FRESH)})`, legend: 'maximum' },
      ],
    }),
    graph({
      title: 'Oldest samples',
      description: `The ${SHOWN} servers with the oldest sample at the end of the time range, including stale samples.`,
      unit: 's',
      min: 0,
      noValue: 'No samples yet',
      width: 12,
      queries: [
        {
          expr: whereAlso(
            sampleAge(),
            `bottomk(${SHOWN}, ${overRange(`${ofServers('gameserver_last_sample_timestamp_seconds')} @ end()`)})`,
          ),
          legend: NAME,
        },
      ],
    }),
  ],
};
