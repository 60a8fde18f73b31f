import { describe, expect, it } from 'vitest';
import type { StateChange } from '../../../../src/status-page/data/protocol.ts';
import { withState, withStop } from '../../../../src/status-page/data/state-changes.ts';

const at = (timestamp_seconds: number, state: StateChange['state']): StateChange => ({
  timestamp_seconds,
  state,
});
const CRASH = { reason: 'crashed', exitCode: 1 } as const;
const WHY = { reason: 'crashed', exit_code: 1 };

describe('a stop', () => {
  it('is shown with its own state change, even if others followed before its reason was known', () => {
    const changes = [at(90, 'running'), at(100, 'offline'), at(105, 'starting'), at(107, 'running')];
    expect(withStop(changes, CRASH, 99_400, 'running')).toEqual([
      at(90, 'running'),
      { ...at(100, 'offline'), ...WHY },
      at(105, 'starting'),
      at(107, 'running'),
    ]);
  });

  it('is added if it began and ended between two observations', () => {
    expect(withStop([at(90, 'running'), at(100, 'starting')], CRASH, 100_200, 'starting')).toEqual([
      at(90, 'running'),
      { ...at(100, 'offline'), ...WHY },
      at(100, 'starting'),
    ]);
  });

  it('is followed by the current state if no change shows it', () => {
    expect(withStop([at(90, 'running')], { reason: 'unknown' }, 100_000, 'running')).toEqual([
      at(90, 'running'),
      { ...at(100, 'offline'), reason: 'unknown' },
      at(100, 'running'),
    ]);
    expect(withStop([], { reason: 'unknown' }, 100_000, 'offline')).toEqual([
      { ...at(100, 'offline'), reason: 'unknown' },
    ]);
  });

  it('is not confused with an unexplained stop a few seconds earlier', () => {
    expect(withStop([at(97, 'offline'), at(98, 'running')], CRASH, 100_000, 'running')).toEqual([
      at(97, 'offline'),
      at(98, 'running'),
      { ...at(100, 'offline'), ...WHY },
      at(100, 'running'),
    ]);
  });

  it('has its own change: a change with a reason belongs to another stop', () => {
    const explained = { ...at(100, 'offline'), ...WHY } as StateChange;
    expect(withStop([explained, at(101, 'starting')], CRASH, 102_000, 'starting')).toEqual([
      explained,
      at(101, 'starting'),
      { ...at(102, 'offline'), ...WHY },
      at(102, 'starting'),
    ]);
  });
});

it('twenty changes are kept', () => {
  let changes: readonly StateChange[] = [];
  for (let second = 0; second < 30; second += 1) changes = withState(changes, 'running', second * 1_000);
  expect(changes).toHaveLength(20);
  expect(withStop(changes, CRASH, 29_000, 'running').at(-1)).toEqual(at(29, 'running'));
  expect(withStop(changes, CRASH, 29_000, 'running')).toHaveLength(20);
});
