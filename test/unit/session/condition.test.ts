import { describe, expect, it } from 'vitest';
import type { CollectionStatus } from '../../../src/domain/collection.ts';
import { type Circumstances, collectionStatus, socketState } from '../../../src/session/condition.ts';
import type { MachineState, Token } from '../../../src/session/machine-model.ts';

const TOKEN: Token = { value: 'a.b.c', socketUrl: 'wss://node/ws', refreshAt: 0, expiresAt: 0 };
const first = { epoch: 1, failures: 0 };
const failed = { epoch: 1, failures: 2, trouble: 'socket trouble' };
const live = { token: TOKEN, since: 0, authenticatedAt: 0, unanswered: 0 };

const IDLE: MachineState = { name: 'idle', epoch: 0 };
const FETCHING: MachineState = { name: 'fetchingToken', ...first };
const CONNECTING: MachineState = { name: 'connecting', ...first, token: TOKEN, reused: false };
const AUTHENTICATING: MachineState = { name: 'authenticating', ...first, token: TOKEN, reused: false };
const STREAMING: MachineState = { name: 'streaming', ...first, ...live };
const STREAMING_WITH_TROUBLE: MachineState = { name: 'streaming', ...failed, ...live };
const REFRESHING: MachineState = { name: 'refreshing', ...first, ...live, next: undefined };
const BACKING_OFF: MachineState = { name: 'backingOff', ...failed, token: undefined };
const FETCHING_AGAIN: MachineState = { name: 'fetchingToken', ...failed };
const SUSPENDED: MachineState = {
  name: 'blocked',
  ...failed,
  refused: { reason: 'suspended', pollable: false },
};
const FORBIDDEN: MachineState = {
  name: 'blocked',
  ...failed,
  refused: { reason: 'forbidden', pollable: true },
};

const NONE = { type: 'none' } as const;
const ANSWERED = { type: 'answered' } as const;
const FAILED = { type: 'failed', trouble: 'poll trouble' } as const;
const REFUSED = { type: 'refused', reason: 'not_found', trouble: 'no such server' } as const;
const KEY_REFUSED: CollectionStatus = {
  condition: 'blocked',
  blocked: 'unauthorized',
  trouble: 'the panel refuses the API key',
};

type Row = [title: string, changes: Partial<Circumstances>, status: CollectionStatus];

describe('collectionStatus', () => {
  it.each<Row>([
    ['waits for its turn', { machine: IDLE }, { condition: 'waiting' }],
    ['waits for its first credentials', { machine: FETCHING }, { condition: 'waiting' }],
    ['connects', { machine: CONNECTING }, { condition: 'connecting' }],
    ['authenticates', { machine: AUTHENTICATING }, { condition: 'connecting' }],
    ['streams', { machine: STREAMING }, { condition: 'streaming' }],
    ['streams while it refreshes', { machine: REFRESHING }, { condition: 'streaming' }],
    [
      'streams though a refresh failed',
      { machine: STREAMING_WITH_TROUBLE },
      { condition: 'streaming', trouble: 'socket trouble' },
    ],
    ['retries', { machine: BACKING_OFF }, { condition: 'failing', trouble: 'socket trouble' }],
    [
      'retries, call under way',
      { machine: FETCHING_AGAIN },
      { condition: 'failing', trouble: 'socket trouble' },
    ],
    [
      'is polled while its socket fails',
      { machine: BACKING_OFF, polling: true, poll: ANSWERED },
      { condition: 'polling', trouble: 'socket trouble' },
    ],
    [
      'is polled while its next connect is under way',
      { machine: FETCHING_AGAIN, polling: true, poll: ANSWERED },
      { condition: 'polling', trouble: 'socket trouble' },
    ],
    [
      'fails both ways',
      { machine: BACKING_OFF, polling: true, poll: FAILED },
      { condition: 'failing', trouble: 'poll trouble' },
    ],
    [
      'waits for the first answer of a poll',
      { machine: BACKING_OFF, polling: true, poll: NONE },
      { condition: 'failing', trouble: 'socket trouble' },
    ],
    [
      'is suspended',
      { machine: SUSPENDED },
      { condition: 'blocked', blocked: 'suspended', trouble: 'socket trouble' },
    ],
    [
      'has no socket, but resources',
      { machine: FORBIDDEN, polling: true, poll: ANSWERED },
      { condition: 'polling', trouble: 'socket trouble' },
    ],
    [
      'has no socket, and was not polled yet',
      { machine: FORBIDDEN, polling: true, poll: NONE },
      { condition: 'failing', trouble: 'socket trouble' },
    ],
    [
      'has no socket, and a poll failed',
      { machine: FORBIDDEN, polling: true, poll: FAILED },
      { condition: 'failing', trouble: 'poll trouble' },
    ],
    [
      'is refused both ways',
      { machine: FORBIDDEN, polling: true, poll: REFUSED },
      { condition: 'blocked', blocked: 'not_found', trouble: 'socket trouble' },
    ],
    [
      'has no socket and may not be polled',
      { machine: FORBIDDEN, mode: 'socket' },
      { condition: 'blocked', blocked: 'forbidden', trouble: 'socket trouble' },
    ],
    ['is to be polled and waits for it', { polling: true, mode: 'poll' }, { condition: 'waiting' }],
    ['is to be polled and is', { polling: true, mode: 'poll', poll: ANSWERED }, { condition: 'polling' }],
    [
      'is to be polled and fails',
      { polling: true, mode: 'poll', poll: FAILED },
      { condition: 'failing', trouble: 'poll trouble' },
    ],
    [
      'is to be polled and is refused',
      { polling: true, mode: 'poll', poll: REFUSED },
      { condition: 'blocked', blocked: 'not_found', trouble: 'no such server' },
    ],
  ])('%s', (_, changes, status) => {
    expect(collectionStatus(circumstances(changes))).toEqual(status);
  });
});

describe('while the panel refuses the key', () => {
  const polled = { polling: true, poll: ANSWERED } as const;

  it.each<[string, Partial<Circumstances>]>([
    ['one that waits', { machine: IDLE }],
    ['one that connects', { machine: CONNECTING }],
    ['one that retries', { machine: BACKING_OFF }],
    ['one that was polled', { machine: BACKING_OFF, ...polled }],
    ['one that is suspended', { machine: SUSPENDED }],
  ])('%s is blocked by that', (_, changes) => {
    expect(collectionStatus(circumstances({ ...changes, keyRefused: true }))).toEqual(KEY_REFUSED);
  });

  it('one that streams goes on streaming while its token lives', () => {
    expect(collectionStatus(circumstances({ machine: STREAMING, keyRefused: true }))).toEqual({
      condition: 'streaming',
    });
  });
});

it.each([
  [IDLE, 'none'],
  [FETCHING, 'none'],
  [CONNECTING, 'connecting'],
  [AUTHENTICATING, 'authenticating'],
  [STREAMING, 'streaming'],
  [REFRESHING, 'refreshing'],
  [BACKING_OFF, 'none'],
  [SUSPENDED, 'none'],
])('the socket of $name is %s', (machine, state) => {
  expect(socketState(machine)).toBe(state);
});

function circumstances(changes: Partial<Circumstances>): Circumstances {
  return { machine: IDLE, polling: false, poll: NONE, mode: 'auto', keyRefused: false, ...changes };
}
