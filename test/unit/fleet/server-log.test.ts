import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import type { CauseCode } from '../../../src/domain/problems.ts';
import { SERVER_EVENTS, type ServerEvent } from '../../../src/fleet/server-events.ts';
import { FULL_LINES, serverLog } from '../../../src/fleet/server-log.ts';
import { FleetBench, SETTINGS, servers as serversOf } from '../../support/fleet-bench.ts';
import { collectingLogger } from '../../support/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const MINUTE = 60_000;

let clock: ManualClock;
let log: ReturnType<typeof collectingLogger>;
let servers: ReturnType<typeof serverLog>;

beforeEach(() => {
  clock = new ManualClock();
  log = collectingLogger();
  servers = serverLog(log, clock);
});

const visibleLines = () => log.lines.filter(({ level }) => level !== 'debug');
const messages = () => visibleLines().map(({ message }) => message);

interface Kind {
  readonly event: ServerEvent;
  readonly cause?: CauseCode | undefined;
}

interface Change extends Kind {
  readonly count: number;
  readonly level?: 'info' | 'warn';
}

function add(kind: Kind, server: string, node: string | undefined, id = `id of ${server}`): void {
  servers.info({ panel: 'main', server, server_id: id, node, ...kind }, server);
}

/** Logs this many events, each about another server, as sessions do. */
function change({ count, event, cause, level = 'info' }: Change): void {
  for (let n = 1; n <= count; n += 1) {
    const server = `server-${n}`;
    const fields = { panel: 'main', server, server_id: `id-${n}`, node: 'fra-1', event, cause };
    servers[level](fields, `${server} ${event}`);
  }
}

/** The number of events in the lines. */
const reported = () =>
  visibleLines().reduce((sum, { fields }) => sum + ((fields as { events?: number }).events ?? 1), 0);

describe('an event', () => {
  it('of a single server is logged at once, unchanged, however often it recurs', async () => {
    for (const event of ['streaming', 'closed', 'streaming_again', 'closed'] as const) {
      change({ count: 1, event });
      expect(visibleLines().at(-1)).toMatchObject({ fields: { panel: 'main', server: 'server-1', event } });
      await clock.advance(20_000);
    }
    expect(visibleLines()).toHaveLength(4);
    await clock.advance(MINUTE);
    expect(visibleLines()).toHaveLength(4);
    expect(clock.pending).toBe(0);
  });

  it('of an unknown kind, or of no server, is passed through', () => {
    servers.info({ panel: 'main' }, 'panel main works again');
    servers.warn({ panel: 'main', server: 'survival' }, 'something else');
    servers.error({}, 'this');
    servers.debug({ server_id: '1', event: 'closed' }, 'that');
    expect(log.lines.map(({ level }) => level)).toEqual(['info', 'warn', 'error', 'debug']);
  });
});

