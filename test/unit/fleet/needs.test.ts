import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BlockedReason, CollectionMode } from '../../../src/domain/server.ts';
import { budgetProblem, countNeeds, descriptorProblem, type Needs } from '../../../src/fleet/needs.ts';

const server = (mode: CollectionMode, blocked?: BlockedReason) =>
  blocked === undefined ? { mode } : { mode, blocked };
const times = <T>(count: number, value: T) => Array.from({ length: count }, () => value);

describe('what servers need', () => {
  it.each([
    ['a socket renews its token every eight minutes', times(8, server('auto')), 30_000, 0, [8, 0, 1]],
    ['mode socket needs as much', times(8, server('socket')), 30_000, 0, [8, 0, 1]],
    ['a polled server needs a call per interval', times(3, server('poll')), 30_000, 0, [0, 3, 6]],
    ['a longer interval costs less', [server('poll')], 120_000, 0, [0, 1, 0.5]],
    ['a server that the panel blocks needs nothing', [server('auto', 'suspended')], 30_000, 0, [0, 0, 0]],
    ['the server list and backups require calls, too', [], 30_000, 1.2, [0, 0, 1.2]],
  ])('%s', (_, servers, pollIntervalMs, listsPerMinute, [requiredSockets, polls, requiredCallsPerMinute]) => {
    const needed = { servers: servers.length, requiredSockets, polls, requiredCallsPerMinute };
    expect(countNeeds(servers, pollIntervalMs, listsPerMinute)).toEqual(needed);
  });

  it('a list of all of a node is read again after ten seconds, so that many servers cost no more', () => {
    const ofNode = (count: number, nodeId?: string) => times(count, { ...server('poll'), nodeId });
    const callsOf = (servers: ReturnType<typeof ofNode>, isByNode = true) =>
      countNeeds(servers, 30_000, 0, isByNode).requiredCallsPerMinute;
    expect(callsOf(ofNode(2, 'a'))).toBe(4);
    expect(callsOf(ofNode(3, 'a'))).toBe(6);
    expect(callsOf(ofNode(1_000, 'a'))).toBe(6);
    expect(callsOf([...ofNode(500, 'a'), ...ofNode(500, 'b')])).toBe(12);
    expect(callsOf(ofNode(10))).toBe(20);
    expect(callsOf(ofNode(10, 'a'), false)).toBe(20);
  });

  it('grows with every server', () => {
    const mode = fc.constantFrom<CollectionMode>('auto', 'socket', 'poll');
    const any = fc.oneof(
      mode.map((one) => server(one)),
      mode.map((one) => server(one, 'suspended')),
    );
    fc.assert(
      fc.property(fc.array(any), any, (servers, another) => {
        const [before, after] = [
          countNeeds(servers, 30_000, 0),
          countNeeds([...servers, another], 30_000, 0),
        ];
        const added = after.requiredSockets + after.polls - before.requiredSockets - before.polls;
        expect(added).toBe('blocked' in another ? 0 : 1);
        expect(after.requiredCallsPerMinute > before.requiredCallsPerMinute).toBe(added === 1);
      }),
    );
  });
});

const needs = (changes: Partial<Needs>): Needs => ({
  servers: 1,
  requiredSockets: 0,
  polls: 0,
  requiredCallsPerMinute: 0,
  ...changes,
});

describe('a rate', () => {
  it.each([
    [1, 1.25, 0.5, false, '1 server needs 1.25 API calls per minute, but the API budget allows 0.5'],
    [
      900,
      112.52,
      48,
      true,
      '900 servers need 112.5 API calls per minute, but `requests_per_minute` allows 48',
    ],
  ])(
    'that is too small for %i servers is a problem, with numbers',
    (servers, requiredCallsPerMinute, limitPerMinute, isPinned, text) => {
      const needed = needs({ servers, requiredCallsPerMinute });
      expect(budgetProblem(needed, { limitPerMinute, isPinned })).toEqual({
        cause: 'budget_too_small',
        detail: `${text}: sockets reconnect late and polls are delayed, so servers have gaps in their data`,
      });
    },
  );

  it('that just suffices is none', () => {
    const needed = needs({ requiredCallsPerMinute: 48 });
    expect(budgetProblem(needed, { limitPerMinute: 48, isPinned: true })).toBeUndefined();
  });
});

describe('file descriptors', () => {
  const limits = { descriptors: 256, requiredDescriptors: 1_200, part: 4 };

  it('that suffice for the required sockets are no problem', () => {
    expect(descriptorProblem(needs({ requiredSockets: 4 }), limits)).toBeUndefined();
    const unlimited = { ...limits, part: Number.POSITIVE_INFINITY };
    expect(descriptorProblem(needs({ requiredSockets: 4 }), unlimited)).toBeUndefined();
  });

  it.each([
    [5, '1 server has none'],
    [20, '16 servers have none'],
  ])('that leave %i servers without a socket are a problem that shows what to raise', (sockets, without) => {
    expect(descriptorProblem(needs({ requiredSockets: sockets }), limits)).toEqual({
      cause: 'descriptors',
      detail: `the limit of 256 open files leaves room for 4 console sockets; ${without} and can only be polled; required limit: 1200`,
    });
  });
});
