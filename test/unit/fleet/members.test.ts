import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SocketLimit } from '../../../src/app/socket-limit.ts';
import type { ServerTarget } from '../../../src/domain/server.ts';
import type { FleetSettings, PanelFleet } from '../../../src/fleet/panel-fleet.ts';
import { PanelError } from '../../../src/panel/panel-error.ts';
import { eventually } from '../../support/eventually.ts';
import {
  FakeSocket,
  FleetBench,
  named,
  SETTINGS,
  servers,
  socketsOpenedBy,
} from '../../support/fleet-bench.ts';
import { listed } from '../../support/listed.ts';

const MINUTE = 60_000;

let bench: FleetBench;
let clock: FleetBench['clock'];
let gateway: FleetBench['gateway'];
let fleet: PanelFleet;

beforeEach(() => {
  bench = new FleetBench();
  ({ clock, gateway } = bench);
});

afterEach(async () => {
  await fleet.stop();
});

async function start(targets: readonly ServerTarget[], settings: Partial<FleetSettings> = {}): Promise<void> {
  fleet = bench.create(targets, settings);
  fleet.start();
  await clock.advance(1_000);
}

const ids = () => fleet.records.map(({ target }) => target.id);
const conditions = () => fleet.records.map(({ status }) => status.condition);

describe('a new list of servers', () => {
  it('adds servers, and the others keep their records and sockets', async () => {
    await start(servers(2));
    const [a, b] = fleet.records;
    fleet.configure({ ...SETTINGS, servers: [named('a'), named('c'), named('b')] });
    await clock.advance(1_000);
    expect(ids()).toEqual(['a', 'c', 'b']);
    expect(fleet.records[0]).toBe(a);
    expect(fleet.records[2]).toBe(b);
    expect(new Set(bench.streamed())).toEqual(new Set(['a', 'b', 'c']));
    expect(bench.sockets).toHaveLength(3);
    expect(gateway.use?.asked.websocket.size).toBe(3);
    expect(fleet.reading().needs.requiredSockets).toBe(3);
  });

  it('removes servers: their sockets are closed, and no calls are made for them', async () => {
    await start(servers(3));
    fleet.configure({ ...SETTINGS, servers: [named('b')] });
    expect(ids()).toEqual(['b']);
    expect(bench.streamed()).toEqual(['b']);
    const before = gateway.calls.length;
    await clock.advance(30 * MINUTE);
    expect(gateway.calls.slice(before).filter((call) => !call.endsWith(' b'))).toEqual([]);
    expect(gateway.use?.asked.websocket.size).toBe(1);
  });

  it('can add lists of servers that are read, and leave them out again', async () => {
    await start(servers(2));
    const asked = (more: object) => {
      fleet.configure({ ...SETTINGS, servers: servers(2), ...more });
      return gateway.use?.asked.backups.size;
    };
    expect(asked({ backups: { intervalMs: MINUTE } })).toBe(2);
    for (const record of fleet.records) record.backups = { backups: 1, staleAt: clock.now() + MINUTE };
    expect(asked({})).toBe(0);
    expect(fleet.records.map(({ backups }) => backups)).toEqual([undefined, undefined]);
  });

  it('changes the description of a server without interrupting it', async () => {
    await start(servers(2));
    const [record] = fleet.records;
    const renamed = named('a', {
      name: 'creative',
      labels: { game: 'minecraft' },
      expect: 'any',
      limits: { memoryBytes: 7 },
      node: 'n1',
    });
    fleet.configure({ ...SETTINGS, servers: [renamed, named('b')] });
    await clock.advance(1_000);
    expect(fleet.records[0]).toBe(record);
    expect(record?.target).toBe(renamed);
    expect(bench.sockets).toHaveLength(2);
    expect(bench.streamed()).toEqual(['a', 'b']);
  });

  it('counts a server once if it is listed twice', async () => {
    await start(servers(1));
    fleet.configure({ ...SETTINGS, servers: [named('a'), named('a', { name: 'again' })] });
    expect(fleet.records.map(({ target: { name } }) => name)).toEqual(['server a']);
  });

  it('without changes leaves targets and list as they are', async () => {
    await start(servers(3));
    const { records } = fleet;
    const targets = records.map(({ target }) => target);
    const lines = bench.log.lines.length;
    fleet.configure({ ...SETTINGS, servers: servers(3) });
    expect(fleet.records).toBe(records);
    expect(fleet.records.map(({ target }) => target)).toEqual(targets);
    expect(fleet.records.every(({ target }, index) => target === targets[index])).toBe(true);
    expect(bench.log.lines).toHaveLength(lines);
  });

  it('can be empty, and can fill an empty fleet', async () => {
    await start([]);
    expect(gateway.calls).toEqual([]);
    fleet.configure({ ...SETTINGS, servers: servers(2) });
    await clock.advance(1_000);
    expect(conditions()).toEqual(['streaming', 'streaming']);
    fleet.configure({ ...SETTINGS, servers: [] });
    expect(bench.streamed()).toEqual([]);
    expect(fleet.records).toEqual([]);
  });

  it('can change the mode of a server', async () => {
    await start(servers(2));
    fleet.configure({ ...SETTINGS, servers: [named('a', { mode: 'poll' }), named('b', { mode: 'socket' })] });
    await clock.advance(MINUTE);
    expect(conditions()).toEqual(['polling', 'streaming']);
    expect(bench.streamed()).toEqual(['b']);
    fleet.configure({ ...SETTINGS, servers: servers(2) });
    await clock.advance(MINUTE);
    expect(conditions()).toEqual(['streaming', 'streaming']);
  });

  it('before the start replaces the initial list', async () => {
    fleet = bench.create(servers(1));
    fleet.configure({ ...SETTINGS, servers: servers(2) });
    fleet.start();
    await clock.advance(1_000);
    expect(bench.streamed()).toEqual(['a', 'b']);
  });
});