describe('an event of many servers', () => {
  it('is logged in full for the first five, and a minute after the first with the number of the others', async () => {
    change({ count: 100, event: 'closed', cause: 'node_connection', level: 'warn' });
    await clock.advance(30_000);
    change({ count: 150, event: 'closed', cause: 'node_connection', level: 'warn' });
    expect(messages()).toEqual([1, 2, 3, 4, 5].map((n) => `server-${n} closed`));
    await clock.advance(30_000);
    expect(visibleLines().slice(FULL_LINES)).toEqual([
      {
        level: 'warn',
        fields: {
          panel: 'main',
          event: 'closed',
          cause: 'node_connection',
          node: 'fra-1',
          servers: 150,
          events: 245,
          first: ['server-6', 'server-7', 'server-8'],
        },
        message: `150 more servers can't be monitored, 245 times (server-6, server-7, server-8, …): ${CAUSES.node_connection.title} on fra-1; retrying`,
      },
    ]);
    expect(clock.pending).toBe(0);
  });

  it('is logged in full again after that minute', async () => {
    change({ count: 6, event: 'streaming' });
    await clock.advance(MINUTE);
    change({ count: 1, event: 'streaming' });
    expect(messages().slice(FULL_LINES)).toEqual(['1 more socket open (server-6)', 'server-1 streaming']);
  });

  it.each<[string, Change]>([
    ['kind', { count: 5, event: 'crashed', level: 'warn' }],
    ['cause', { count: 5, event: 'closed', cause: 'node_connection', level: 'warn' }],
    ['level', { count: 5, event: 'closed', cause: 'closed', level: 'warn' }],
  ])('does not hide events of another %s', (_what, other) => {
    change({ count: 500, event: 'closed', cause: 'closed' });
    change(other);
    expect(messages().slice(FULL_LINES)).toEqual([1, 2, 3, 4, 5].map((n) => `server-${n} ${other.event}`));
  });

  it('has at most six lines a minute for each kind, however many events there are', async () => {
    const kinds = ['closed', 'blocked', 'failing', 'streaming', 'fallback'] as const;
    for (let second = 0; second < 600; second += 1) {
      for (const event of kinds) change({ count: 10, event, cause: 'closed', level: 'warn' });
      await clock.advance(1_000);
    }
    expect(visibleLines().length).toBeLessThanOrEqual(10 * 6 * kinds.length);
    expect(Math.max(...messages().map((message) => message.length))).toBeLessThan(500);
  });

  it('is still logged line by line at level debug', async () => {
    change({ count: 150, event: 'closed', cause: 'closed' });
    await clock.advance(MINUTE);
    expect(log.lines.filter(({ message }) => message.endsWith(' closed'))).toHaveLength(150);
  });

  it.each<[string, Kind, number, (readonly string[])?, number?]>([
    ['1 more socket open (server-1)', { event: 'streaming' }, 1],
    ['2 more sockets open again (server-1, server-2)', { event: 'streaming_again' }, 2],
    ['147 more servers polled (server-1, server-2, server-3, …)', { event: 'polling' }, 147],
    [
      '147 more sockets closed (server-1, server-2, server-3, …) on fra-1; reconnecting',
      { event: 'closed', cause: 'closed' },
      147,
      ['fra-1'],
    ],
    [
      `147 more servers can't be monitored (server-1, server-2, server-3, …): ${CAUSES.node_connection.title} on fra-1, fra-2, fra-3, …; retrying`,
      { event: 'closed', cause: 'node_connection' },
      147,
      ['fra-1', 'fra-2', 'fra-3', 'fra-4'],
    ],
    [
      `1 more server can't be monitored (server-1): ${CAUSES.upgrade_error.title} on fra-1; retrying`,
      { event: 'closed', cause: 'upgrade_error' },
      1,
      ['fra-1'],
    ],
    [
      `1 more server can't be monitored (server-1): ${CAUSES.node_timeout.title}; retrying`,
      { event: 'failing', cause: 'node_timeout' },
      1,
    ],
    // Rejections of single servers aren't counted for their node.
    [
      `2 more servers blocked (server-1, server-2): ${CAUSES.suspended.title}`,
      { event: 'blocked', cause: 'suspended' },
      2,
      ['fra-1'],
    ],
    ['4 more servers crashed (server-1, server-2, server-3, …)', { event: 'crashed' }, 4, ['fra-1']],
    [
      `1 more server polled while its socket fails, 3 times (server-1): ${CAUSES.origin.title} on fra-1`,
      { event: 'fallback', cause: 'origin' },
      1,
      ['fra-1'],
      3,
    ],
  ])('after the first five is one line: %s', (message, kind, count, nodes = [], times = 1) => {
    for (let n = 1; n <= FULL_LINES; n += 1) add(kind, `full-${n}`, 'other');
    for (let time = 0; time < times; time += 1)
      for (let n = 1; n <= count; n += 1) add(kind, `server-${n}`, nodes[(n - 1) % nodes.length]);
    servers.flush();
    expect(messages().slice(FULL_LINES)).toEqual([message]);
  });

  it('has no node in that line if there are several', () => {
    for (const node of ['fra-1', 'fra-2', 'fra-3', 'fra-4', 'fra-1', 'fra-2', 'fra-3'])
      add({ event: 'closed' }, `lobby of ${node}`, node);
    servers.flush();
    expect(visibleLines().at(-1)?.fields).toMatchObject({ event: 'closed', node: undefined, events: 2 });
  });

  it('counts servers with the same name as different servers', () => {
    for (const id of ['1', '2', '3', '4', '5', 'a', 'b']) add({ event: 'closed' }, 'lobby', undefined, id);
    servers.flush();
    expect(messages().at(-1)).toBe('2 more sockets closed (lobby, lobby); reconnecting');
  });

  it('is counted once at the end', async () => {
    change({ count: 7, event: 'streaming' });
    servers.flush();
    servers.flush();
    await clock.advance(MINUTE);
    expect(messages().slice(FULL_LINES)).toEqual(['2 more sockets open (server-6, server-7)']);
    expect(clock.pending).toBe(0);
  });
});

it('no event is lost: each has a line, or is counted in one', async () => {
  const changes = fc.array(
    fc.record({
      afterMs: fc.integer({ min: 0, max: 20_000 }),
      count: fc.integer({ min: 1, max: 12 }),
      event: fc.constantFrom(...(Object.keys(SERVER_EVENTS) as ServerEvent[])),
      cause: fc.constantFrom(undefined, 'closed' as const, 'node_connection' as const, 'suspended' as const),
      level: fc.constantFrom('info' as const, 'warn' as const),
    }),
    { maxLength: 60 },
  );
  await fc.assert(
    fc.asyncProperty(changes, async (all) => {
      clock = new ManualClock();
      log = collectingLogger();
      servers = serverLog(log, clock);
      for (const { afterMs, ...one } of all) {
        await clock.advance(afterMs);
        change(one);
      }
      servers.flush();
      expect(reported()).toBe(all.reduce((sum, { count }) => sum + count, 0));
    }),
  );
});

it('a server that left is not reported later', async () => {
  const bench = new FleetBench();
  ({ log } = bench);
  bench.gateway.limitPerMinute = 1_000;
  bench.gateway.isPinned = true;
  const fleet = bench.create(serversOf(2));
  fleet.start();
  await bench.clock.advance(2 * MINUTE);
  for (const socket of bench.sockets) socket.drops();
  await bench.clock.advance(1_000);
  const before = messages().length;
  fleet.configure({ ...SETTINGS, servers: serversOf(2).slice(0, 1) });
  await bench.clock.advance(5 * MINUTE);
  const names = serversOf(2).map(({ name }) => name);
  const about = (name = '') =>
    messages()
      .slice(before)
      .filter((message) => message.includes(name));
  expect([about(names[0]).length, about(names[1])]).toEqual([1, []]);
  await fleet.stop();
});
