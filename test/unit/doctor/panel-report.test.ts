import { describe, expect, it } from 'vitest';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import { describePanel } from '../../../src/doctor/panel-report.ts';
import type { CauseCode } from '../../../src/domain/problems.ts';
import type { BudgetReading, NodeReading, ProblemReading } from '../../../src/domain/reading.ts';
import {
  type PanelReadingChanges,
  panelReading,
  type ServerReadingChanges,
  serverSnapshot,
} from '../../support/readings.ts';

const because = (cause: CauseCode, detail = 'it was seen'): ProblemReading => ({ cause, detail, since: 0 });

interface View {
  readonly panel?: PanelReadingChanges;
  readonly nodes?: readonly NodeReading[];
  readonly servers?: readonly ServerReadingChanges[];
}

function described({ panel = {}, nodes = [], servers = [] }: View) {
  return describePanel({
    name: 'main',
    url: 'https://panel.example.com',
    reading: panelReading({ budget: LEARNED, ...panel }),
    nodes,
    servers: servers.map((server) => serverSnapshot(server)),
    selection: undefined,
    calls: 0,
    isListRead: true,
    listedNames: [],
  });
}

const LEARNED: BudgetReading = {
  limitPerMinute: 192,
  isPinned: false,
  usedLastMinute: 0,
  queueLength: 0,
  paused: false,
  knownLimitPerMinute: 240,
};

const failing = (name: string, cause: CauseCode, node?: string): ServerReadingChanges => ({
  target: { name, ...(node !== undefined && { node }) },
  condition: 'failing',
  problem: because(cause, `${name}: ${cause}`),
});

describe('the problems of a panel', () => {
  it('are those of the exporter, failures before warnings', () => {
    const problems = [because('budget_too_small'), because('challenge_page')];
    expect(described({ panel: { up: true, problems } }).problems).toEqual(
      (['challenge_page', 'budget_too_small'] as const).map((cause) => ({
        cause,
        detail: 'it was seen',
        result: cause === 'challenge_page' ? 'failed' : 'warning',
        remedy: CAUSES[cause].remedy,
        nodes: [],
        servers: [],
      })),
    );
  });

  it('are not repeated for its servers, which are untested', () => {
    const servers = [failing('a', 'connection'), failing('b', 'connection')];
    const report = described({ panel: { up: false, problems: [because('connection')] }, servers });
    expect(report.problems).toMatchObject([{ cause: 'connection', servers: [] }]);
    expect(report.servers.map(({ result }) => result)).toEqual(['untested', 'untested']);
  });

  it('are those that its servers see, as long as the panel itself is not judged', () => {
    const report = described({ panel: { up: false, problems: [] }, servers: [failing('a', 'timeout')] });
    expect(report.problems).toMatchObject([{ cause: 'timeout', servers: ['a'] }]);
  });

  it('include the missing console permission that every server reports', () => {
    const servers = [failing('a', 'no_console_permission')];
    const panel = { up: true, problems: [because('key_console_permission')] };
    expect(described({ panel, servers }).problems).toMatchObject([
      { cause: 'key_console_permission', servers: [] },
    ]);
  });
});

it('a panel that reports no rate limit is a warning', () => {
  const panel = { budget: { limitPerMinute: 48 } };
  expect(described({ panel }).problems).toMatchObject([
    {
      cause: 'limit_unknown',
      result: 'warning',
      detail: 'the panel reports no rate limit: using at most 48 calls per minute',
    },
  ]);
});

describe('the problems of nodes and servers', () => {
  const up = { up: true, problems: [] };

  it('are one for a dead node, however its servers notice it', () => {
    const dead = { name: 'fra-1', up: false, problem: because('node_connection') };
    const servers = [
      failing('a', 'node_connection', 'fra-1'),
      failing('b', 'node_unreachable', 'fra-1'),
      failing('c', 'panel_error', 'fra-1'),
    ];
    expect(described({ panel: up, nodes: [dead], servers }).problems).toMatchObject([
      { cause: 'node_connection', detail: 'it was seen', nodes: ['fra-1'], servers: ['a', 'b', 'c'] },
    ]);
  });

  it('are one for all nodes and servers with the same cause', () => {
    const servers = [
      failing('a', 'origin', 'fra-1'),
      failing('b', 'origin', 'fra-2'),
      failing('c', 'not_found', 'fra-2'),
      failing('d', 'not_found'),
    ];
    expect(described({ panel: up, servers }).problems).toMatchObject([
      { cause: 'origin', detail: 'a: origin', nodes: ['fra-1', 'fra-2'], servers: ['a', 'b'] },
      { cause: 'not_found', nodes: [], servers: ['c', 'd'] },
    ]);
  });

  it('leave a server of the node with its own problem', () => {
    const dead = { name: 'fra-1', up: false, problem: because('node_connection') };
    const report = described({ panel: up, nodes: [dead], servers: [failing('a', 'not_found', 'fra-1')] });
    expect(report.problems.map(({ cause, servers }) => [cause, servers])).toEqual([
      ['node_connection', []],
      ['not_found', ['a']],
    ]);
  });

  it('include queries of the game', () => {
    const server = {
      condition: 'streaming',
      collection_up: 1,
      query_problem: because('query_refused'),
    } as const;
    expect(described({ panel: up, servers: [server] })).toMatchObject({
      problems: [{ cause: 'query_refused', servers: ['survival'] }],
      servers: [{ result: 'failed' }],
    });
  });
});

describe('a server', () => {
  const describedResult = (server: ServerReadingChanges) =>
    described({ panel: { up: true, problems: [] }, servers: [server] }).servers[0];

  it.each(['any', 'auto'] as const)('that the panel holds is healthy if expect is %s', (expected) => {
    const held = { condition: 'blocked', blocked: 'suspended', problem: because('suspended') } as const;
    expect(describedResult({ ...held, target: { expect: expected } })).toMatchObject({
      result: 'ok',
      held: `suspended; not a problem with expect: ${expected}`,
    });
    expect(describedResult({ ...held, target: { expect: 'running' } })).toMatchObject({
      result: 'failed',
      problems: [{ cause: 'suspended' }],
    });
  });
});
