import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SERVER_EVENTS, type ServerEvent } from '../../../src/domain/log.ts';
import type { CauseCode } from '../../../src/domain/problem.ts';
import { type DigestPolicy, EventDigest, type EventLine } from '../../../src/fleet/event-digest.ts';
import { EACH_CRASH, FIRST_OF_A_KIND } from '../../../src/fleet/server-log.ts';

const MINUTE = 60_000;
const CAUSES: readonly (CauseCode | undefined)[] = [
  undefined,
  'closed',
  'node_connection',
  'suspended',
  'no_stats',
];

function lineOf(server: number, event: ServerEvent, cause?: CauseCode, node?: string): EventLine {
  const level = cause === undefined || cause === 'closed' || cause === 'suspended' ? 'info' : 'warn';
  const fields = { panel: 'main', server: `s${server}`, server_id: `id${server}`, event, cause, node };
  return { level, fields, message: `s${server} ${event}` };
}

/** A written line, with the number of events it stands for. */
interface Written {
  readonly at: number;
  readonly events: number;
  readonly isSummary: boolean;
}

interface TimedEvent {
  readonly afterMs: number;
  readonly line: EventLine;
}

/** Passes events through a digest, takes its summaries when they are due, and the last one at the end. */
function play(timedEvents: readonly TimedEvent[], policy: DigestPolicy): readonly Written[] {
  const digest = new EventDigest(policy);
  const written: Written[] = [];
  const take = (at: number) => {
    const taken = digest.take(at);
    if (taken === undefined) return;
    written.push({
      at,
      events: taken.type === 'line' ? 1 : taken.events,
      isSummary: taken.type === 'groups',
    });
    if (taken.type === 'line') return;
    expect(taken.groups.reduce((sum, { events }) => sum + events, 0)).toBe(taken.events);
    for (const { servers, events, names, nodes } of taken.groups) {
      expect(events).toBeGreaterThanOrEqual(servers);
      expect(names).toHaveLength(Math.min(3, servers));
      expect([...nodes.values()].reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(servers);
    }
  };
  let now = 0;
  for (const { afterMs, line } of timedEvents) {
    const next = now + afterMs;
    for (let due = digest.dueAt; due !== undefined && due <= next; due = digest.dueAt)
      take(Math.max(due, now));
    now = next;
    if (digest.add(line, now)) written.push({ at: now, events: 1, isSummary: false });
    else expect(digest.dueAt).toBeDefined();
  }
  if (digest.dueAt !== undefined) take(digest.dueAt);
  expect(digest.dueAt).toBeUndefined();
  expect(digest.take(now)).toBeUndefined();
  return written;
}

const timedEvents = (maxMs: number) =>
  fc.array(
    fc
      .record({
        afterMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: maxMs })),
        server: fc.integer({ min: 0, max: 30 }),
        event: fc.constantFrom(...SERVER_EVENTS),
        cause: fc.constantFrom(...CAUSES),
        node: fc.constantFrom(undefined, 'fra-1', 'fra-2'),
      })
      .map(({ afterMs, server, event, cause, node }) => ({
        afterMs,
        line: lineOf(server, event, cause, node),
      })),
    { maxLength: 300 },
  );

const POLICIES = [
  ['the first event of a kind', FIRST_OF_A_KIND],
  ['each crash', EACH_CRASH],
] as const;

describe.each(POLICIES)('for any events, if %s is logged immediately', (_name, policy) => {
  it('no event is lost: each is a line, or counted in a summary', () => {
    fc.assert(
      fc.property(timedEvents(20_000), (all) => {
        const written = play(all, policy);
        expect(written.reduce((sum, { events }) => sum + events, 0)).toBe(all.length);
      }),
    );
  });

  it('the number of lines per minute is limited', () => {
    fc.assert(
      fc.property(timedEvents(3_000), (all) => {
        const written = play(all, policy);
        for (const { at } of written) {
          const minute = written.filter((other) => other.at >= at && other.at < at + MINUTE);
          // A summary follows the previous one after a minute.
          expect(minute.length).toBeLessThanOrEqual(policy.atOnce + 1);
        }
      }),
    );
  });

  it('the first event is logged immediately, and so is an isolated one', () => {
    fc.assert(
      fc.property(timedEvents(5_000), fc.integer({ min: 0, max: 30 }), (all, server) => {
        const quiet = { afterMs: 10 * MINUTE, line: lineOf(server, 'closed', 'closed') };
        const written = play([...all, quiet], policy);
        const at = [...all, quiet].reduce((sum, { afterMs }) => sum + afterMs, 0);
        expect(written.at(-1)).toEqual({ at, events: 1, isSummary: false });
        if (all.length > 0) expect(written[0]).toEqual({ at: all[0]?.afterMs, events: 1, isSummary: false });
      }),
    );
  });
});