it('a server that the list shows as suspended is no longer polled, and the panel knows', async () => {
  let page = [listed(1), listed(2)];
  gateway.listing = () => Promise.resolve({ servers: page, totalPages: 1, badEntries: 0 });
  const configured = page.map(({ uuid }) => named(uuid, { uuid, mode: 'poll' }));
  await start(configured, { listing: { intervalMs: MINUTE } });
  expect(conditions()).toEqual(['polling', 'polling']);
  page = [listed(1, { blocked: 'suspended' }), listed(2)];
  await clock.advance(MINUTE);
  expect(conditions()).toEqual(['blocked', 'polling']);
  expect(gateway.use?.asked.resources.size).toBe(1);
});

it('a server list that shows the same again costs the panel no look at all servers but at their nodes', async () => {
  const page = [listed(1), listed(2)];
  gateway.listing = () => Promise.resolve({ servers: page, totalPages: 1, badEntries: 0 });
  const configured = page.map(({ uuid }) => named(uuid, { uuid }));
  await start(configured, { listing: { intervalMs: MINUTE } });
  const { use, nodesKept } = gateway;
  await clock.advance(3 * MINUTE);
  expect(gateway.use).toBe(use);
  expect(gateway.nodesKept).toBe(nodesKept + 3);
});

describe('changed settings', () => {
  it('apply to servers that are already monitored', async () => {
    await start([named('a'), named('b', { mode: 'poll' })]);
    await clock.advance(MINUTE);
    fleet.configure({
      ...SETTINGS,
      servers: fleet.records.map(({ target }) => target),
      pollIntervalMs: 5 * MINUTE,
      stalenessMs: 20 * MINUTE,
    });
    const before = gateway.asked('resources').length;
    await clock.advance(10 * MINUTE);
    expect(gateway.asked('resources').length - before).toBeLessThanOrEqual(3);
    expect(fleet.records.map(({ staleness }) => staleness.socket)).toEqual([20 * MINUTE, 20 * MINUTE]);
    expect(bench.sockets).toHaveLength(1);
  });
});

