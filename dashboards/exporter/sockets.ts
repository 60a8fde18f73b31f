import { CONDITION_COLORS, GOOD, NO_PANELS, SOCKET_COLORS, TROUBLE, wordsFor } from '../appearance.ts';
import type { Section } from '../board.ts';
import { coloredByName, DASHED, graph, timeline } from '../panels.ts';
import { gauge, ofPanels, ofServers, overRange, perMinute, SHOWN, sampleAge, whereAlso } from '../promql.ts';

export const sockets: Section = {
  title: 'Sockets',
  panels: [
    graph({
      title: 'Sockets by state',
      description: 'Console sockets by state. Nearly all should stream.',
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
        'How servers are observed: streaming by socket, polling, waiting for their turn, connecting, failing, blocked.',
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
        'Sockets that had to be connected anew, a minute, by reason. A steady stream means trouble on the way.',
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
        'Messages over console sockets a second, by event. A running server sends stats once a second.',
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
      title: 'Bad messages',
      description: 'Messages and answers a minute that could not be used, by what was wrong.',
      unit: 'suffix:/min',
      min: 0,
      noValue: NO_PANELS,
      width: 8,
      queries: [{ expr: perMinute('gameserver_exporter_bad_messages_total', 'kind'), legend: '{{kind}}' }],
    }),
    timeline({
      title: 'Panels',
      description: "Whether each panel's API answers and accepts the key.",
      unit: 'none',
      noValue: NO_PANELS,
      width: 8,
      mappings: [wordsFor({ 0: ['down, or refuses the key', TROUBLE], 1: ['answers', GOOD] })],
      queries: [{ expr: `min by (panel) (${ofPanels('gameserver_panel_up')})`, legend: '{{panel}}' }],
    }),
  ],
};

const FRESH = `${gauge('gameserver_collection_up')} == 1`;

export const freshness: Section = {
  title: 'Freshness',
  panels: [
    graph({
      title: 'Sample age',
      description:
        'Age of the samples of servers that have a fresh one, in seconds. Servers that are off, and polled ones, have older ones than those that run and stream.',
      unit: 's',
      min: 0,
      noValue: 'No server has a fresh sample',
      width: 12,
      queries: [
        { expr: `quantile(0.5, ${whereAlso(sampleAge(), FRESH)})`, legend: 'half are younger' },
        { expr: `quantile(0.99, ${whereAlso(sampleAge(), FRESH)})`, legend: '99 % are younger' },
        { expr: `max(${whereAlso(sampleAge(), FRESH)})`, legend: 'oldest' },
        {
          expr: `max(${ofPanels('gameserver_exporter_planned_longest_age_seconds')})`,
          legend: 'oldest that is planned',
        },
      ],
      looks: [['/planned$/', DASHED]],
    }),
    graph({
      title: 'Oldest samples',
      description: `The ${SHOWN} servers with the oldest sample at the end of the time range, stale ones included, in seconds.`,
      unit: 's',
      min: 0,
      noValue: 'No sample ever came',
      width: 12,
      queries: [
        {
          expr: whereAlso(
            sampleAge(),
            `bottomk(${SHOWN}, ${overRange(`${ofServers('gameserver_last_sample_timestamp_seconds')} @ end()`)})`,
          ),
          legend: '{{server}} · {{panel}}',
        },
      ],
    }),
  ],
};
