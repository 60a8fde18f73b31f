import { describe, expect, it } from 'vitest';
import { SLICE } from '../../../../src/panel/health/last-outcomes.ts';
import { CHANNELS, pollsSubject, socketsSubject } from '../../../../src/panel/subjects.ts';
import {
  A,
  askedOf,
  B,
  failing,
  NOW,
  outcomeOf,
  type Row,
  ServersLedger,
} from '../../../support/panel-outcomes.ts';

function ledgerOf(rows: readonly Row[], servers: readonly string[] = [...A, ...B]): ServersLedger {
  const ledger = new ServersLedger();
  ledger.servers.setAsked(askedOf(servers));
  ledger.panelWorks(NOW);
  for (const row of rows) ledger.servers.record(row[0], row[1], outcomeOf(row));
  return ledger;
}

describe('a server’s last outcome', () => {
  const rows: readonly Row[] = [['resources', 'a1', 'works', 3]];

  it('is known per channel, until it is forgotten or the server is no longer asked', () => {
    const { servers } = ledgerOf(rows);
    expect(servers.last('resources', 'a1')).toMatchObject({ at: NOW - 3_000 });
    expect(servers.last('backups', 'a1')).toBeUndefined();
    servers.record('resources', 'a1', undefined);
    expect(servers.last('resources', 'a1')).toBeUndefined();
    servers.record('resources', 'a1', outcomeOf(['resources', 'a1', 'works']));
    servers.setAsked(askedOf(B));
    servers.setAsked(askedOf([...A, ...B]));
    expect(servers.last('resources', 'a1')).toBeUndefined();
  });

  it('of a server that isn’t asked is ignored', () => {
    const { servers } = ledgerOf([['resources', 'c1', 'works']]);
    expect(servers.last('resources', 'c1')).toBeUndefined();
    expect(servers.countAsked('resources')).toBe(A.length + B.length);
  });

  it.each<[string, readonly Row[], string]>([
    [
      'the later 5xx of its token',
      [
        ['sockets', 'a1', 'no_stats', 9],
        ['websocket', 'a1', 'panel_error', 5],
      ],
      'panel_error',
    ],
    [
      'its own, if that is later',
      [
        ['sockets', 'a1', 'no_stats', 5],
        ['websocket', 'a1', 'panel_error', 9],
      ],
      'no_stats',
    ],
    [
      'its own, if its token was refused',
      [
        ['sockets', 'a1', 'no_stats', 9],
        ['websocket', 'a1', 'unauthorized', 5],
      ],
      'no_stats',
    ],
  ])('on sockets is %s', (_what, outcomes, cause) => {
    expect(ledgerOf(outcomes).servers.lastSeen('sockets', 'a1')?.problem?.cause).toBe(cause);
  });

  it('on sockets is its stream for as long as it lasts', () => {
    const { servers } = ledgerOf([
      ['sockets', 'a1', 'streams', 9],
      ['websocket', 'a1', 'panel_error', 5],
    ]);
    expect(servers.lastSeen('sockets', 'a1')).toMatchObject({ streams: true });
  });
});

it('a server that moves counts for its new node', () => {
  const ledger = ledgerOf([]);
  const server = { node: 'a' };
  const asked = { ...askedOf([]), resources: new Map([['x1', server]]) };
  ledger.servers.setAsked(asked);
  ledger.servers.record('resources', 'x1', outcomeOf(['resources', 'x1', 'node_unreachable']));
  server.node = 'b';
  ledger.servers.nodeMayHaveChanged('x1');
  ledger.judge(NOW);
  expect([...ledger.outages.keys()]).toEqual([pollsSubject('b')]);
});

it('a socket that streams proves that its console was granted, unless no console is asked for', () => {
  const rows = [
    ...failing('websocket', 'a1 a2 a3 b1', 'no_console_permission'),
    ['sockets', 'b2', 'streams'] as const,
  ];
  const suspects = (ledger: ServersLedger) => {
    ledger.judge(NOW);
    return [...ledger.outages.keys()];
  };
  const servers = ['a1', 'a2', 'a3', 'b1', 'b2'];
  expect(suspects(ledgerOf(rows.slice(0, -1), servers.slice(0, -1)))).toContain('consoles');
  expect(suspects(ledgerOf(rows, servers))).not.toContain('consoles');
});

it('servers that are refused for a reason of their own try only their node', () => {
  const ledger = new ServersLedger();
  ledger.servers.setAsked(askedOf(['a1', 'a2']));
  for (const server of ['a1', 'a2'])
    ledger.servers.record('resources', server, outcomeOf(['resources', server, 'suspended']));
  expect([...ledger.servers.candidates('resources', undefined)]).toEqual([]);
  expect([...ledger.servers.candidates('resources', 'a')]).toHaveLength(2);
});

it('a failure in a larger outage says nothing about a server, but others try before it', () => {
  const ledger = ledgerOf([['resources', 'a1', 'works']]);
  const { servers } = ledger;
  for (const server of ['a1', 'a2', 'a3', 'b1', 'c1']) servers.failedInOutage('resources', server, NOW);
  ledger.judge(NOW);
  expect([servers.last('resources', 'a1')?.problem, servers.last('resources', 'a2')]).toEqual([
    undefined,
    undefined,
  ]);
  expect([...ledger.outages.keys()]).toEqual([]);
  expect([...servers.candidates('resources', 'a')][0]).toBe('a4');
  servers.failedInOutage('resources', 'a4', NOW + 1);
  expect([...servers.candidates('resources', undefined)][0]).toMatch(/^b[234]$/);
  servers.record('resources', 'a1', outcomeOf(['resources', 'a1', 'works']));
  expect([...servers.candidates('resources', 'a')][0]).toBe('a1');
});

describe('when all is forgotten', () => {
  it('sockets that stream stay, and nothing later goes', () => {
    const { servers } = ledgerOf([
      ['sockets', 'a1', 'streams', 9],
      ['resources', 'a1', 'works', 9],
      ['resources', 'a2', 'timeout', 9],
      ['resources', 'a3', 'timeout', 1],
    ]);
    Array.from(servers.forget(new Set(CHANNELS), NOW - 5_000));
    const left = ['a1', 'a2', 'a3'].map((server) => servers.last('resources', server) !== undefined);
    expect(left).toEqual([false, false, true]);
    expect(servers.last('sockets', 'a1')).toBeDefined();
  });

  it('pauses come after each slice of the fleet, and begins no outage meanwhile', () => {
    const names = Array.from({ length: 2 * SLICE }, (_, index) => `a${index}`);
    const rows = names.map(
      (name, index): Row => ['resources', name, index < SLICE / 2 ? 'works' : 'node_unreachable', 9],
    );
    const ledger = ledgerOf(rows, names);
    let pauses = 0;
    for (const _ of ledger.servers.forget(new Set(CHANNELS), NOW)) {
      pauses += 1;
      ledger.judge(NOW);
      expect(ledger.outages.size).toBe(0);
    }
    expect(pauses).toBe(4);
  });

  it('failures of a node’s sockets alone are forgotten for that node', () => {
    const rows = [
      ...failing('sockets', 'a1 a2 a3 b1 b2 b3', 'node_connection'),
      ['sockets', 'a4', 'works'] as const,
    ];
    const ledger = ledgerOf(rows);
    ledger.servers.forgetSocketFailures('a');
    const known = ['a1', 'a4', 'b1'].map((server) => ledger.servers.last('sockets', server) !== undefined);
    expect(known).toEqual([false, true, true]);
    ledger.judge(NOW);
    expect([...ledger.outages.keys()]).not.toContain(socketsSubject('a'));
  });
});