describe('another way to the panel', () => {
  const missing = () => Promise.reject(new PanelError({ cause: 'not_found', detail: 'no such server' }));

  it('is tried immediately for servers that failed on the old one, and keeps open sockets', async () => {
    const take = gateway.answerCredentials;
    gateway.answerCredentials = (server, signal) => (server === 'a' ? missing() : take(server, signal));
    gateway.answerResources = missing;
    await start(servers(2));
    gateway.answerCredentials = take;
    fleet.accessChanged();
    await clock.advance(1_000);
    expect(conditions()).toEqual(['streaming', 'streaming']);
    expect(bench.sockets).toHaveLength(2);
    expect(gateway.accessChanges).toBe(1);
  });

  it('is tried immediately for the token of a server that is polled because its token was refused', async () => {
    const take = gateway.answerCredentials;
    gateway.answerCredentials = (server, signal) => (server === 'a' ? missing() : take(server, signal));
    await start(servers(2));
    await clock.advance(10_000);
    expect(conditions()).toEqual(['polling', 'streaming']);
    gateway.answerCredentials = take;
    fleet.accessChanged();
    await clock.advance(1_000);
    expect(conditions()).toEqual(['streaming', 'streaming']);
    expect(bench.sockets).toHaveLength(2);
  });

  it('to the nodes opens every socket anew, with the token that it had', async () => {
    await start(servers(2));
    gateway.calls.length = 0;
    const others: FakeSocket[] = [];
    fleet.accessChanged(
      socketsOpenedBy((url, listener) => {
        const socket = new FakeSocket(url, listener);
        others.push(socket);
        return socket;
      }),
    );
    await clock.advance(1_000);
    expect(conditions()).toEqual(['streaming', 'streaming']);
    expect(bench.sockets.map(({ ended }) => ended)).toEqual(['closed', 'closed']);
    expect(others.map(({ ended }) => ended)).toEqual([undefined, undefined]);
    expect(gateway.calls).toEqual([]);
  });

  it('is tried with the tokens that wait for their node, and logs no further failure', async () => {
    await start(servers(2, { node: 'n1', mode: 'socket' }));
    const problem = { cause: 'origin', detail: 'Origin rejected' } as const;
    gateway.accessChanged = () => gateway.socketsFail('n1');
    gateway.socketsFail('n1', problem);
    for (const socket of bench.sockets) socket.drops();
    await clock.advance(1_000);
    expect(conditions()).toEqual(['failing', 'failing']);
    const failures = () => bench.log.lines.filter(({ level }) => level === 'warn').length;
    const before = failures();
    gateway.calls.length = 0;
    fleet.accessChanged(bench.access);
    await clock.advance(1_000);
    expect(conditions()).toEqual(['streaming', 'streaming']);
    expect(gateway.calls).toEqual([]);
    expect(failures()).toBe(before);
  });

  it('begins nothing before the start', async () => {
    fleet = bench.create(servers(2));
    fleet.accessChanged(bench.access);
    await clock.advance(MINUTE);
    expect(bench.sockets).toEqual([]);
  });
});

describe('few descriptors', () => {
  const SERVERS = 20;

  /** A limit with room for this many sockets of one panel. */
  function limitFor(sockets: number): SocketLimit {
    const one = new SocketLimit(100);
    one.require(0, () => undefined);
    return new SocketLimit(100 - one.sockets + sockets);
  }

  describe('a fleet with more servers than the process can open sockets', () => {
    let bench: FleetBench;
    let fleet: PanelFleet;

    beforeEach(() => {
      bench = new FleetBench();
      bench.gateway.limitPerMinute = 6_000;
      bench.socketLimit = limitFor(4);
      fleet = bench.create(servers(SERVERS));
    });

    it('streams the first servers of the list, however often a server is renamed or blocked', async () => {
      fleet.start();
      await bench.clock.advance(60_000);
      expect(bench.streamed()).toEqual(['a', 'b', 'c', 'd']);
      fleet.configure({ ...SETTINGS, servers: servers(SERVERS, { name: 'renamed' }) });
      await bench.clock.advance(60_000);
      expect(bench.sockets).toHaveLength(4);
      const [first, ...others] = servers(SERVERS);
      if (first === undefined) throw new Error('no server');
      fleet.configure({ ...SETTINGS, servers: [{ ...first, mode: 'poll' }, ...others] });
      await bench.clock.advance(60_000);
      expect(new Set(bench.streamed())).toEqual(new Set(['b', 'c', 'd', 'e']));
      expect(bench.sockets).toHaveLength(5);
    });

    it('gives every server its socket back when servers are removed', async () => {
      fleet.start();
      await bench.clock.advance(60_000);
      fleet.configure({ ...SETTINGS, servers: servers(SERVERS).slice(-4) });
      await bench.clock.advance(60_000);
      expect(new Set(bench.streamed())).toEqual(new Set(['q', 'r', 's', 't']));
      expect(fleet.reading().problems).toEqual([]);
    });
  });
});

