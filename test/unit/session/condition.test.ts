import { describe, expect, it } from 'vitest';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import type { CauseCode, Problem } from '../../../src/domain/problem.ts';
import type { CollectionStatus } from '../../../src/domain/reading.ts';
import {
  type Circumstances,
  type ConditionContext,
  collectionStatus,
  logCondition,
  socketState,
} from '../../../src/session/condition.ts';
import type { MachineState, Token } from '../../../src/session/machine-model.ts';
import { collectingLogger } from '../../support/logger.ts';
import { target } from '../../support/targets.ts';

const TOKEN: Token = { value: 'a.b.c', socketUrl: 'wss://node/ws', refreshAt: 0, expiresAt: 0 };
const first = { epoch: 1, failures: 0 };
const SOCKET: Problem = { cause: 'node_connection', detail: 'no connection' };
const POLL: Problem = { cause: 'node_silent', detail: 'no response' };
const NO_SERVER: Problem = { cause: 'not_found', detail: 'no such server' };
const KEY: Problem = { cause: 'key_refused', detail: 'Unauthenticated.' };
const failed = { epoch: 1, failures: 2, problem: SOCKET };
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
const OF_KEY: MachineState = {
  name: 'blocked',
  ...failed,
  problem: KEY,
  refused: { reason: undefined, pollable: true },
};

const NONE = { type: 'none' } as const;
const ANSWERED = { type: 'answered' } as const;
const FAILED = { type: 'failed', problem: POLL } as const;
const REFUSED = { type: 'refused', reason: 'not_found', problem: NO_SERVER } as const;

type Row = [title: string, changes: Partial<Circumstances>, status: CollectionStatus];

describe('collectionStatus', () => {
  it.each<Row>([
    ['waiting for its turn', { machine: IDLE }, { condition: 'waiting' }],
    ['waiting for its first credentials', { machine: FETCHING }, { condition: 'waiting' }],
    ['connecting', { machine: CONNECTING }, { condition: 'connecting' }],
    ['authenticating', { machine: AUTHENTICATING }, { condition: 'connecting' }],
    ['streaming', { machine: STREAMING }, { condition: 'streaming' }],
    ['streaming during a refresh', { machine: REFRESHING }, { condition: 'streaming' }],
    [
      'streaming after a failed refresh',
      { machine: STREAMING_WITH_TROUBLE },
      { condition: 'streaming', problem: SOCKET },
    ],
    ['backing off', { machine: BACKING_OFF }, { condition: 'failing', problem: SOCKET }],
    ['fetching a token again', { machine: FETCHING_AGAIN }, { condition: 'failing', problem: SOCKET }],
    [
      'polled while its socket fails',
      { machine: BACKING_OFF, polling: true, poll: ANSWERED },
      { condition: 'polling', problem: SOCKET },
    ],
    [
      'polled during the next connect',
      { machine: FETCHING_AGAIN, polling: true, poll: ANSWERED },
      { condition: 'polling', problem: SOCKET },
    ],
    [
      "failing by socket and poll: a poll's cause doesn't replace that of the socket",
      { machine: BACKING_OFF, polling: true, poll: FAILED },
      { condition: 'failing', problem: SOCKET },
    ],
    [
      'waiting for the response to its first poll',
      { machine: BACKING_OFF, polling: true, poll: NONE },
      { condition: 'failing', problem: SOCKET },
    ],
    ['suspended', { machine: SUSPENDED }, { condition: 'blocked', blocked: 'suspended', problem: SOCKET }],
    [
      'console rejected, but resources available',
      { machine: FORBIDDEN, polling: true, poll: ANSWERED },
      { condition: 'polling', problem: SOCKET },
    ],
    [
      'console rejected, and not polled yet',
      { machine: FORBIDDEN, polling: true, poll: NONE },
      { condition: 'failing', problem: SOCKET },
    ],
    [
      'console rejected, and a poll failed: the lasting problem is shown',
      { machine: FORBIDDEN, polling: true, poll: FAILED },
      { condition: 'failing', problem: SOCKET },
    ],
    [
      'rejected by socket and poll',
      { machine: FORBIDDEN, polling: true, poll: REFUSED },
      { condition: 'blocked', blocked: 'not_found', problem: NO_SERVER },
    ],
    [
      'rejected by socket and poll for the same reason: the problem of the socket is more specific',
      { machine: FORBIDDEN, polling: true, poll: { ...REFUSED, reason: 'forbidden' } },
      { condition: 'blocked', blocked: 'forbidden', problem: SOCKET },
    ],
    [
      'console rejected, in mode socket',
      { machine: FORBIDDEN, mode: 'socket' },
      { condition: 'blocked', blocked: 'forbidden', problem: SOCKET },
    ],
    [
      'console rejected because of the key, in mode socket',
      { machine: OF_KEY, mode: 'socket' },
      { condition: 'failing', problem: KEY },
    ],
    [
      'console rejected because of the key, but resources available',
      { machine: OF_KEY, polling: true, poll: ANSWERED },
      { condition: 'polling', problem: KEY },
    ],
    [
      'console rejected because of the key, and poll rejected',
      { machine: OF_KEY, polling: true, poll: REFUSED },
      { condition: 'blocked', blocked: 'not_found', problem: NO_SERVER },
    ],
    ['in mode poll, waiting for the first poll', { polling: true, mode: 'poll' }, { condition: 'waiting' }],
    ['in mode poll, polled', { polling: true, mode: 'poll', poll: ANSWERED }, { condition: 'polling' }],
    [
      'in mode poll, failing',
      { polling: true, mode: 'poll', poll: FAILED },
      { condition: 'failing', problem: POLL },
    ],
    [
      'in mode poll, rejected',
      { polling: true, mode: 'poll', poll: REFUSED },
      { condition: 'blocked', blocked: 'not_found', problem: NO_SERVER },
    ],
  ])('%s', (_, changes, status) => {
    expect(collectionStatus(circumstances(changes))).toEqual(status);
  });
});