describe('events', () => {
  const digestOf = (lines: readonly EventLine[], policy = FIRST_OF_A_KIND) => {
    const digest = new EventDigest(policy);
    return { digest, atOnce: lines.map((line) => digest.add(line, 0)) };
  };

  it('of a different kind or cause are logged immediately while they are few', () => {
    const { atOnce } = digestOf([
      lineOf(1, 'closed', 'closed'),
      lineOf(2, 'closed', 'closed'),
      lineOf(2, 'closed', 'node_connection'),
      lineOf(3, 'blocked', 'suspended'),
      lineOf(4, 'streaming'),
    ]);
    expect(atOnce).toEqual([true, false, true, true, false]);
  });

  it('that follow for the same servers are summarized, but their first recovery is logged immediately', () => {
    const { digest, atOnce } = digestOf([1, 2, 3, 4, 5].map((server) => lineOf(server, 'closed', 'closed')));
    expect(atOnce).toEqual([true, false, false, false, false]);
    expect(digest.add(lineOf(1, 'closed', 'node_connection'), 3_000)).toBe(false);
    expect(digest.add(lineOf(2, 'fallback', 'node_connection'), 3_000)).toBe(false);
    expect(digest.add(lineOf(6, 'closed', 'node_connection'), 3_000)).toBe(false);
    expect(digest.add(lineOf(7, 'failing', 'no_stats'), 3_000)).toBe(true);
    expect(digest.add(lineOf(1, 'streaming_again'), 4_000)).toBe(true);
    expect(digest.add(lineOf(2, 'streaming_again'), 4_000)).toBe(false);
  });

  it('of servers whose panel has just recovered are only summarized', () => {
    const { digest } = digestOf([]);
    digest.recoveryLogged(0);
    expect(digest.add(lineOf(1, 'streaming_again'), 1_000)).toBe(false);
    expect(digest.add(lineOf(1, 'closed', 'closed'), 1_000)).toBe(true);
  });

  it.each([
    ['problems are summarized within ten seconds', 'closed', 'closed', 10_000],
    ['facts are summarized within two minutes', 'blocked', 'suspended', 120_000],
    ['news is summarized within two minutes', 'streaming', undefined, 120_000],
  ] as const)('%s while more events arrive', (_what, event, cause, dueMs) => {
    const { digest } = digestOf([lineOf(0, event, cause)]);
    for (let server = 1; server <= 300; server += 1) digest.add(lineOf(server, event, cause), server * 600);
    expect(digest.dueAt).toBe(600 + dueMs);
  });

  it('are summarized after the last one: problems after five seconds, news after twenty', () => {
    const { digest } = digestOf([0, 1, 2].map((server) => lineOf(server, 'streaming')));
    expect(digest.dueAt).toBe(20_000);
    digest.add(lineOf(3, 'streaming'), 4_000);
    expect(digest.dueAt).toBe(24_000);
    digest.add(lineOf(4, 'closed', 'closed'), 4_000);
    digest.add(lineOf(5, 'closed', 'closed'), 4_000);
    expect(digest.dueAt).toBe(9_000);
  });

  it('of recovery wait for the servers that have not recovered yet', () => {
    const { digest } = digestOf([0, 1, 2].map((server) => lineOf(server, 'closed', 'closed')));
    digest.take(5_000);
    digest.add(lineOf(0, 'streaming_again'), 70_000);
    digest.add(lineOf(1, 'streaming_again'), 70_000);
    expect(digest.dueAt).toBe(70_000 + 60_000);
    digest.add(lineOf(2, 'streaming_again'), 75_000);
    expect(digest.dueAt).toBe(75_000 + 20_000);
  });

  it('that continue are summarized once a minute, and good news less often', () => {
    const { digest } = digestOf([lineOf(0, 'streaming'), lineOf(1, 'streaming')]);
    digest.take(10_000);
    digest.add(lineOf(2, 'streaming'), 11_000);
    expect(digest.dueAt).toBe(70_000);
    for (let server = 3; server < 200; server += 1) digest.add(lineOf(server, 'streaming'), server * 4_000);
    expect(digest.dueAt).toBe(11_000 + 600_000);
  });

  it('are grouped by kind and cause, with their nodes, and by whether they ended before the summary', () => {
    const { digest } = digestOf([lineOf(0, 'closed', 'closed', 'fra-1')]);
    for (let server = 1; server <= 9; server += 1)
      digest.add(lineOf(server, 'closed', 'closed', server > 6 ? 'fra-2' : 'fra-1'), 0);
    for (const server of [1, 2, 3, 4, 9])
      digest.add(lineOf(server, 'closed', 'node_connection', 'fra-1'), 1_000);
    for (const server of [5, 6, 9]) digest.add(lineOf(server, 'streaming_again', undefined, 'fra-1'), 2_000);
    digest.add(lineOf(0, 'streaming_again', undefined, 'fra-1'), 2_000);
    const taken = digest.take(10_000);
    expect(taken).toMatchObject({ type: 'groups', events: 9 + 5 + 3 });
    expect(taken?.type === 'groups' && taken.groups).toEqual([
      {
        level: 'warn',
        event: 'closed',
        end: undefined,
        cause: 'node_connection',
        servers: 4,
        events: 8,
        names: ['s1', 's2', 's3'],
        nodes: new Map([['fra-1', 4]]),
      },
      {
        level: 'warn',
        event: 'closed',
        end: 'streaming_again',
        cause: 'node_connection',
        servers: 1,
        events: 3,
        names: ['s9'],
        nodes: new Map([['fra-1', 1]]),
      },
      expect.objectContaining({ end: 'streaming_again', cause: 'closed', servers: 2, events: 3 }),
      expect.objectContaining({ end: undefined, cause: 'closed', servers: 2, names: ['s7', 's8'] }),
      expect.objectContaining({ event: 'streaming_again', end: undefined, cause: undefined, servers: 1 }),
    ]);
  });
});
