import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Problem } from '../../../src/domain/problems.ts';
import type { ServerTarget } from '../../../src/domain/server.ts';
import type { FleetSettings, PanelFleet } from '../../../src/fleet/panel-fleet.ts';
import { PanelError } from '../../../src/panel/panel-error.ts';
import { POLL_CACHE_MS } from '../../../src/panel/responses.ts';
import { seededRandom } from '../../../src/simulator/random.ts';
import { FleetBench, named, SETTINGS, servers } from '../../support/fleet-bench.ts';

const MINUTE = 60_000;
const REFUSED = new PanelError({ cause: 'key_refused', detail: 'the API key is refused' }, { status: 401 });

let bench: FleetBench;
let clock: FleetBench['clock'];
let gateway: FleetBench['gateway'];
let sockets: FleetBench['sockets'];
let fleet: PanelFleet;

beforeEach(() => {
  bench = new FleetBench();
  ({ clock, gateway, sockets } = bench);
});

afterEach(async () => {
  await fleet.stop();
});

function start(targets: readonly ServerTarget[], settings: Partial<FleetSettings> = {}): void {
  fleet = bench.create(targets, settings);
  fleet.start();
}

const conditions = () => fleet.records.map(({ status }) => status.condition);
const streamed = () => bench.streamed();
const times = <T>(count: number, value: T) => Array.from({ length: count }, () => value);
const NEVER = (_: string, signal: AbortSignal) =>
  new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });

describe('a fleet', () => {
  it('starts its servers in random order, so that a crash loop does not always begin with the same ones', async () => {
    const random = seededRandom(1);
    const orders = new Set<string>();
    for (let restart = 0; restart < 20; restart += 1) {
      bench = new FleetBench();
      ({ clock, gateway, sockets } = bench);
      bench.random = random;
      start(servers(8));
      await clock.advance(1_000);
      orders.add(gateway.asked('credentials').slice(0, 2).join());
      await fleet.stop();
    }
    expect(orders.size).toBeGreaterThan(5);
  });

  it.each<[string, Partial<FleetSettings>, boolean]>([
    ['another poll interval', { pollIntervalMs: 45_000 }, false],
    ['other stalenesses', { stalenessMs: 90_000 }, false],
    ['backups', { backups: { intervalMs: MINUTE } }, true],
    ['schedules', { schedules: { intervalMs: MINUTE } }, true],
    ['a server list', { listing: { intervalMs: MINUTE } }, true],
    ['a server more', { servers: servers(3) }, true],
    ['a server that is polled', { servers: servers(2, { mode: 'poll' }) }, true],
  ])(
    'walks through all servers after a reload with %s only if they may be asked otherwise',
    (_what, changes, isNew) => {
      start(servers(2));
      const before = gateway.use;
      fleet.configure({ ...SETTINGS, servers: servers(2), ...changes });
      expect(gateway.use !== before).toBe(isNew);
    },
  );

  it('shows the panel which servers make which calls, and on which nodes they are', () => {
    start([
      named('a', { node: 'n1' }),
      named('b', { mode: 'poll', node: 'n1' }),
      named('c', { mode: 'socket' }),
      named('d', { blocked: 'suspended', node: 'n2' }),
    ]);
    const { listing, asked } = gateway.use ?? {};
    const { websocket, resources, backups } = asked ?? {};
    expect([listing, [...(backups ?? [])]]).toEqual(['none', []]);
    expect([...(websocket ?? [])].map(([id, { node }]) => [id, node])).toEqual([
      ['a', 'n1'],
      ['c', undefined],
    ]);
    expect([...(resources?.keys() ?? [])]).toEqual(['a', 'b']);
  });

  it('shows what its servers need in the reading', () => {
    start([...servers(2), named('c', { mode: 'poll' }), named('d', { blocked: 'suspended' })]);
    expect(fleet.reading()).toEqual({
      name: 'main',
      up: false,
      isJudging: false,
      problems: [],
      nodes: expect.any(Function) as unknown,
      capacities: expect.any(Function) as unknown,
      budget: { limitPerMinute: 60, isPinned: false, usedLastMinute: 0, queueLength: 0, paused: false },
      needs: {
        requiredCallsPerMinute: 2 / 8 + 2,
        requiredSockets: 2,
        allowedSockets: Number.POSITIVE_INFINITY,
        polls: 1,
      },
    });
    gateway.becomes('up');
    expect(fleet.reading().up).toBe(true);
  });

  it('keeps its sockets when the limit changes, and reports what a smaller one means', async () => {
    gateway.isPinned = true;
    start(servers(10));
    await clock.advance(1_000);
    gateway.allows(0.5);
    await clock.advance(MINUTE);
    expect(conditions()).toEqual(times(10, 'streaming'));
    expect(sockets).toHaveLength(10);
    expect(fleet.reading().problems).toMatchObject([{ cause: 'budget_too_small' }]);
    gateway.allows(48);
    expect(fleet.reading().problems).toEqual([]);
  });
});

describe('the servers of a node', () => {
  const SILENT: Problem = { cause: 'node_connection', detail: 'no connection to the node' };
  const ofNode = (node: string) =>
    fleet.records.filter(({ target }) => target.node === node).map(({ status }) => status.condition);

  beforeEach(async () => {
    start([
      ...['a', 'b', 'c'].map((id) => named(id, { node: 'n1' })),
      ...['d', 'e'].map((id) => named(id, { node: 'n2' })),
    ]);
    await clock.advance(1_000);
  });

  it('are polled after a single failure of their own, as soon as the panel has no older response, when its sockets turn out to fail', async () => {
    gateway.socketsFail('n1', SILENT);
    for (const socket of sockets) if (/[abc]$/.test(socket.url)) socket.drops();
    await clock.advance(POLL_CACHE_MS);
    expect(new Set(gateway.asked('resources'))).toEqual(new Set(['a', 'b', 'c']));
    expect(ofNode('n1')).toEqual(times(3, 'polling'));
    expect(ofNode('n2')).toEqual(times(2, 'streaming'));
    expect(fleet.records[0]?.status.problem).toEqual(SILENT);
    expect(fleet.reading().nodes(clock.now())).toEqual([
      { name: 'n1', up: true, problem: { ...SILENT, since: 0 } },
      { name: 'n2', up: true, problem: undefined },
    ]);
  });
});

