import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { ALL, TIMING } from '../../support/dashboard-queries.ts';
import { repositoryPath } from '../../support/deploy-files.ts';
import { dashboardIn, interpolate, queriesOf } from '../../support/grafana.ts';
import { hasProgram } from '../../support/has-program.ts';

const run = promisify(execFile);

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** The time of the evaluation, in minutes after the first sample. */
const NOW = 5 * 60;

/** A constant series with a value per minute. */
const always = (value: number) => `${value}x${NOW}`;

/** A series with one value, and another one for the last minutes. */
function since(minutes: number, before: number, then: number): string {
  return `${before}x${NOW - minutes} ${then}x${minutes - 1}`;
}

/** A series that exists only in the last minutes. */
const only = (minutes: number, value: number) => `_x${NOW - minutes} ${value}x${minutes - 1}`;

const EXPORTER = 'job="gameserver", instance="one"';
const ofServer = (server: string) => `${EXPORTER}, panel="main", server="${server}", server_id="${server}"`;

/**
 * The series of a server on `fra-1` that is expected to run. `running` and `offline` are the values
 * of these states.
 */
function server(name: string, there: (value: number) => string, running: string, offline: string) {
  const of = ofServer(name);
  return [
    [`gameserver_info{${of}, node="fra-1", egg="Paper", uuid="u"}`, there(1)],
    [`gameserver_collection_up{${of}}`, there(1)],
    [`gameserver_expected_running{${of}}`, there(1)],
    [`gameserver_state{${of}, state="running"}`, running],
    [`gameserver_state{${of}, state="offline"}`, offline],
    [`gameserver_state_changed_timestamp_seconds{${of}}`, there(0)],
  ] as const;
}

const off = (name: string, minutes: number) =>
  server(name, always, since(minutes, 1, 0), since(minutes, 0, 1));

const SERIES = [
  [`gameserver_exporter_build_info{${EXPORTER}}`, always(1)],
  [`up{${EXPORTER}}`, always(1)],
  ['up{job="gameserver", instance="two"}', since(20, 1, 0)],
  [`gameserver_panel_up{${EXPORTER}, panel="main"}`, always(1)],
  [`gameserver_panel_up{${EXPORTER}, panel="other"}`, since(187, 1, 0)],
  [`gameserver_panel_problem{${EXPORTER}, panel="other", cause="timeout"}`, only(187, 1)],
  [`gameserver_panel_problem{${EXPORTER}, panel="main", cause="listing_refused"}`, only(40, 1)],
  [
    `gameserver_panel_problem_since_timestamp_seconds{${EXPORTER}, panel="main", cause="listing_refused"}`,
    only(40, (NOW - 41) * MINUTE),
  ],
  [
    `gameserver_exporter_config_reload_failing_since_timestamp_seconds{${EXPORTER}}`,
    only(2, (NOW - 3) * MINUTE),
  ],
  [`gameserver_node_up{${EXPORTER}, panel="main", node="ams-2"}`, since(5, 1, 0)],
  [`gameserver_node_problem{${EXPORTER}, panel="main", node="ams-2", cause="node_connection"}`, only(5, 1)],
  ...off('minutes', 7),
  ...off('hours', 153),
  ...server('unseen', (value) => only(10, value), only(10, 0), only(10, 1)),
  ...server('fine', always, always(1), always(0)),
  // The server crashed a minute ago, and runs again.
  ...server('crashed', always, always(1), always(0)),
  [`gameserver_stops_total{${ofServer('crashed')}, reason="crashed"}`, since(2, 0, 1)],
] as const;

const row = (labels: Readonly<Record<string, string>>) =>
  `{${Object.entries({ ...labels, todo: labels['problem'] ?? '' })
    .map(([label, value]) => `${label}="${value}"`)
    .join(', ')}}`;

const down = (name: string) =>
  row({ urgency: '1', problem: 'off', panel: 'main', server: name, server_id: name, node: 'fra-1' });

const ROWS = [
  [
    row({ urgency: '1', problem: 'exporter_down', job: 'gameserver', instance: 'two', node: 'two' }),
    20 * MINUTE,
  ],
  // After more than two hours, the time is rounded to the last full hour without a problem.
  [row({ urgency: '1', problem: 'timeout', cause: 'timeout', panel: 'other' }), 4 * HOUR],
  [
    row({ urgency: '1', problem: 'node_connection', cause: 'node_connection', panel: 'main', node: 'ams-2' }),
    5 * MINUTE,
  ],
  [row({ urgency: '2', problem: 'listing_refused', cause: 'listing_refused', panel: 'main' }), 41 * MINUTE],
  [
    row({ urgency: '3', problem: 'config_refused', job: 'gameserver', instance: 'one', node: 'one' }),
    3 * MINUTE,
  ],
  [down('minutes'), 6 * MINUTE],
  [down('hours'), 152 * MINUTE],
  [down('unseen'), 10 * MINUTE],
  [
    row({
      urgency: '3',
      problem: 'recent_crash',
      panel: 'main',
      server: 'crashed',
      server_id: 'crashed',
      node: 'fra-1',
    }),
    MINUTE,
  ],
] as const;

const ROWS_BY_SERVER = [
  ['{}', 5],
  ...['minutes', 'hours', 'unseen', 'crashed'].map((name) => [`{server="${name}"}`, 1] as const),
] as const;

function samples(rows: readonly (readonly [labels: string, value: number])[]) {
  return rows.map(([labels, value]) => ({ labels, value }));
}

const hasPromtool = hasProgram('promtool');

describe.skipIf(!hasPromtool)('the table of problems', () => {
  it('lists each problem with its duration, evaluated by promtool', async () => {
    const query = queriesOf(dashboardIn('fleet.json')).find(({ expr }) => expr.includes('"urgency"'));
    const expr = interpolate(query?.expr ?? '', ALL, TIMING);
    const at = { eval_time: `${NOW}m` };
    const folder = await mkdtemp(join(tmpdir(), 'promtool-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, 'attention.yml');
    const tests = {
      rule_files: [repositoryPath('deploy/prometheus/rules/gameserver.yml')],
      evaluation_interval: '1m',
      // The second group reads the first one, so it has to follow it. Without this line, the order
      // is random.
      group_eval_order: ['gameserver', 'gameserver-problems'],
      tests: [
        {
          interval: '1m',
          input_series: SERIES.map(([series, values]) => ({ series, values })),
          promql_expr_test: [
            // promtool's NaN equals nothing, so rows without a time are only counted.
            { ...at, expr: `(${expr}) >= 0`, exp_samples: samples(ROWS) },
            { ...at, expr: `count by (server) (${expr})`, exp_samples: samples(ROWS_BY_SERVER) },
            // A crash has a duration immediately.
            {
              eval_time: `${NOW - 1}m`,
              expr: `max by (server) ((${expr}) >= 0 and on (server) gameserver_stops_total)`,
              exp_samples: samples([['{server="crashed"}', 0]]),
            },
          ],
        },
      ],
    };
    await writeFile(file, stringify(tests, { lineWidth: 0 }));
    expect((await run('promtool', ['test', 'rules', file])).stdout).toContain('SUCCESS');
  });
});
