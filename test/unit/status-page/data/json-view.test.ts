import { describe, expect, it } from 'vitest';
import { CAUSES } from '../../../../src/diagnosis/causes.ts';
import { FIELD_ENTRIES } from '../../../../src/domain/server-fields.ts';
import { jsonView } from '../../../../src/status-page/data/json-view.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import {
  fleetReading,
  observedRecord,
  panelReading,
  READ_AT,
  serverReading,
  streamingReading,
} from '../../../support/readings.ts';

interface View {
  readonly summary: {
    readonly servers: number;
    readonly states: object;
    readonly conditions: object;
    readonly attention: object;
  };
  readonly panels: readonly Record<string, unknown>[];
  readonly servers: readonly Record<string, unknown>[];
}

const pieces = (fleet: Parameters<typeof fleetReading>[0] | ReturnType<typeof fleetReading>) => [
  ...jsonView({
    fleet:
      'servers' in fleet
        ? fleet
        : fleetReading(fleet, [
            panelReading({
              budget: { usedLastMinute: 4 },
              needs: { requiredCallsPerMinute: 240, requiredSockets: 90 },
            }),
          ]),
    clock: new ManualClock(),
    version: '1.2.3',
    rateLimited: () => 2,
  }),
];

const view = (fleet: Parameters<typeof pieces>[0]) => JSON.parse(pieces(fleet).join('')) as View;

const UUID = '1a7ce997-259b-452e-8b4e-cecc464142ca';

describe('the JSON view', () => {
  it('shows a server, with the values of the metrics under the same names', () => {
    const target = { id: UUID, uuid: UUID, node: 'n', labels: { game: 'minecraft' } };
    const reading = streamingReading({ target, cpu_limit_cores: 4, network_receive_bytes_per_second: 10 });
    const snapshot = reading.snapshot(READ_AT, new ManualClock());
    const metrics = FIELD_ENTRIES.filter(([name, { help }]) => help !== undefined && name in snapshot);
    const [server] = view([reading]).servers;
    expect(server).toEqual({
      ...JSON.parse(JSON.stringify(Object.fromEntries(metrics.map(([name]) => [name, snapshot[name]])))),
      panel: 'main',
      server: 'survival',
      server_id: '1a7ce997',
      uuid: UUID,
      node: 'n',
      labels: { game: 'minecraft' },
      state: 'running',
      condition: 'streaming',
      source: 'socket',
      sample_age_seconds: 0.5,
      network_receive_bytes_per_second: 10,
      stops: { requested: 1, exited: 2, crashed: 3, out_of_memory: 4, disk_full: 5, unknown: 6 },
    });
  });

  it('shows why a server is blocked, and what to do', () => {
    const problem = { cause: 'suspended', detail: 'server is suspended' } as const;
    const changes = { condition: 'blocked', blocked: 'suspended', problem } as const;
    const [server] = view([serverReading(changes)]).servers;
    expect(server).toMatchObject({
      state: 'unknown',
      blocked: 'suspended',
      cause: 'suspended',
      trouble: 'server is suspended',
      advice: expect.stringContaining('Unsuspend'),
    });
    expect(server).not.toHaveProperty('network_receive_bytes_per_second');
  });

  it('shows the complaint about a server, and its last stop', () => {
    const last_stop = { timestamp_seconds: 1_700_000_940, reason: 'out_of_memory', exit_code: 137 } as const;
    const [server] = view([
      streamingReading({ state: 'offline', last_stop, off_reason: 'out_of_memory' }),
    ]).servers;
    const title = 'out of memory, exit code 137';
    const action = "Raise its memory limit, or reduce its memory use. Start it if its node doesn't.";
    expect(server).toMatchObject({
      attention: 'crashed',
      complaint: { severity: 'error', title, action, detail: '', since: 1_700_000_940 },
      advice: `${title}. ${action}`,
      last_stop,
    });
  });

  it('omits stale values', () => {
    const [server] = view([observedRecord({ sampledAt: READ_AT - 100_000 })]).servers;
    expect(server).toMatchObject({ state: 'unknown', collection_up: 0, sample_age_seconds: 100 });
    expect(server).not.toHaveProperty('cpu_usage_cores');
  });

  it('shows totals, and the budget and the requirements of each panel', () => {
    const { summary, panels } = view([streamingReading(), serverReading({ target: { id: 'b' } })]);
    expect(summary.servers).toBe(2);
    expect(view([]).servers).toEqual([]);
    expect(summary.states).toMatchObject({ running: 1, unknown: 1, offline: 0 });
    expect(summary.conditions).toMatchObject({ streaming: 1, waiting: 1 });
    const unclear = { state: 'offline', expected_running: undefined } as const;
    const { attention } = view([streamingReading(), streamingReading(unclear)]).summary;
    expect(attention).toMatchObject({ unclear: 1, crashed: 0 });
    expect(panels).toEqual([
      expect.objectContaining({
        panel: 'main',
        up: 1,
        api_budget_used_calls_per_minute: 4,
        required_calls_per_minute: 240,
        allowed_calls_per_minute: 60,
        required_sockets: 90,
        api_rate_limited_total: 2,
      }),
    ]);
  });

  const NODES = [
    { name: 'fra-1', up: true },
    { name: 'fra-2', up: false, problem: { cause: 'node_connection', detail: 'ECONNREFUSED' } as const },
    { name: 'fra-3', up: false },
  ];

  it('shows the problems of nodes', () => {
    const [panel] = view(fleetReading([], [panelReading({ nodes: NODES })])).panels;
    expect(panel).toMatchObject({
      up: 1,
      nodes: [
        { node: 'fra-1', up: 1 },
        {
          node: 'fra-2',
          up: 0,
          cause: 'node_connection',
          detail: 'ECONNREFUSED',
          remedy: CAUSES.node_connection.remedy,
        },
        { node: 'fra-3', up: 0 },
      ],
    });
  });

  it('shows the problem of a panel that is down, and not whether its nodes are', () => {
    const panels = [
      panelReading({
        up: false,
        problems: [{ cause: 'key_address', detail: 'This IP address does not have permission' }],
        nodes: NODES,
      }),
    ];
    expect(view(fleetReading([], panels)).panels).toEqual([
      expect.objectContaining({
        panel: 'main',
        up: 0,
        problems: [
          {
            cause: 'key_address',
            detail: 'This IP address does not have permission',
            remedy: expect.stringContaining("Create a key that allows the exporter's address"),
          },
        ],
        nodes: [{ node: 'fra-1', up: 1 }, { node: 'fra-2' }, { node: 'fra-3' }],
      }),
    ]);
  });
});

describe('the query of a game', () => {
  const failed = {
    query_problem: { cause: 'query_refused', detail: 'nothing listens there' },
    query_up: 0,
    query_duration_seconds: 0.01,
  } as const;

  it('that fails is the problem of an otherwise healthy server', () => {
    const [server] = view([streamingReading(failed)]).servers;
    const { remedy } = CAUSES.query_refused;
    expect(server).toMatchObject({
      query_up: 0,
      cause: 'query_refused',
      trouble: 'nothing listens there',
      advice: remedy,
      query_problem: { cause: 'query_refused', detail: 'nothing listens there', remedy },
    });
    expect(server).not.toHaveProperty('players');
  });
});
