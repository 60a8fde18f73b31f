import { describe, expect, it } from 'vitest';
import { troublesOf } from '../../../../src/status-page/data/board.ts';
import { noticesOf, type PanelTroubles } from '../../../../src/status-page/data/notices.ts';
import { explained } from '../../../../src/status-page/data/problems.ts';
import {
  fleetReading,
  panelReading,
  type ServerReadingChanges,
  serverReading,
  streamingReading,
} from '../../../support/readings.ts';

const UNREACHABLE = explained({ cause: 'connection', detail: 'connect ECONNREFUSED 203.0.113.7:443' });
const RATE_LIMITED = explained({ cause: 'rate_limited', detail: '429 for 60 s' });
const NODE = explained({ cause: 'node_connection', detail: 'connect ECONNREFUSED 203.0.113.8:8080' });

const panel = (name: string, changes: Partial<PanelTroubles> = {}): PanelTroubles => ({
  name,
  up: true,
  problems: [],
  nodesDown: [],
  ...changes,
});
const down = (name: string) => panel(name, { up: false, problems: [UNREACHABLE] });
const titles = (...panels: readonly PanelTroubles[]) => noticesOf(panels).map(({ title }) => title);

describe('the notices', () => {
  it('are absent while all is well', () => expect(noticesOf([panel('main')])).toEqual([]));

  it('have a title, what to do, and what was seen', () => {
    expect(noticesOf([down('main')])).toEqual([
      {
        severity: 'error',
        title: 'Panel main is down: unreachable',
        remedy: UNREACHABLE.remedy,
        detail: UNREACHABLE.detail,
      },
    ]);
  });

  it('are one for all panels or nodes with the same problem', () => {
    expect(noticesOf([down('a'), down('b')])).toMatchObject([
      { title: 'Panels a and b are down: unreachable', detail: '' },
    ]);
    const nodesDown = ['n1', 'n2', 'n3', 'n4', 'n5'].map((node) => ({ node, problem: NODE }));
    expect(titles(panel('a', { nodesDown }))).toEqual(['Nodes n1, n2, n3 and 2 more are down: unreachable']);
  });

  it('show the most serious first, and the panel of a node if there are several', () => {
    const a = panel('a', { problems: [RATE_LIMITED], nodesDown: [{ node: 'n1' }] });
    expect(titles(a, down('b'))).toEqual([
      'Node n1 (a) is down',
      'Panel b is down: unreachable',
      `Panel a: ${RATE_LIMITED.title}`,
    ]);
  });

  it('show that a panel is down whose problem is unknown', () => {
    expect(titles(panel('main', { up: false }))).toEqual(['Panel main is down']);
  });
});

describe('a panel of whose servers most do not stream', () => {
  const origin = { condition: 'polling', problem: { cause: 'origin', detail: '403' } } as const;
  const problems = (servers: readonly ServerReadingChanges[], changes = {}) => {
    const readings = servers.map((server) => serverReading(server));
    return troublesOf(fleetReading(readings, [panelReading({ name: 'main', ...changes })]), 0)[0]?.problems;
  };

  it('has a problem with their most frequent cause', () => {
    const dns = { condition: 'failing', problem: { cause: 'node_dns', detail: 'ENOTFOUND' } } as const;
    expect(problems([origin, origin, dns, { condition: 'streaming' }])).toMatchObject([
      { title: `3 of 4 servers not streaming: ${explained(origin.problem).title}`, severity: 'warning' },
    ]);
  });

  it.each<[string, readonly ServerReadingChanges[], object]>([
    ['half of them stream', [origin, { condition: 'streaming' }], {}],
    ['they are still connecting', [{ condition: 'connecting' }, { condition: 'waiting' }], {}],
    ['they are configured to be polled', [{ ...origin, target: { mode: 'poll' } }], {}],
    [
      'they are suspended',
      [{ condition: 'blocked', problem: { cause: 'suspended', detail: '' } }, { condition: 'streaming' }],
      {},
    ],
    ['a node is down', [origin], { nodes: [{ name: 'n1', up: false }] }],
    ['the panel is down', [origin], { up: false }],
  ])('has none if %s', (_, servers, changes) => {
    expect(problems(servers, changes)).toEqual([]);
  });

  it('counts servers that stream in spite of a problem', () => {
    const fleet = fleetReading([
      streamingReading({ problem: origin.problem }),
      streamingReading({ problem: origin.problem }),
    ]);
    expect(troublesOf(fleet, 0)[0]?.problems).toEqual([]);
  });
});
