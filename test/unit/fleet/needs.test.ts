import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BlockedReason, CollectionMode } from '../../../src/domain/server.ts';
import {
  budgetProblem,
  descriptorProblem,
  type Needs,
  needsOf,
  pollEveryMs,
} from '../../../src/fleet/needs.ts';

const NONE = { pollIntervalMs: 30_000, listingPerMinute: 0, listsPerMinute: 0 };
const server = (mode: CollectionMode, blocked?: BlockedReason) =>
  blocked === undefined ? { mode } : { mode, blocked };
const times = <T>(count: number, value: T) => Array.from({ length: count }, () => value);

describe('what servers need', () => {
  it.each([
    ['a socket renews its token every eight minutes', times(8, server('auto')), NONE, [8, 0, 1]],
    ['mode socket needs as much', times(8, server('socket')), NONE, [8, 0, 1]],
    ['a polled server needs a call per interval', times(3, server('poll')), NONE, [0, 3, 6]],
    ['a longer interval costs less', [server('poll')], { ...NONE, pollIntervalMs: 120_000 }, [0, 1, 0.5]],
    ['a server that the panel blocks needs nothing', [server('auto', 'suspended')], NONE, [0, 0, 0]],
    [
      'the server list and backups require calls, too',
      [],
      { ...NONE, listingPerMinute: 0.2, listsPerMinute: 1 },
      [0, 0, 1.2],
    ],
  ])('%s', (_, servers, wishes, [sockets, polls, callsPerMinute]) => {
    expect(needsOf(servers, wishes)).toEqual({ sockets, polls, callsPerMinute });
  });

  it('grows with every server', () => {
    const mode = fc.constantFrom<CollectionMode>('auto', 'socket', 'poll');
    const any = fc.oneof(
      mode.map((one) => server(one)),
      mode.map((one) => server(one, 'suspended')),
    );
    fc.assert(
      fc.property(fc.array(any), any, (servers, another) => {
        const [before, after] = [needsOf(servers, NONE), needsOf([...servers, another], NONE)];
        const added = after.sockets + after.polls - before.sockets - before.polls;
        expect(added).toBe('blocked' in another ? 0 : 1);
        expect(after.callsPerMinute - before.callsPerMinute > 0).toBe(added === 1);
      }),
    );
  });
});

const needs = (changes: Partial<Needs>): Needs => ({ sockets: 0, polls: 0, callsPerMinute: 0, ...changes });

describe('a rate', () => {
  it.each([
    [
      1,
      1.25,
      0.5,
      'the API budget',
      '1 server needs 1.25 API calls per minute, but the API budget allows 0.5',
    ],
    [
      900,
      112.52,
      48,
      'requests_per_minute',
      '900 servers need 112.5 API calls per minute, but requests_per_minute allows 48',
    ],
  ])(
    'that is too small for %i servers is a problem, with numbers',
    (servers, callsPerMinute, perMinute, source, text) => {
      expect(budgetProblem(needs({ callsPerMinute }), servers, { perMinute, source })).toEqual({
        cause: 'budget_too_small',
        detail: `${text}: sockets reconnect late and polls are delayed, so servers have gaps in their data`,
      });
    },
  );

  it('that just suffices is none', () => {
    expect(
      budgetProblem(needs({ callsPerMinute: 48 }), 384, { perMinute: 48, source: 'it' }),
    ).toBeUndefined();
  });
});

describe('file descriptors', () => {
  const limits = { descriptors: 256, requiredDescriptors: 1_200, part: 4 };

  it('that suffice for the required sockets are no problem', () => {
    expect(descriptorProblem(needs({ sockets: 4 }), limits)).toBeUndefined();
    const unlimited = { ...limits, part: Number.POSITIVE_INFINITY };
    expect(descriptorProblem(needs({ sockets: 4 }), unlimited)).toBeUndefined();
  });

  it.each([
    [5, '1 server has none'],
    [20, '16 servers have none'],
  ])('that leave %i servers without a socket are a problem that shows what to raise', (sockets, without) => {
    expect(descriptorProblem(needs({ sockets }), limits)).toEqual({
      cause: 'descriptors',
      detail: `the limit of 256 open files leaves room for 4 console sockets; ${without} and can only be polled; required limit: 1200`,
    });
  });
});

it.each([
  ['as configured if the rate carries that', 30_000, { perMinute: 192, polled: 50, streaming: 0 }, 30_000],
  ['as rare as 90 % of the rate carries', 30_000, { perMinute: 100, polled: 180, streaming: 0 }, 120_000],
  ['of what the tokens of sockets leave', 30_000, { perMinute: 100, polled: 90, streaming: 400 }, 120_000],
  ['late rather than never', 30_000, { perMinute: 100, polled: 20, streaming: 900 }, 120_000],
])('polls are %s', (_, configuredMs, rate, everyMs) => {
  expect(pollEveryMs(configuredMs, rate)).toBe(everyMs);
});
