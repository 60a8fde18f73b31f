import { describe, expect, it } from 'vitest';
import { NO_SIGNS, socketSigns } from '../../../src/diagnosis/signs.ts';
import type { Problem } from '../../../src/domain/problems.ts';
import { attemptOutcome, type SocketAttempt } from '../../../src/panel/socket-attempt.ts';

const ofNode: Problem = { cause: 'node_connection', detail: 'refused' };
const ofServer: Problem = { cause: 'token_wrong_server', detail: 'wrong server' };

const attempt = (end: SocketAttempt['end']): SocketAttempt => ({ startedAt: 7, end, url: 'wss://node/ws' });
const CURRENT = false;
const OUTDATED = true;

describe('an attempt', () => {
  it('that streams proves that the node works, at any address', () => {
    const proof = { startedAt: 7, problem: undefined, signs: socketSigns(undefined), streams: true };
    for (const isOutdated of [CURRENT, OUTDATED])
      expect(attemptOutcome(attempt(undefined), isOutdated, false)).toEqual(proof);
    expect(proof.signs.node).toBe('works');
  });

  it('that fails because of the node proves that, at the address that the panel gives', () => {
    expect(attemptOutcome(attempt(ofNode), CURRENT, false)).toEqual({
      startedAt: 7,
      problem: ofNode,
      signs: socketSigns('node_connection'),
      streams: false,
    });
    expect(attemptOutcome(attempt(ofNode), OUTDATED, false)).toBeUndefined();
  });

  it.each<[string, SocketAttempt['end']]>([
    ['that was withdrawn', 'withdrawn'],
    ['that fails because of its server', ofServer],
  ])('%s proves nothing about the node', (_what, end) => {
    expect(attemptOutcome(attempt(end), CURRENT, false)).toBeUndefined();
  });
});

it.each<[string, SocketAttempt['end'], boolean]>([
  ['withdrawn', 'withdrawn', CURRENT],
  ['failed at an address of before', ofNode, OUTDATED],
])('a socket that streamed and then %s no longer works, for no reason of the node', (_what, end, address) => {
  expect(attemptOutcome(attempt(end), address, true)).toEqual({
    startedAt: 7,
    problem: undefined,
    signs: NO_SIGNS,
    streams: false,
  });
});
