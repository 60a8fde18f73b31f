import { GOOD, INFORMATION, NO_PANELS, TROUBLE, WARNING, wordsFor } from '../appearance.ts';
import type { Section } from '../board.ts';
import { colored, DASHED, graph, type Look, THIN, timeline } from '../panels.ts';
import { growthOfSparse, ofEachPanel, ofPanels, perMinute, quantile } from '../promql.ts';
import { type Column, table } from '../table.ts';

/** By HTTP status; a word stands for a call without an answer. */
const ANSWER_COLORS: readonly Look[] = [
  ['/^2/', colored(GOOD)],
  ['/^3/', colored(INFORMATION)],
  ['/^4/', colored('yellow')],
  ['/^429$/', colored(WARNING)],
  ['/^5/', colored(TROUBLE)],
  ['/^[a-z]/', colored('dark-red')],
];

export const api: Section = {
  title: "The panels' API",
  panels: [
    graph({
      title: 'API budget',
      description:
        'Calls a minute: made, allowed (dashed), planned, and what it would take to stream every server all the time (dotted).',
      unit: 'suffix:/min',
      min: 0,
      noValue: NO_PANELS,
      width: 12,
      height: 9,
      queries: [
        {
          expr: ofEachPanel('gameserver_exporter_api_budget_used_calls_per_minute'),
          legend: '{{panel}} made',
        },
        {
          expr: ofEachPanel('gameserver_exporter_api_budget_limit_calls_per_minute'),
          legend: '{{panel}} allowed',
        },
        { expr: ofEachPanel('gameserver_exporter_planned_calls_per_minute'), legend: '{{panel}} planned' },
        { expr: ofEachPanel('gameserver_exporter_wanted_calls_per_minute'), legend: '{{panel}} wanted' },
      ],
      looks: [
        ['/ allowed$/', DASHED],
        ['/ wanted$/', THIN],
      ],
    }),
    graph({
      title: 'Calls that wait',
      description: 'Calls that wait for their turn in the budget. A long queue makes samples old.',
      unit: 'none',
      decimals: 0,
      min: 0,
      noValue: NO_PANELS,
      width: 6,
      height: 9,
      queries: [{ expr: ofEachPanel('gameserver_exporter_api_budget_queue_length'), legend: '{{panel}}' }],
    }),
    timeline({
      title: 'Paused by a 429',
      description: 'When all calls were held back, because the panel said that its rate limit was exceeded.',
      unit: 'none',
      noValue: NO_PANELS,
      width: 6,
      height: 9,
      mappings: [wordsFor({ 0: ['goes on', GOOD], 1: ['paused', WARNING] })],
      queries: [
        {
          expr: `max by (panel) (${ofPanels('gameserver_exporter_api_budget_paused')})`,
          legend: '{{panel}}',
        },
      ],
    }),
    graph({
      title: 'Calls by answer',
      description: 'Calls a minute by HTTP status, or by kind of failure where no answer came.',
      unit: 'suffix:/min',
      min: 0,
      noValue: 'No call was made',
      width: 8,
      stacked: true,
      queries: [
        { expr: perMinute('gameserver_exporter_api_requests_total', 'status'), legend: '{{status}}' },
      ],
      looks: ANSWER_COLORS,
    }),
    graph({
      title: 'Answers of 429',
      description: 'Calls that the panel refused because its rate limit was exceeded, by panel and endpoint.',
      unit: 'none',
      decimals: 0,
      min: 0,
      noValue: 'The panel never said that its rate limit was exceeded',
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
        'How long calls took, in seconds, by endpoint. Panels answer after up to 20 s where a node does not.',
      unit: 's',
      min: 0,
      noValue: 'No call was made',
      width: 8,
      queries: [
        {
          expr: `${quantile(0.5, ofPanels('gameserver_exporter_api_request_duration_seconds_bucket'), 'endpoint')} >= 0`,
          legend: '{{endpoint}}: half are faster',
        },
        {
          expr: `${quantile(0.99, ofPanels('gameserver_exporter_api_request_duration_seconds_bucket'), 'endpoint')} >= 0`,
          legend: '{{endpoint}}: 99 % are faster',
        },
      ],
    }),
    table({
      title: 'Plan',
      description: 'How the servers of each panel are to be observed within its limit.',
      unit: 'none',
      noValue: NO_PANELS,
      height: 6,
      columns: [
        { label: 'panel', name: 'Panel', width: 100, grows: true },
        planned('Own sockets', 'sockets', 110),
        planned('Servers by turns', 'turns', 140),
        planned('Turn sockets', 'turn_sockets', 110),
        planned('No descriptor', 'without_socket', 115),
        planned('Polled', 'polls', 75),
        {
          name: 'Polled every',
          expr: `max by (panel) (${ofPanels('gameserver_exporter_planned_poll_interval_seconds')})`,
          width: 105,
          unit: 's',
          decimals: 0,
        },
        {
          name: 'Oldest streamed',
          expr: `max by (panel) (${ofPanels('gameserver_exporter_planned_longest_age_seconds')})`,
          width: 130,
          unit: 's',
          decimals: 0,
        },
      ],
      sortBy: [['Panel', 'ascending']],
    }),
  ],
};

function planned(name: string, what: string, width: number): Column {
  return { name, expr: ofEachPanel(`gameserver_exporter_planned_${what}`), width };
}

export const listing: Section = {
  title: 'Discovery',
  collapsed: true,
  panels: [
    graph({
      title: 'Servers by discovery',
      description:
        "Servers that are observed because the panel's listing names them, and those that are left out because of discover.max_servers, or because another server has the same identifier.",
      unit: 'none',
      decimals: 0,
      min: 0,
      noValue: 'No panel is listed',
      width: 8,
      queries: [
        { expr: ofEachPanel('gameserver_exporter_discovered_servers'), legend: '{{panel}}' },
        {
          expr: ofEachPanel('gameserver_exporter_discovery_left_out_servers'),
          legend: '{{panel}}: left out',
        },
        {
          expr: ofEachPanel('gameserver_exporter_discovery_ambiguous_servers'),
          legend: '{{panel}}: same identifier',
        },
      ],
    }),
    graph({
      title: 'Age of the listing',
      description:
        "Seconds since every page of the panel's listing was last read; five minutes are the default interval.",
      unit: 's',
      min: 0,
      noValue: 'No panel is listed, or no listing was read to the end',
      width: 8,
      queries: [
        {
          expr: `time() - min by (panel) (${ofPanels('gameserver_exporter_discovery_last_success_timestamp_seconds')})`,
          legend: '{{panel}}',
        },
      ],
    }),
    graph({
      title: 'Listings that failed',
      description: "Walks through the panel's listing, a minute, that left out a page or an entry.",
      unit: 'suffix:/min',
      min: 0,
      noValue: 'No panel is listed',
      width: 8,
      queries: [
        { expr: perMinute('gameserver_exporter_discovery_failures_total', 'panel'), legend: '{{panel}}' },
      ],
    }),
  ],
};