describe('while the API key has a problem', () => {
  const polled = { polling: true, poll: ANSWERED } as const;

  it.each<[string, Partial<Circumstances>]>([
    ['a waiting server', { machine: FETCHING }],
    ['a connecting server', { machine: CONNECTING }],
    ['a server that backs off', { machine: BACKING_OFF }],
    ['a polled server', { machine: FETCHING, ...polled }],
  ])('%s fails because of the key and is not blocked', (_, changes) => {
    expect(collectionStatus(circumstances({ ...changes, socketHold: KEY, pollHold: KEY }))).toEqual({
      condition: 'failing',
      problem: KEY,
    });
  });

  it('a streaming server continues until its token expires', () => {
    expect(collectionStatus(circumstances({ machine: STREAMING, socketHold: KEY }))).toEqual({
      condition: 'streaming',
    });
  });
});

describe('while servers share a trouble', () => {
  const PANEL: Problem = { cause: 'connection', detail: 'no connection to the panel' };
  const failing = (problem: Problem) => ({ condition: 'failing', problem });

  it.each<[string, Partial<Circumstances>, object]>([
    [
      "a server that never failed itself shows its node's problem while it waits for the trial",
      { machine: FETCHING, socketHold: SOCKET },
      failing(SOCKET),
    ],
    [
      "the problem of its node's sockets is shown while it is polled",
      { machine: FETCHING, socketHold: SOCKET, polling: true, poll: ANSWERED },
      { condition: 'polling', problem: SOCKET },
    ],
    [
      'its own problem with the node is more exact than one of the panel',
      { machine: BACKING_OFF, polling: true, poll: FAILED, pollHold: PANEL },
      failing(SOCKET),
    ],
    [
      "a polled server that waits for the trial of its node's polls shows why, whatever its last poll brought",
      { polling: true, mode: 'poll', poll: ANSWERED, pollHold: POLL },
      failing(POLL),
    ],
    [
      'a refused console is no problem of the panel while resources can be read',
      { machine: FORBIDDEN, socketHold: KEY, polling: true, poll: ANSWERED },
      { condition: 'polling', problem: SOCKET },
    ],
    [
      "a server that its panel blocks isn't failing because of the panel",
      { machine: SUSPENDED, socketHold: PANEL },
      { condition: 'blocked', blocked: 'suspended', problem: SOCKET },
    ],
  ])('%s', (_, changes, status) => {
    expect(collectionStatus(circumstances(changes))).toEqual(status);
  });
});

