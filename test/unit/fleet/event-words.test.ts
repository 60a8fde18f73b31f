import { describe, expect, it } from 'vitest';
import { SERVER_EVENTS } from '../../../src/domain/log.ts';
import type { EventGroup } from '../../../src/fleet/event-digest.ts';
import { EVENT_WORDS, summaryLine } from '../../../src/fleet/event-words.ts';

function group(changes: Partial<EventGroup>): EventGroup {
  return {
    level: 'info',
    event: 'streaming',
    end: undefined,
    cause: undefined,
    servers: 147,
    events: 147,
    names: ['survival', 'creative', 'lobby'],
    nodes: new Map(),
    ...changes,
  };
}

function summaryOf(...groups: readonly EventGroup[]) {
  const events = groups.reduce((sum, one) => sum + one.events, 0);
  return summaryLine('main', { type: 'groups', groups, events });
}

const FRA = new Map([['fra-1', 147]]);
const MANY = new Map(['fra-1', 'fra-2', 'fra-3', 'fra-4'].map((node) => [node, 30]));
const ONE = { servers: 1, names: ['survival'] };

describe('a summary', () => {
  it.each<[string, Partial<EventGroup>]>([
    ['147 sockets open: survival, creative, lobby, …', {}],
    [
      '2 sockets open again: survival, creative',
      { event: 'streaming_again', servers: 2, names: ['survival', 'creative'] },
    ],
    [
      '147 sockets closed (node fra-1 unreachable); reconnecting: survival, creative, lobby, …',
      { event: 'closed', cause: 'node_connection', nodes: FRA },
    ],
    [
      '147 sockets closed (node unreachable, 4 nodes: fra-1, fra-2, fra-3, …); reconnecting: survival, creative, lobby, …',
      { event: 'closed', cause: 'node_connection', nodes: MANY },
    ],
    [
      '147 sockets closed (node fra-1); reconnecting: survival, creative, lobby, …',
      { event: 'closed', cause: 'closed', nodes: FRA },
    ],
    [
      '147 sockets closed (4 nodes: fra-1, fra-2, fra-3, …); open again: survival, creative, lobby, …',
      { event: 'closed', cause: 'closed', nodes: MANY, end: 'streaming_again' },
    ],
    [
      '147 sockets closed (socket closed); reconnecting: survival, creative, lobby, …',
      { event: 'closed', cause: 'closed' },
    ],
    [
      "147 servers can't be observed (Origin rejected by the node, node fra-1); retrying: survival, creative, lobby, …",
      { event: 'failing', cause: 'origin', nodes: FRA },
    ],
    [
      '1 server was not observed (node fra-1 timed out); open again: survival',
      { event: 'failing', cause: 'node_timeout', nodes: FRA, end: 'streaming', ...ONE },
    ],
    [
      '1 server was polled (node fra-1 timed out); open again: survival',
      { event: 'fallback', cause: 'node_timeout', nodes: FRA, end: 'streaming_again', ...ONE },
    ],
    // Rejections of individual servers are not attributed to their node.
    [
      '147 servers blocked (suspended): survival, creative, lobby, …',
      { event: 'blocked', cause: 'suspended', nodes: FRA },
    ],
    ['147 servers crashed: survival, creative, lobby, …', { event: 'crashed', nodes: FRA }],
  ])('%s', (message, changes) => {
    expect(summaryOf(group(changes)).message).toBe(message);
  });

  it('combines several kinds in one line, with the level and fields of the first', () => {
    const kinds = [
      group({
        level: 'warn',
        event: 'closed',
        cause: 'node_connection',
        nodes: FRA,
        servers: 12,
        events: 24,
      }),
      group({ servers: 7, events: 7 }),
      group({ event: 'blocked', cause: 'suspended', servers: 2, events: 2, names: ['a', 'b'] }),
      group({ event: 'moved', servers: 1, events: 1 }),
      group({ event: 'polling', servers: 3, events: 3 }),
    ];
    expect(summaryOf(...kinds)).toEqual({
      level: 'warn',
      fields: {
        panel: 'main',
        event: 'closed',
        cause: 'node_connection',
        node: 'fra-1',
        servers: 25,
        events: 37,
        first: ['survival', 'creative', 'lobby'],
      },
      message:
        '12 sockets closed (node fra-1 unreachable); reconnecting: survival, creative, lobby, …; also ' +
        '7 sockets open: survival, creative, lobby, …; also 2 servers blocked (suspended): a, b; also 4 other events',
    });
  });

  it('has no node field if several nodes are affected', () => {
    expect(summaryOf(group({ event: 'closed', cause: 'closed', nodes: MANY })).fields).toMatchObject({
      node: undefined,
    });
  });

  it('has a text for every event', () => {
    expect(Object.keys(EVENT_WORDS).sort()).toEqual([...SERVER_EVENTS].sort());
  });
});
