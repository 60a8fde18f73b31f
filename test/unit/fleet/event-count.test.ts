import { describe, expect, it } from 'vitest';
import { SERVER_EVENTS, type ServerEvent } from '../../../src/domain/log.ts';
import type { CauseCode } from '../../../src/domain/problem.ts';
import { EVENT_WORDS, EventCount, FULL_LINES } from '../../../src/fleet/server-log.ts';

interface Kind {
  readonly event: ServerEvent;
  readonly cause?: CauseCode;
}

/** Events of as many servers, on these nodes in turn, after the ones that were logged in full. */
function countOf(kind: Kind, servers: number, nodes: readonly string[] = [], times = 1): EventCount {
  const count = new EventCount({ panel: 'main', ...kind });
  const add = (server: string, node: string | undefined) =>
    count.add({ panel: 'main', server, server_id: `id of ${server}`, node, event: kind.event });
  for (let n = 1; n <= FULL_LINES; n += 1) expect(add(`full-${n}`, 'other')).toBe(true);
  for (let time = 0; time < times; time += 1)
    for (let n = 1; n <= servers; n += 1)
      expect(add(`server-${n}`, nodes[(n - 1) % nodes.length])).toBe(false);
  return count;
}

const MANY = ['fra-1', 'fra-2', 'fra-3', 'fra-4'];

describe('the events of a kind', () => {
  it('are logged in full while they are few', () => {
    expect(countOf({ event: 'streaming' }, 0).line()).toBeUndefined();
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
      '147 more sockets closed (server-1, server-2, server-3, …): node unreachable on fra-1, fra-2, fra-3, …; reconnecting',
      { event: 'closed', cause: 'node_connection' },
      147,
      MANY,
    ],
    [
      '1 more socket closed (server-1): socket upgrade failed (5xx) on fra-1; reconnecting',
      { event: 'closed', cause: 'upgrade_error' },
      1,
      ['fra-1'],
    ],
    [
      "1 more server can't be monitored (server-1): node timed out; retrying",
      { event: 'failing', cause: 'node_timeout' },
      1,
    ],
    // Rejections of individual servers are not attributed to their node.
    [
      '2 more servers blocked (server-1, server-2): server suspended',
      { event: 'blocked', cause: 'suspended' },
      2,
      ['fra-1'],
    ],
    ['4 more servers crashed (server-1, server-2, server-3, …)', { event: 'crashed' }, 4, ['fra-1']],
    [
      '1 more server polled while its socket fails, 3 times (server-1): Origin rejected by the node on fra-1',
      { event: 'fallback', cause: 'origin' },
      1,
      ['fra-1'],
      3,
    ],
  ])('that follow are one line: %s', (message, kind, servers, nodes, times) => {
    expect(countOf(kind, servers, nodes, times).line()?.message).toBe(message);
  });

  it('are counted with their servers, and with their node if there is only one', () => {
    const kind = { event: 'closed', cause: 'node_connection' } as const;
    const first = ['server-1', 'server-2', 'server-3'];
    const fields = { panel: 'main', ...kind, servers: 4, events: 8, first };
    expect(countOf(kind, 4, ['fra-1'], 2).line()?.fields).toEqual({ ...fields, node: 'fra-1' });
    expect(countOf(kind, 4, MANY, 2).line()?.fields).toEqual({ ...fields, node: undefined });
  });

  it('of servers with the same name are those of different servers', () => {
    const count = countOf({ event: 'closed' }, 0);
    for (const id of ['a', 'b'])
      count.add({ panel: 'main', server: 'lobby', server_id: id, event: 'closed' });
    expect(count.line()?.message).toBe('2 more sockets closed (lobby, lobby); reconnecting');
  });

  it('have words, whatever the kind', () => {
    expect(Object.keys(EVENT_WORDS).sort()).toEqual([...SERVER_EVENTS].sort());
  });
});
