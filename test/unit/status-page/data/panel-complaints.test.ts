import { describe, expect, it } from 'vitest';
import { CAUSES } from '../../../../src/diagnosis/causes.ts';
import { readFleetStatus, readStatus, UNREACHABLE } from '../../../support/panels-status.ts';
import {
  fleetReading,
  type PanelReadingChanges,
  READ_AT,
  type ServerReadingChanges,
  streamingReading,
} from '../../../support/readings.ts';

const RATE_LIMITED = { cause: 'rate_limited', detail: '429 for 60 s' } as const;
const NODE = { cause: 'node_connection', detail: 'connect ECONNREFUSED 203.0.113.8:8080' } as const;

const down = (name: string): PanelReadingChanges => ({ name, up: false, problems: [UNREACHABLE] });
const titles = (...panels: readonly PanelReadingChanges[]) =>
  readStatus(panels).complaints.map(({ title }) => title);

describe('the complaints about panels and nodes', () => {
  it('are absent while all is well', () => expect(titles({})).toEqual([]));

  it('have a title, what to do, and what was seen', () => {
    expect(readStatus([down('main')]).complaints).toEqual([
      {
        severity: 'error',
        title: 'Panel main: unreachable',
        action: CAUSES.connection.remedy,
        detail: UNREACHABLE.detail,
        since: 1_700_001_000,
      },
    ]);
  });

  it('are one for all panels or nodes with the same problem, and each panel keeps its own', () => {
    const { complaints, panels } = readStatus([down('a'), down('b')]);
    expect(complaints).toMatchObject([{ title: 'Panels a and b: unreachable', detail: '' }]);
    expect(panels.map((panel) => panel.complaints.map(({ title }) => title))).toEqual([
      ['Panel a: unreachable'],
      ['Panel b: unreachable'],
    ]);
    const nodes = ['n1', 'n2', 'n3', 'n4', 'n5'].map((name) => ({ name, up: false, problem: NODE }));
    expect(titles({ nodes })).toEqual(['Nodes n1, n2, n3 and 2 more: unreachable']);
  });

  it('show the most serious first, and the panel of a node if there are several', () => {
    const nodes = [
      { name: 'n1', up: false, problem: NODE },
      { name: 'n2', up: true },
    ];
    expect(titles({ name: 'a', problems: [RATE_LIMITED], nodes }, down('b'))).toEqual([
      'Node n1 (a): unreachable',
      'Panel b: unreachable',
      `Panel a: ${CAUSES.rate_limited.title}`,
    ]);
  });

  it('are absent before the first response of a panel', () => expect(titles({ up: false })).toEqual([]));

  it('name a rejected API key, not a panel that is down', () => {
    const problems = [{ cause: 'key_refused', detail: '401' }] as const;
    expect(titles({ up: false, problems })).toEqual([`Panel main: ${CAUSES.key_refused.title}`]);
  });

  it('name no node while the panel has a problem, because nobody can know', () => {
    const nodes = [{ name: 'n1', up: false, problem: NODE }];
    expect(titles({ nodes })).toEqual(['Node n1: unreachable']);
    expect(titles({ nodes, up: false, problems: [UNREACHABLE] })).toEqual(['Panel main: unreachable']);
  });

  it('have the time since which the problem is suspected, of several the first', () => {
    const since = (ago: number) => ({ ...UNREACHABLE, since: READ_AT - ago * 1_000 });
    const { complaints, panels } = readStatus([
      { name: 'a', up: false, problems: [since(60)] },
      { name: 'b', up: false, problems: [since(90)] },
      { name: 'c', nodes: [{ name: 'n1', up: false, problem: { ...NODE, since: READ_AT - 5_000 } }] },
    ]);
    expect(complaints.map((complaint) => complaint.since)).toEqual([1_700_000_910, 1_700_000_995]);
    expect(panels[0]?.complaints[0]?.since).toBe(1_700_000_940);
  });
});

describe('a panel of whose servers most do not stream', () => {
  const origin = { condition: 'polling', problem: { cause: 'origin', detail: '403' } } as const;
  const complaints = (servers: readonly ServerReadingChanges[], changes: PanelReadingChanges = {}) =>
    readStatus([changes], servers).complaints.filter(({ title }) => title.includes('not streaming'));

  it('has a complaint with their most frequent cause', () => {
    const dns = { condition: 'failing', problem: { cause: 'node_dns', detail: 'ENOTFOUND' } } as const;
    expect(complaints([origin, origin, dns, { condition: 'streaming' }])).toMatchObject([
      { title: `Panel main: 3 of 4 servers not streaming: ${CAUSES.origin.title}`, severity: 'warning' },
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
    ['a node is down', [origin], { nodes: [{ name: 'n1', up: false, problem: NODE }] }],
    ['the panel is down', [origin], { up: false }],
  ])('has none if %s', (_, servers, changes) => {
    expect(complaints(servers, changes)).toEqual([]);
  });

  it('counts servers that stream in spite of a problem', () => {
    const streaming = streamingReading({ problem: origin.problem });
    expect(readFleetStatus(fleetReading([streaming, streaming])).complaints).toEqual([]);
  });
});
