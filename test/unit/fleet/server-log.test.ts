import { beforeEach, describe, expect, it } from 'vitest';
import type { ServerEvent } from '../../../src/domain/log.ts';
import type { CauseCode } from '../../../src/domain/problem.ts';
import { EACH_CRASH, ServerLog } from '../../../src/fleet/server-log.ts';
import { collectingLogger } from '../../support/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';

let clock: ManualClock;
let log: ReturnType<typeof collectingLogger>;
let servers: ServerLog;

beforeEach(() => {
  clock = new ManualClock();
  log = collectingLogger();
  servers = new ServerLog('main', log, clock);
});

const visibleLines = () => log.lines.filter(({ level }) => level !== 'debug');
const messages = () => visibleLines().map(({ message }) => message);

interface Change {
  readonly count: number;
  readonly event: ServerEvent;
  readonly cause?: CauseCode;
  readonly level?: 'info' | 'warn';
}

/** Lines about this many servers, as written by sessions. */
function change({ count, event, cause, level = 'info' }: Change): void {
  for (let n = 1; n <= count; n += 1) {
    const server = `server-${n}`;
    const fields = { panel: 'main', server, server_id: `id-${n}`, node: 'fra-1', event, cause };
    servers[level](fields, `${server} ${event}`);
  }
}

describe('an event of a single server', () => {
  it('is logged immediately', async () => {
    for (const event of ['streaming', 'closed', 'streaming_again', 'closed'] as const) {
      change({ count: 1, event });
      expect(visibleLines().at(-1)).toMatchObject({ fields: { panel: 'main', server: 'server-1', event } });
      await clock.advance(60_000);
    }
    expect(visibleLines()).toHaveLength(4);
    expect(clock.pending).toBe(0);
  });

  it('that occurs twice in a minute is logged within ten seconds, unchanged', async () => {
    change({ count: 2, event: 'closed', cause: 'closed' });
    expect(messages()).toEqual(['server-1 closed']);
    await clock.advance(10_000);
    expect(messages()).toEqual(['server-1 closed', 'server-2 closed']);
    expect(visibleLines()[1]?.fields).toMatchObject({ server: 'server-2', cause: 'closed' });
  });

  it('of an unknown kind, or of no server, is passed through', () => {
    servers.info({ panel: 'main' }, 'panel main works again');
    servers.warn({ panel: 'main', server: 'survival' }, 'something else');
    servers.error({}, 'this');
    servers.debug({ server_id: '1', event: 'closed' }, 'that');
    expect(log.lines.map(({ level }) => level)).toEqual(['info', 'warn', 'error', 'debug']);
  });
});

describe('a server that is no longer observed', () => {
  it('is left out of what is logged later', async () => {
    change({ count: 3, event: 'failing', cause: 'closed', level: 'warn' });
    servers.forget('id-3');
    await clock.advance(60_000);
    expect(messages()).toEqual(['server-1 failing', 'server-2 failing']);
  });

  it('leaves nothing to log if no other event is held back', async () => {
    change({ count: 2, event: 'failing', cause: 'closed', level: 'warn' });
    servers.forget('id-2');
    await clock.advance(60_000);
    expect(messages()).toEqual(['server-1 failing']);
    expect(clock.pending).toBe(0);
    change({ count: 2, event: 'streaming' });
    await clock.advance(19_000);
    expect(messages().slice(1)).toEqual(['server-1 streaming']);
    await clock.advance(1_000);
    expect(messages().slice(2)).toEqual(['server-2 streaming']);
  });
});

describe('an event of many servers', () => {
  it('has one line for the first server, and one for the others', async () => {
    change({ count: 150, event: 'streaming' });
    expect(messages()).toEqual(['server-1 streaming']);
    await clock.advance(20_000);
    expect(visibleLines().slice(1)).toEqual([
      {
        level: 'info',
        fields: {
          panel: 'main',
          event: 'streaming',
          cause: undefined,
          node: 'fra-1',
          servers: 149,
          events: 149,
          first: ['server-2', 'server-3', 'server-4'],
        },
        message: '149 sockets open: server-2, server-3, server-4, …',
      },
    ]);
  });

  it('has four lines for an outage and its end, with the cause found meanwhile', async () => {
    change({ count: 150, event: 'closed', cause: 'closed' });
    await clock.advance(3_000);
    change({ count: 150, event: 'closed', cause: 'node_connection', level: 'warn' });
    await clock.advance(17_000);
    change({ count: 150, event: 'streaming_again' });
    await clock.advance(120_000);
    expect(visibleLines().map(({ level, message }) => `${level}: ${message}`)).toEqual([
      'info: server-1 closed',
      'warn: 150 sockets closed (node fra-1 unreachable); reconnecting: server-2, server-3, server-4, …',
      'info: server-1 streaming_again',
      'info: 149 sockets open again: server-2, server-3, server-4, …',
    ]);
  });

  it('is logged together with its end if that comes before the summary', async () => {
    change({ count: 150, event: 'closed', cause: 'closed' });
    await clock.advance(2_000);
    change({ count: 150, event: 'streaming_again' });
    await clock.advance(60_000);
    expect(messages().slice(2)).toEqual([
      '149 sockets closed (node fra-1); open again: server-2, server-3, server-4, …',
    ]);
  });

  it('has at most four lines a minute, however many events there are', async () => {
    for (let second = 0; second < 600; second += 1) {
      for (const event of ['closed', 'blocked', 'failing', 'streaming', 'fallback'] as const)
        change({ count: 10, event, cause: 'closed', level: 'warn' });
      await clock.advance(1_000);
    }
    expect(visibleLines().length).toBeLessThanOrEqual(40);
    expect(Math.max(...messages().map((message) => message.length))).toBeLessThan(500);
  });

  it('is still logged line by line at level debug', async () => {
    change({ count: 150, event: 'closed', cause: 'closed' });
    await clock.advance(60_000);
    expect(log.lines.filter(({ message }) => message.endsWith(' closed'))).toHaveLength(150);
  });

  it('is flushed once at the end', async () => {
    change({ count: 7, event: 'streaming' });
    servers.flush();
    servers.flush();
    await clock.advance(60_000);
    expect(messages().slice(1)).toEqual(['6 sockets open: server-2, server-3, server-4, …']);
    expect(clock.pending).toBe(0);
  });
});

describe('crashes', () => {
  it('are logged one by one, but 500 at once are summarized', async () => {
    servers = new ServerLog('main', log, clock, EACH_CRASH);
    change({ count: 500, event: 'crashed', level: 'warn' });
    expect(visibleLines()).toHaveLength(5);
    await clock.advance(10_000);
    expect(visibleLines().slice(5)).toMatchObject([
      { level: 'warn', message: '495 servers crashed: server-6, server-7, server-8, …' },
    ]);
  });
});
