import { describe, expect, it } from 'vitest';
import { CAUSES } from '../../../../src/diagnosis/causes.ts';
import { panelsStatus } from '../../../../src/status-page/data/panel-status.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import {
  fleetReading,
  type PanelReadingChanges,
  panelReading,
  type ServerReadingChanges,
  serverReading,
  streamingReading,
} from '../../../support/readings.ts';

const UNREACHABLE = { cause: 'connection', detail: 'connect ECONNREFUSED 203.0.113.7:443' } as const;
const RATE_LIMITED = { cause: 'rate_limited', detail: '429 for 60 s' } as const;
const NODE = { cause: 'node_connection', detail: 'connect ECONNREFUSED 203.0.113.8:8080' } as const;

const FACTS = {
  clock: new ManualClock(),
  version: '1.2.3',
  rateLimited: () => 7,
  panelUrl: (panel: string) => `https://${panel}.example.com`,
};

const statusOf = (panels: readonly PanelReadingChanges[], servers: readonly ServerReadingChanges[] = []) =>
  panelsStatus({
    ...FACTS,
    fleet: fleetReading(
      servers.map((server) => serverReading(server)),
      panels.map((panel) => panelReading(panel)),
    ),
  });
const down = (name: string): PanelReadingChanges => ({ name, up: false, problems: [UNREACHABLE] });
const titles = (...panels: readonly PanelReadingChanges[]) =>
  statusOf(panels).complaints.map(({ title }) => title);

describe('the complaints about panels and nodes', () => {
  it('are absent while all is well', () => expect(titles({})).toEqual([]));

  it('have a title, what to do, and what was seen', () => {
    expect(statusOf([down('main')]).complaints).toEqual([
      {
        severity: 'error',
        title: 'Panel main is down: unreachable',
        action: CAUSES.connection.remedy,
        detail: UNREACHABLE.detail,
      },
    ]);
  });

  it('are one for all panels or nodes with the same problem, and each panel keeps its own', () => {
    const { complaints, panels } = statusOf([down('a'), down('b')]);
    expect(complaints).toMatchObject([{ title: 'Panels a and b are down: unreachable', detail: '' }]);
    expect(panels.map((panel) => panel.complaints.map(({ title }) => title))).toEqual([
      ['Panel a is down: unreachable'],
      ['Panel b is down: unreachable'],
    ]);
    const nodes = ['n1', 'n2', 'n3', 'n4', 'n5'].map((name) => ({ name, up: false, problem: NODE }));
    expect(titles({ nodes })).toEqual(['Nodes n1, n2, n3 and 2 more are down: unreachable']);
  });

  it('show the most serious first, and the panel of a node if there are several', () => {
    const nodes = [
      { name: 'n1', up: false },
      { name: 'n2', up: true },
    ];
    expect(titles({ name: 'a', problems: [RATE_LIMITED], nodes }, down('b'))).toEqual([
      'Node n1 (a) is down',
      'Panel b is down: unreachable',
      `Panel a: ${CAUSES.rate_limited.title}`,
    ]);
  });

  it('show that a panel is down whose problem is unknown', () => {
    expect(titles({ up: false })).toEqual(['Panel main is down']);
  });
});

describe('a panel of whose servers most do not stream', () => {
  const origin = { condition: 'polling', problem: { cause: 'origin', detail: '403' } } as const;
  const complaints = (servers: readonly ServerReadingChanges[], changes: PanelReadingChanges = {}) =>
    statusOf([changes], servers).complaints.filter(({ title }) => title.includes('not streaming'));

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
    ['a node is down', [origin], { nodes: [{ name: 'n1', up: false }] }],
    ['the panel is down', [origin], { up: false }],
  ])('has none if %s', (_, servers, changes) => {
    expect(complaints(servers, changes)).toEqual([]);
  });

  it('counts servers that stream in spite of a problem', () => {
    const streaming = streamingReading({ problem: origin.problem });
    expect(panelsStatus({ ...FACTS, fleet: fleetReading([streaming, streaming]) }).complaints).toEqual([]);
  });
});

it('a panel has its budget and its address', () => {
  expect(statusOf([{ budget: { queueLength: 3, limitPerMinute: 191.6 } }]).panels).toMatchObject([
    {
      name: 'main',
      url: 'https://main.example.com',
      budget: { queueLength: 3, paused: false, limitPerMinute: 192 },
      rateLimited: 7,
    },
  ]);
});

describe('what a panel requires', () => {
  const needs = {
    requiredCallsPerMinute: 23.1,
    requiredSockets: 90,
    allowedSockets: Number.POSITIVE_INFINITY,
    polls: 10,
  };

  it.each([
    [{}, '90 servers to stream, 10 to poll: needs 24 API calls per minute.'],
    [
      { requiredCallsPerMinute: 1, requiredSockets: 1, polls: 0 },
      '1 server to stream, 0 to poll: needs 1 API call per minute.',
    ],
    [
      { requiredCallsPerMinute: 193, allowedSockets: 60 },
      '90 servers to stream, 10 to poll: needs 193 API calls per minute, 192 allowed; needs 90 console sockets, 60 allowed.',
    ],
    [
      { requiredCallsPerMinute: 192, allowedSockets: 90 },
      '90 servers to stream, 10 to poll: needs 192 API calls per minute.',
    ],
  ])('with %j, is shown with what is allowed only if that is less', (changes, expected) => {
    const panel = { budget: { limitPerMinute: 192 }, needs: { ...needs, ...changes } };
    expect(statusOf([panel]).panels[0]?.needs).toBe(expected);
  });
});

describe('a page without servers', () => {
  const listed = (isPending: boolean, succeededUnixMs?: number) => ({
    discovery: { isPending, succeededUnixMs, servers: 0, leftOut: 0, ambiguous: 0, failures: 0 },
  });
  const [pending, over, read] = [listed(true), listed(false), listed(false, 1)];
  const OFF = /^No servers to monitor\. List them under servers, or set discover: true\.$/;
  const READ = /rules of discover/;
  const PENDING = /waiting for the server list/;
  const FAILED = /could not be read/;

  it.each<[string, readonly PanelReadingChanges[], RegExp]>([
    ['without server lists', [{}], OFF],
    ['before the first response', [read, pending], PENDING],
    ['while the panel has a problem', [{ ...pending, problems: [UNREACHABLE] }], FAILED],
    ['after the wait for the server list', [{}, read, pending, over], FAILED],
    ['once a list was read', [{}, read], READ],
    ['once a list was read, if the panel went down', [{ ...read, problems: [UNREACHABLE] }], READ],
  ])('shows what to do: %s', (_when, panels, expected) => {
    expect(statusOf(panels).emptyBecause).toMatch(expected);
  });
});
