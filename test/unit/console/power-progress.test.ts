import { describe, expect, it } from 'vitest';
import { PowerProgress } from '../../../src/console/power-progress.ts';
import type { ServerState } from '../../../src/domain/power-states.ts';
import { POWER_ACTIONS, type PowerAction } from '../../../src/panel/socket-codec.ts';

const STATES: readonly ServerState[] = ['offline', 'starting', 'running', 'stopping', 'unknown'];

/** The result of each action in each state of a server. */
const TABLE: Readonly<Record<PowerAction, Readonly<Record<string, 'needless' | 'underway'>>>> = {
  start: { running: 'needless', starting: 'underway' },
  stop: { offline: 'needless', stopping: 'underway' },
  restart: {},
  kill: { offline: 'needless' },
};

const cases = POWER_ACTIONS.flatMap((action) =>
  STATES.map((state) => [action, state, TABLE[action][state] ?? 'needed'] as const),
);

it.each(cases)('%s of a server that is %s is %s', (action, state, expected) => {
  const { isNeedless, isUnderway } = new PowerProgress(action, state);
  expect([isNeedless, isUnderway]).toEqual([expected === 'needless', expected === 'underway']);
});

describe('an action', () => {
  it.each<[PowerAction, ServerState, readonly ServerState[], readonly boolean[]]>([
    ['start', 'offline', ['starting', 'running'], [false, true]],
    ['start', 'unknown', ['running'], [true]],
    ['stop', 'running', ['stopping', 'offline'], [false, true]],
    ['kill', 'stopping', ['offline'], [true]],
    [
      'restart',
      'running',
      ['running', 'stopping', 'offline', 'starting', 'running'],
      [false, false, false, false, true],
    ],
    ['restart', 'offline', ['starting', 'running'], [false, true]],
    ['restart', 'stopping', ['running'], [true]],
  ])('%s of a server that is %s is complete after %j: %j', (action, before, states, complete) => {
    const power = new PowerProgress(action, before);
    const seen = states.map((state) => {
      power.sees(state);
      return power.isComplete;
    });
    expect(seen).toEqual(complete);
  });

  it.each<[PowerAction, string]>([
    ['start', 'control.start'],
    ['stop', 'control.stop'],
    ['restart', 'control.restart'],
    ['kill', 'control.stop'],
  ])('%s requires %s', (action, permission) => {
    expect(new PowerProgress(action, 'unknown').permission).toBe(permission);
  });
});
