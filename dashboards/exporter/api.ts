import { GOOD, INFORMATION, NO_PANELS, TROUBLE, WARNING, wordsFor } from '../appearance.ts';
import type { Section } from '../board.ts';
import { colored, DASHED, graph, type Look, THIN, timeline } from '../panels.ts';
import { growthOfSparse, ofEachPanel, ofPanels, perMinute, quantile } from '../promql.ts';
import { type Column, table } from '../table.ts';

/** By HTTP status, or by a word for calls without a response. */
const RESPONSE_COLORS: readonly Look[] = [
  ['/^2/', colored(GOOD)],
  ['/^3/', colored(INFORMATION)],
  ['/^4/', colored('yellow')],
  ['/^429$/', colored(WARNING)],
  ['/^5/', colored(TROUBLE)],
  ['/^[a-z]/', colored('dark-red')],
];

export const api: Section = {
  title: 'Panel API',
  panels: [
    graph({
      title: 'API budget',
      description:
        'API calls per minute: used, allowed (dashed), and required to stream and poll every server as configured (thin).',
      unit: 'suffix:/min',
      min: 0,
      noValue: NO_PANELS,
      width: 12,
      height: 9,
      queries: [
        {
          expr: ofEachPanel('gameserver_exporter_api_budget_used_calls_per_minute'),
          legend: '{{panel}} used',
        },
        {
          expr: ofEachPanel('gameserver_exporter_allowed_calls_per_minute'),
          legend: '{{panel}} allowed',
        },
        { expr: ofEachPanel('gameserver_exporter_required_calls_per_minute'), legend: '{{panel}} required' },
      ],
      looks: [
        ['/ allowed$/', DASHED],
        ['/ required$/', THIN],
      ],
    }),
    graph({
      title: 'Queued calls',
      description: 'API calls that wait because of the rate limit. A long queue delays samples.',
      unit: 'none',
      decimals: 0,
      min: 0,
      noValue: NO_PANELS,
      width: 6,
      height: 9,
      queries: [{ expr: ofEachPanel('gameserver_exporter_api_budget_queue_length'), legend: '{{panel}}' }],
    }),
    timeline({
      title: 'Pauses after HTTP 429',
      description:
        'When the exporter paused all API calls because the panel reported that its rate limit was exceeded.',
      unit: 'none',
      noValue: NO_PANELS,
      width: 6,
      height: 9,
      mappings: [wordsFor({ 0: ['active', GOOD], 1: ['paused', WARNING] })],
      queries: [
        {
          expr: `max by (panel) (${ofPanels('gameserver_exporter_api_budget_paused')})`,
          legend: '{{panel}}',
        },
      ],
    }),
    graph({
      title: 'Calls by status',
      description: 'API calls per minute by HTTP status, or by kind of failure if there was no response.',
      unit: 'suffix:/min',
      min: 0,
      noValue: 'No API calls',
      width: 8,
      stacked: true,
      queries: [
        { expr: perMinute('gameserver_exporter_api_requests_total', 'status'), legend: '{{status}}' },
      ],
      looks: RESPONSE_COLORS,
    }),
    graph({
      title: 'HTTP 429 by endpoint',
      description:
        'API calls that the panel rejected because its rate limit was exceeded, by panel and endpoint.',
      unit: 'none',
      decimals: 0,
      min: 0,
      noValue: 'No API calls',
      width: 8,
      bars: true,
      queries: [
        {
          expr: growthOfSparse(
            'gameserver_exporter_api_requests_total',
            'status="429"',
            ofPanels('gameserver_exporter_api_requests_total'),
            'panel',
            'endpoint',
          ),
          legend: '{{panel}} {{endpoint}}',
        },
      ],
    }),
    graph({
      title: 'Duration of calls',
      description:
        "Duration of API calls by endpoint. If a node doesn't respond, the panel's response can take up to 20 s.",
      unit: 's',
      min: 0,
      noValue: 'No API calls',
      width: 8,
      queries: [
        {
          expr: `${quantile(0.5, ofPanels('gameserver_exporter_api_request_duration_seconds_bucket'), 'endpoint')} >= 0`,
          legend: '{{endpoint}} p50',
        },
        {
          expr: `${quantile(0.99, ofPanels('gameserver_exporter_api_request_duration_seconds_bucket'), 'endpoint')} >= 0`,
          legend: '{{endpoint}} p99',
        },
      ],
    }),
    table({
      title: 'Requirements',
      description:
        'What it takes to stream and poll every server of each panel as configured, and what the rate limit and the open file limit allow.',
      unit: 'none',
      noValue: NO_PANELS,
      height: 6,
      columns: [
        { label: 'panel', name: 'Panel', width: 100, grows: true, filters: true },
        perPanel('Required calls/min', 'required_calls_per_minute', 155),
        perPanel('Allowed calls/min', 'allowed_calls_per_minute', 150),
        perPanel('Required sockets', 'required_sockets', 140),
        perPanel('Allowed sockets', 'allowed_sockets', 135),
      ],
      sortBy: [['Panel', 'ascending']],
    }),
  ],
};

function perPanel(name: string, what: string, width: number): Column {
  return { name, expr: ofEachPanel(`gameserver_exporter_${what}`), width, decimals: 0 };
}

export const listing: Section = {
  title: 'Discovery',
  collapsed: true,
  panels: [
    graph({
      title: 'Discovered servers',
      description:
        "Servers in the panel's server list, and servers that are left out because of discover.max_servers or because another server has the same identifier.",
      unit: 'none',
      decimals: 0,
      min: 0,
      noValue: 'No panel with discovery',
      width: 8,
      queries: [
        { expr: ofEachPanel('gameserver_exporter_discovered_servers'), legend: '{{panel}}' },
        {
          expr: ofEachPanel('gameserver_exporter_discovery_left_out_servers'),
          legend: '{{panel}} left out',
        },
        {
          expr: ofEachPanel('gameserver_exporter_discovery_ambiguous_servers'),
          legend: '{{panel}} same identifier',
        },
      ],
    }),
    graph({
      title: 'Age of the server list',
      description:
        "Time since the panel's server list was last read completely. The default interval is five minutes.",
      unit: 's',
      min: 0,
      noValue: 'No panel with discovery, or no complete server list yet',
      width: 8,
      queries: [
        {
          expr: `time() - min by (panel) (${ofPanels('gameserver_exporter_discovery_last_success_timestamp_seconds')})`,
          legend: '{{panel}}',
        },
      ],
    }),
    graph({
      title: 'Failed reads',
      description: "Attempts per minute to read the panel's server list that missed a page or an entry.",
      unit: 'suffix:/min',
      min: 0,
      noValue: 'No panel with discovery',
      width: 8,
      queries: [
        { expr: perMinute('gameserver_exporter_discovery_failures_total', 'panel'), legend: '{{panel}}' },
      ],
    }),
  ],
};
