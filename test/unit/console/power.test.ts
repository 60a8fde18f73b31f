import { describe, expect, it } from 'vitest';
import { isReached, powerNeed, sawState, watchPower } from '../../../src/console/power.ts';
import type { ServerState } from '../../../src/domain/state.ts';
import type { PowerAction } from '../../../src/session/protocol.ts';

describe('powerNeed', () => {
  it.each<[PowerAction, Partial<Record<ServerState, 'done' | 'wait' | 'ask'>>]>([
    [
      'start',
      { running: 'done', starting: 'wait', offline: 'ask', stopping: 'ask', stopped: 'ask', unknown: 'ask' },
    ],
    [
      'stop',
      { offline: 'done', stopped: 'done', stopping: 'wait', running: 'ask', starting: 'ask', unknown: 'ask' },
    ],
    [
      'kill',
      { offline: 'done', stopped: 'done', stopping: 'ask', running: 'ask', starting: 'ask', unknown: 'ask' },
    ],
    ['restart', { offline: 'ask', running: 'ask', stopping: 'ask', starting: 'ask' }],
  ])('%s', (action, needs) => {
    for (const [state, need] of Object.entries(needs)) {
      expect([state, powerNeed(action, state as ServerState)]).toEqual([state, need]);
    }
  });
});

describe('isReached', () => {
  it.each<[PowerAction, ServerState, readonly ServerState[], boolean]>([
    ['start', 'offline', [], false],
    ['start', 'offline', ['offline', 'starting'], false],
    ['start', 'offline', ['starting', 'running'], true],
    ['start', 'offline', ['starting', 'running', 'offline'], false],
    ['stop', 'running', ['running', 'stopping'], false],
    ['stop', 'running', ['stopping', 'offline'], true],
    ['stop', 'running', ['stopping', 'stopped'], true],
    ['kill', 'stopping', ['offline'], true],
    ['restart', 'running', ['running'], false],
    ['restart', 'running', ['unknown', 'running'], false],
    ['restart', 'running', ['stopping', 'offline', 'starting'], false],
    ['restart', 'running', ['stopping', 'offline', 'starting', 'running'], true],
    ['restart', 'running', ['starting', 'running'], true],
    ['restart', 'offline', ['offline', 'running'], true],
  ])('%s of a server that is %s, then %j: %s', (action, before, then, expected) => {
    expect(isReached(then.reduce(sawState, watchPower(action, before)))).toBe(expected);
  });
});