describe('the log line of a condition', () => {
  const logged = (status: CollectionStatus, context: ConditionContext = {}) => {
    const log = collectingLogger();
    logCondition(log, target(), status, context);
    return log.lines.map(({ level, message }) => `${level}: ${message}`);
  };
  const failing = (cause: CauseCode) => logged({ condition: 'failing', problem: { cause, detail: 'why' } });

  it.each(Object.values(CAUSES))(
    'for failures with $code is a warning, unless the cause is a fact, temporary, or logged for the panel',
    ({ code, scope, severity }) => {
      const isPassing = severity === 'fact' || code === 'closed';
      const level = scope === 'panel' || scope === 'key' ? 'debug' : isPassing ? 'info' : 'warn';
      expect(failing(code)).toEqual([expect.stringMatching(new RegExp(`^${level}: `))]);
    },
  );

  it.each<[string, CollectionStatus, string]>([
    ['is streaming', { condition: 'streaming' }, 'info: server survival is streaming'],
    [
      'is streaming with a problem',
      { condition: 'streaming', problem: SOCKET },
      'info: server survival is streaming',
    ],
    ['is polled', { condition: 'polling', problem: SOCKET }, 'info: server survival is polled'],
    ['is waiting', { condition: 'waiting' }, 'debug: server survival is waiting'],
    ['is connecting', { condition: 'connecting', problem: SOCKET }, 'debug: server survival is connecting'],
    ['is stopped', { condition: 'stopped' }, 'debug: server survival is stopped'],
    [
      'fails',
      { condition: 'failing', problem: SOCKET },
      `warn: server survival can't be monitored: no connection. ${CAUSES.node_connection.remedy}`,
    ],
    [
      'is blocked',
      { condition: 'blocked', blocked: 'not_found', problem: NO_SERVER },
      `warn: server survival is blocked (not_found): no such server. ${CAUSES.not_found.remedy}`,
    ],
    [
      'is suspended',
      {
        condition: 'blocked',
        blocked: 'suspended',
        problem: { cause: 'suspended', detail: 'This server is suspended.' },
      },
      `info: server survival is blocked: This server is suspended. ${CAUSES.suspended.remedy}`,
    ],
    [
      'fails because of the key',
      { condition: 'failing', problem: KEY },
      `debug: server survival can't be monitored: Unauthenticated. ${CAUSES.key_refused.remedy}`,
    ],
  ])('of a server that %s', (_, status, line) => {
    expect(logged(status)).toEqual([line]);
  });

  it.each<[string, Problem, level: string]>([
    ['the same cause: no second warning', NO_SERVER, 'debug'],
    ['another cause', SOCKET, 'warn'],
  ])('of a server that is blocked after it failed with %s', (_, problem, level) => {
    const before: CollectionStatus = { condition: 'failing', problem };
    const blocked: CollectionStatus = { condition: 'blocked', blocked: 'not_found', problem: NO_SERVER };
    expect(logged(blocked, { before })).toEqual([expect.stringMatching(new RegExp(`^${level}: `))]);
  });

  it('has the cause and its detail as fields', () => {
    const log = collectingLogger();
    logCondition(log, target(), { condition: 'failing', problem: SOCKET });
    expect(log.lines[0]?.fields).toMatchObject({
      condition: 'failing',
      cause: 'node_connection',
      detail: 'no connection',
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
])('the socket in state $name is %s', (machine, state) => {
  expect(socketState(machine)).toBe(state);
});

function circumstances(changes: Partial<Circumstances>): Circumstances {
  return {
    machine: IDLE,
    polling: false,
    poll: NONE,
    mode: 'auto',
    socketHold: undefined,
    pollHold: undefined,
    ...changes,
  };
}
