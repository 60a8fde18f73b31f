import { describe, expect, it } from 'vitest';
import { readStatus, UNREACHABLE } from '../../../support/panels-status.ts';
import type { PanelReadingChanges } from '../../../support/readings.ts';

it('a panel has its budget and its address', () => {
  expect(readStatus([{ budget: { queueLength: 3, limitPerMinute: 191.6 } }]).panels).toMatchObject([
    {
      name: 'main',
      url: 'https://main.example.com',
      budget: { queueLength: 3, paused: false, limitPerMinute: 192 },
      rateLimited: 7,
    },
  ]);
});

describe('what a panel requires', () => {
  const needs = {
    requiredCallsPerMinute: 23.1,
    requiredSockets: 90,
    allowedSockets: Number.POSITIVE_INFINITY,
    polls: 10,
  };

  it.each([
    [{}, 'Streams 90 servers, polls 10. Needs 24 API calls per minute.'],
    [
      { requiredCallsPerMinute: 1, requiredSockets: 1, polls: 0 },
      'Streams 1 server, polls 0. Needs 1 API call per minute.',
    ],
    [
      { requiredCallsPerMinute: 193, allowedSockets: 60 },
      'Streams 90 servers, polls 10. Needs 193 API calls per minute, 192 allowed and 90 console sockets, 60 allowed.',
    ],
    [
      { requiredCallsPerMinute: 192, allowedSockets: 90 },
      'Streams 90 servers, polls 10. Needs 192 API calls per minute.',
    ],
  ])('with %j, is shown with what is allowed only if that is less', (changes, expected) => {
    const panel = { budget: { limitPerMinute: 192 }, needs: { ...needs, ...changes } };
    expect(readStatus([panel]).panels[0]?.needs).toBe(expected);
  });
});

describe('a page without servers', () => {
  const listed = (isPending: boolean, succeededUnixMs?: number) => ({
    discovery: { isPending, succeededUnixMs, servers: 0, leftOut: 0, ambiguous: 0, failures: 0 },
  });
  const [pending, over, read] = [listed(true), listed(false), listed(false, 1)];
  const OFF = /^No servers to monitor\. List them under `servers`, or set `discover: true`\.$/;
  const READ = /rules of `discover`/;
  const PENDING = /waiting for the server list/;
  const FAILED = /could not be read/;

  it.each<[string, readonly PanelReadingChanges[], RegExp]>([
    ['without server lists', [{}], OFF],
    ['before the first response', [read, pending], PENDING],
    ['while the panel has a problem', [{ ...pending, problems: [UNREACHABLE] }], FAILED],
    ['after the wait for the server list', [{}, read, pending, over], FAILED],
    ['once a list was read', [{}, read], READ],
    ['once a list was read, if the panel went down', [{ ...read, problems: [UNREACHABLE] }], READ],
  ])('shows what to do: %s', (_when, panels, expected) => {
    expect(readStatus(panels).emptyBecause).toMatch(expected);
  });
});