describe('an event', () => {
  it('is shown to the sessions of a node that only their socket addresses reveal', async () => {
    start(servers(3));
    await clock.advance(1_000);
    expect(fleet.records.map(({ node }) => node)).toEqual(times(3, 'node'));
    const shown: (string | undefined)[] = [];
    gateway.problems.ofSockets = (node) => {
      shown.push(node);
      return undefined;
    };
    gateway.events.emit('changed', { of: 'subject', subject: 'sockets node' });
    gateway.events.emit('changed', { of: 'subject', subject: 'sockets other' });
    expect(shown).toEqual(times(3, 'node'));
  });

  it.each([
    ['with its cause or without data', 'no_console_permission', 'no_console_permission'],
    ['that are polled and show its cause as another one', 'not_found', 'daemon_unknown'],
  ] as const)(
    'of a server that works again is shown to those %s, and to no others',
    async (_who, cause, shownAs) => {
      const refused = new PanelError({ cause, detail: 'returned 403' });
      gateway.answerCredentials = (server) =>
        server === 'a'
          ? Promise.reject(refused)
          : Promise.resolve({
              token: 'token',
              socketUrl: `wss://node/${server}`,
              lifetimeMs: 600_000,
            });
      start(servers(3));
      await clock.advance(1_000);
      expect(fleet.records[0]?.status.problem?.cause).toBe(shownAs);
      const shown: string[] = [];
      gateway.mayConnect = (server) => {
        shown.push(server);
        return true;
      };
      gateway.events.emit('changed', { of: 'recovery', cause, node: undefined });
      expect(new Set(shown)).toEqual(new Set(['a']));
    },
  );

  it('that makes a server try is shown to it alone', async () => {
    start(servers(3));
    await clock.advance(1_000);
    const shown: string[] = [];
    gateway.mayConnect = (server) => {
      shown.push(server);
      return true;
    };
    gateway.events.emit('changed', { of: 'trial', server: 'b' });
    gateway.events.emit('changed', { of: 'trial', server: 'nobody' });
    expect(shown).toEqual(['b']);
  });
});

describe('stop', () => {
  const failing = () => Promise.reject(new PanelError({ cause: 'connection', detail: 'no response' }));

  it.each<[string, number, () => void]>([
    ['immediately after the start', 0, () => {}],
    ['while all stream', MINUTE, () => {}],
    [
      'while a node is waited for',
      5 * MINUTE,
      () => {
        gateway.socketsFail('n1', { cause: 'node_connection', detail: 'no connection' });
        gateway.answerResources = failing;
      },
    ],
    [
      'during hanging calls',
      MINUTE,
      () => {
        gateway.answerCredentials = NEVER;
        gateway.answerResources = NEVER;
      },
    ],
    [
      'while all fail',
      5 * MINUTE,
      () => {
        gateway.answerCredentials = failing;
        gateway.answerResources = failing;
      },
    ],
    [
      'while all are blocked',
      MINUTE,
      () => {
        gateway.answerCredentials = () => Promise.reject(REFUSED);
        gateway.answerResources = () => Promise.reject(REFUSED);
      },
    ],
  ])('%s leaves no timers, sockets or calls behind', async (_, afterMs, arrange) => {
    arrange();
    start(servers(10, { node: 'n1' }));
    if (afterMs > 0) await clock.advance(afterMs);
    await fleet.stop();
    const calls = gateway.calls.length;
    expect(clock.pending).toBe(0);
    expect(gateway.closed).toBe(true);
    expect(streamed()).toEqual([]);
    expect(sockets.every(({ ended }) => ended === 'closed')).toBe(true);
    expect(conditions()).toEqual(times(10, 'stopped'));
    await clock.advance(60 * MINUTE);
    expect(clock.pending).toBe(0);
    expect(gateway.calls).toHaveLength(calls);
  });

  it.each([0, 1])('waits for the last socket to close, after %i servers were removed', async (removed) => {
    start(servers(2));
    await clock.advance(1_000);
    const [first] = sockets;
    if (first === undefined) throw new Error('expected a socket');
    let close: () => void = () => {};
    first.close = () => new Promise((resolve) => (close = resolve));
    fleet.configure({ ...SETTINGS, servers: servers(2).slice(removed) });
    let stopped = false;
    const stopping = fleet.stop().then(() => (stopped = true));
    await clock.advance(1_000);
    expect(stopped).toBe(false);
    close();
    await stopping;
    expect(stopped).toBe(true);
  });

  it('is not undone by later events of the panel, new servers, or another way to it', async () => {
    start(servers(2));
    await clock.advance(1_000);
    await fleet.stop();
    gateway.allows(48);
    gateway.becomes('up');
    fleet.accessChanged(bench.access);
    fleet.configure({ ...SETTINGS, servers: servers(3) });
    await clock.advance(MINUTE);
    expect(streamed()).toEqual([]);
    expect(conditions().slice(0, 2)).toEqual(times(2, 'stopped'));
    expect(clock.pending).toBe(0);
  });
});