describe('many servers', () => {
  const SERVERS = 1_000;
  const many = Array.from({ length: SERVERS }, (_, index) => named(String(10_000_000 + index)));

  function largeFleet(): { bench: FleetBench; fleet: PanelFleet } {
    const bench = new FleetBench();
    bench.gateway.limitPerMinute = 100_000;
    bench.gateway.isPinned = true;
    return { bench, fleet: bench.create(many) };
  }

  const conditions = ({ records }: PanelFleet) => records.map(({ status }) => status.condition);

  describe('a large fleet', () => {
    it('starts its sessions in batches', async () => {
      const { bench, fleet } = largeFleet();
      fleet.start();
      expect(bench.gateway.calls.length).toBeLessThan(200);
      expect(fleet.records).toHaveLength(SERVERS);
      await eventually(() => expect(bench.gateway.calls).toHaveLength(SERVERS));
      await bench.clock.advance(1_000);
      expect(new Set(conditions(fleet))).toEqual(new Set(['streaming']));
      await fleet.stop();
    });

    it('stopped during the start begins nothing more, and shows every server as stopped', async () => {
      const { bench, fleet } = largeFleet();
      fleet.start();
      const calls = bench.gateway.calls.length;
      await fleet.stop();
      await bench.clock.advance(1_000);
      expect(bench.gateway.calls).toHaveLength(calls);
      expect(bench.streamed()).toEqual([]);
      expect(bench.clock.pending).toBe(0);
      expect(new Set(conditions(fleet))).toEqual(new Set(['stopped']));
    });

    it('shows servers that have not been started as waiting, whatever the panel reports meanwhile', async () => {
      const { bench, fleet } = largeFleet();
      fleet.start();
      bench.gateway.becomes('up');
      expect(fleet.records.at(-1)?.status.condition).toBe('waiting');
      await fleet.stop();
    });

    it('applies a new list that arrives during the start', async () => {
      const { bench, fleet } = largeFleet();
      fleet.start();
      fleet.configure({ ...SETTINGS, servers: many.slice(0, 500) });
      const allStream = () => conditions(fleet).every((condition) => condition === 'streaming');
      while (!allStream()) await bench.clock.advance(10);
      expect(bench.streamed()).toHaveLength(500);
      await fleet.stop();
    });
  });
});

describe('a server list of thousands', () => {
  const configured = Array.from({ length: 1_200 }, (_, n) => named(listed(n).uuid, { uuid: listed(n).uuid }));
  let names: string;

  beforeEach(() => {
    names = 'first';
    gateway.listing = () => {
      // Blocked, so that nothing else happens to these servers.
      const entries = configured.map((_, n) => listed(n, { node: names, blocked: 'suspended' }));
      return Promise.resolve({ servers: entries, totalPages: 1, badEntries: 0 });
    };
  });

  const nodes = () => new Set(fleet.records.map(({ node }) => node));

  it('is followed in turns, the panel after the records and before the sessions', async () => {
    await start(configured, { listing: { intervalMs: MINUTE } });
    await eventually(() => expect(new Set(conditions())).toEqual(new Set(['blocked'])));
    names = 'second';
    let { use } = gateway;
    await clock.advance(MINUTE);
    await eventually(() => expect([...nodes()]).toEqual(['second']));
    await eventually(() => expect(gateway.use).not.toBe(use));
    ({ use } = gateway);
    await clock.advance(MINUTE);
    expect(gateway.use).toBe(use);
  });

  it('begins nothing if the fleet is stopped between two turns', async () => {
    fleet = bench.create(configured, { listing: { intervalMs: MINUTE } });
    fleet.start();
    await eventually(() => expect([...nodes()]).toEqual(['first']));
    await fleet.stop();
    await clock.advance(MINUTE);
    // Sessions that had already started are stopped.
    expect(conditions()).not.toContain('blocked');
    expect(gateway.asked('credentials')).toEqual([]);
  });
});
