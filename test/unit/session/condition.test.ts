import { describe, expect, it } from 'vitest';
import type { Problem } from '../../../src/domain/problems.ts';
import type { BlockedReason, CollectionMode } from '../../../src/domain/server.ts';
import type { CollectionStatus } from '../../../src/domain/snapshot.ts';
import { collectionStatus, gatherEvidence, STATUS_ROWS } from '../../../src/session/condition.ts';
import { type MachineState, socketState } from '../../../src/session/machine-model.ts';
import { NEVER_POLLED, type PollState } from '../../../src/session/poll-state.ts';
import { NOTHING_KNOWN } from '../../../src/session/surroundings.ts';
import { machineState } from '../../support/machine-states.ts';
import { target } from '../../support/targets.ts';

const SOCKET: Problem = { cause: 'node_connection', detail: 'no connection' };
const POLL: Problem = { cause: 'node_silent', detail: 'no response' };
const NO_SERVER: Problem = { cause: 'not_found', detail: 'no such server' };
const KEY: Problem = { cause: 'key_refused', detail: 'Unauthenticated.' };
const failed = { failures: 2, problem: SOCKET };
const IDLE = machineState('idle');
const FETCHING = machineState('fetchingToken');
const CONNECTING = machineState('connecting');
const AUTHENTICATING = machineState('authenticating');
const STREAMING = machineState('streaming');
const STREAMING_WITH_TROUBLE = machineState('streaming', failed);
const RENEWING = machineState('renewing');
const BACKING_OFF = machineState('backingOff', failed);
const FETCHING_AGAIN = machineState('fetchingToken', failed);
const FACT: Problem = { cause: 'suspended', detail: 'suspended' };
const NO_CONSOLE: Problem = { cause: 'no_console_permission', detail: 'no permission' };
const SUSPENDED = machineState('blocked', { failures: 2, problem: FACT });
const FORBIDDEN = machineState('blocked', { failures: 2, problem: NO_CONSOLE });
const OF_KEY = machineState('blocked', { failures: 2, problem: KEY });

const ANSWERED = { type: 'answered' } as const;
const FAILED = { type: 'failed', problem: POLL } as const;
const REFUSED = { type: 'refused', problem: NO_SERVER } as const;

const WAITING: CollectionStatus = { condition: 'waiting' };
const WAS_BLOCKED: CollectionStatus = { condition: 'blocked', blocked: 'not_found', problem: NO_SERVER };
const PANEL: Problem = { cause: 'connection', detail: 'no connection to the panel' };
const POLLED = { polling: true, poll: ANSWERED } as const;
const IN_MODE_POLL = { polling: true, mode: 'poll' } as const;

/** The data from which a condition follows. */
interface Changes {
  readonly isRunning?: boolean;
  readonly mode?: CollectionMode;
  readonly blocked?: BlockedReason;
  readonly machine?: MachineState;
  readonly polling?: boolean;
  readonly poll?: PollState['result'];
  readonly socketHold?: Problem;
  readonly pollHold?: Problem;
  readonly before?: CollectionStatus;
}

type RowName = keyof typeof STATUS_ROWS;
type Example = [title: string, changes: Changes, status: CollectionStatus];

const failing = (problem: Problem): CollectionStatus => ({ condition: 'failing', problem });
const blocked = (reason: BlockedReason, problem: Problem): CollectionStatus => ({
  condition: 'blocked',
  blocked: reason,
  problem,
});

/**
 * Examples for each row, in the order of the rows. Before a row's first example, no row above it
 * applies.
 */
const EXAMPLES: Readonly<Record<RowName, readonly Example[]>> = {
  stopped: [['whatever else is known', { isRunning: false, machine: STREAMING }, { condition: 'stopped' }]],
  'blocked in the list, but its socket streams': [
    [
      'until its token ends',
      { blocked: 'suspended', machine: STREAMING },
      {
        condition: 'streaming',
        problem: {
          cause: 'suspended',
          detail: "suspended according to the panel's server list, but the console socket streams",
        },
      },
    ],
  ],
  'blocked in the list': [
    [
      'whatever fails',
      { blocked: 'suspended', machine: BACKING_OFF, socketHold: PANEL },
      blocked('suspended', { cause: 'suspended', detail: "suspended according to the panel's server list" }),
    ],
  ],
  streaming: [
    ['also during a renewal', { machine: RENEWING }, { condition: 'streaming' }],
    [
      'after a failed renewal',
      { machine: STREAMING_WITH_TROUBLE },
      { condition: 'streaming', problem: SOCKET },
    ],
    ['while the key is refused', { machine: STREAMING, socketHold: KEY }, { condition: 'streaming' }],
  ],
  polled: [
    ['in mode poll', { ...IN_MODE_POLL, poll: ANSWERED }, { condition: 'polling' }],
    [
      'while its socket fails',
      { machine: BACKING_OFF, ...POLLED },
      { condition: 'polling', problem: SOCKET },
    ],
    [
      'during the next connect',
      { machine: FETCHING_AGAIN, ...POLLED },
      { condition: 'polling', problem: SOCKET },
    ],
    [
      'although its console is not found: the panel knows the server, so the path is wrong',
      { machine: machineState('blocked', { failures: 2, problem: NO_SERVER }), ...POLLED },
      { condition: 'polling', problem: { ...NO_SERVER, cause: 'daemon_unknown' } },
    ],
    [
      'although its console is refused',
      { machine: FORBIDDEN, ...POLLED },
      { condition: 'polling', problem: NO_CONSOLE },
    ],
    [
      'although the key is refused the console',
      { machine: OF_KEY, ...POLLED },
      { condition: 'polling', problem: KEY },
    ],
    [
      'while the sockets of its node are held',
      { machine: FETCHING, socketHold: SOCKET, ...POLLED },
      { condition: 'polling', problem: SOCKET },
    ],
    [
      'while the panel holds sockets: a refused console is more exact',
      { machine: FORBIDDEN, socketHold: KEY, ...POLLED },
      { condition: 'polling', problem: NO_CONSOLE },
    ],
  ],
  'the panel or its key fails': [
    ['while it waits', { machine: FETCHING, socketHold: KEY }, failing(KEY)],
    ['while it connects', { machine: CONNECTING, socketHold: KEY }, failing(KEY)],
    ['while it backs off', { machine: BACKING_OFF, socketHold: KEY }, failing(KEY)],
    ['when it was polled', { machine: FETCHING, ...POLLED, socketHold: KEY, pollHold: KEY }, failing(KEY)],
  ],
  'refused twice': [
    ['for different reasons', { machine: FORBIDDEN, polling: true, poll: REFUSED }, WAS_BLOCKED],
    [
      'for the same reason, of which the socket knows more',
      {
        machine: FORBIDDEN,
        polling: true,
        poll: { type: 'refused', problem: { cause: 'forbidden', detail: '403' } },
      },
      blocked('forbidden', NO_CONSOLE),
    ],
    ['first because of the key', { machine: OF_KEY, polling: true, poll: REFUSED }, WAS_BLOCKED],
  ],
  'console refused': [
    ['and not polled yet', { machine: FORBIDDEN, polling: true }, failing(NO_CONSOLE)],
    ['and a poll failed', { machine: FORBIDDEN, polling: true, poll: FAILED }, failing(NO_CONSOLE)],
    ['because of the key, in mode socket', { machine: OF_KEY, mode: 'socket' }, failing(KEY)],
  ],
  'socket refused': [
    ['as a whole', { machine: SUSPENDED }, blocked('suspended', FACT)],
    [
      'as a whole, while the panel fails',
      { machine: SUSPENDED, socketHold: PANEL },
      blocked('suspended', FACT),
    ],
    ['in mode socket', { machine: FORBIDDEN, mode: 'socket' }, blocked('forbidden', NO_CONSOLE)],
  ],
  'polls refused': [['in mode poll', { ...IN_MODE_POLL, poll: REFUSED }, WAS_BLOCKED]],
  'polls fail': [
    ['in mode poll', { ...IN_MODE_POLL, poll: FAILED }, failing(POLL)],
    [
      'and its socket, whose cause stays',
      { machine: BACKING_OFF, polling: true, poll: FAILED },
      failing(SOCKET),
    ],
    [
      'because of the panel, which is less exact',
      { machine: BACKING_OFF, polling: true, poll: FAILED, pollHold: PANEL },
      failing(SOCKET),
    ],
    ['for its node, after a response', { ...IN_MODE_POLL, poll: ANSWERED, pollHold: POLL }, failing(POLL)],
  ],
  'socket fails': [
    ['and waits', { machine: BACKING_OFF }, failing(SOCKET)],
    ['and is tried again', { machine: FETCHING_AGAIN }, failing(SOCKET)],
    ['before the response to its first poll', { machine: BACKING_OFF, polling: true }, failing(SOCKET)],
    [
      'for its node, though it never failed itself',
      { machine: FETCHING, socketHold: SOCKET },
      failing(SOCKET),
    ],
  ],
  'still blocked': [
    ['while it is asked again', { machine: FETCHING, before: WAS_BLOCKED }, WAS_BLOCKED],
    ['while it connects', { machine: CONNECTING, before: WAS_BLOCKED }, WAS_BLOCKED],
  ],
  waiting: [
    ['for its turn', {}, { condition: 'waiting' }],
    ['for its first credentials', { machine: FETCHING }, { condition: 'waiting' }],
    ['for the first poll, in mode poll', IN_MODE_POLL, { condition: 'waiting' }],
    ['after it was woken', { machine: { ...FETCHING_AGAIN, wokenAt: 1 } }, { condition: 'waiting' }],
  ],
  connecting: [
    ['to the node', { machine: CONNECTING }, { condition: 'connecting' }],
    ['with its token', { machine: AUTHENTICATING }, { condition: 'connecting' }],
  ],
};

const NAMES = Object.keys(STATUS_ROWS) as RowName[];

describe.each(NAMES)('a server that is %s', (name) => {
  it.each(EXAMPLES[name])('%s', (_, changes, status) => {
    const now = evidence(changes);
    expect(NAMES.find((row) => STATUS_ROWS[row](now) !== undefined)).toBe(name);
    expect(collectionStatus(now)).toEqual(status);
  });
});

it.each([
  [IDLE, 'none'],
  [FETCHING, 'none'],
  [CONNECTING, 'connecting'],
  [AUTHENTICATING, 'authenticating'],
  [STREAMING, 'streaming'],
  [RENEWING, 'refreshing'],
  [BACKING_OFF, 'none'],
  [SUSPENDED, 'none'],
])('the socket in state $name is %s', (machine, state) => {
  expect(socketState(machine)).toBe(state);
});

/** By default, an idle session in mode auto that nothing holds. */
function evidence(changes: Changes) {
  const { machine = IDLE, poll: result = NEVER_POLLED.result, before: status = WAITING } = changes;
  const { isRunning = true, polling = false, mode, blocked: reason, socketHold, pollHold } = changes;
  const { sockets, polls } = NOTHING_KNOWN;
  return gatherEvidence(
    { machine, poll: NEVER_POLLED, sampledAt: undefined, waitingSince: 0, status },
    {
      ...NOTHING_KNOWN,
      now: 0,
      isRunning,
      target: target({ ...(mode && { mode }), ...(reason && { blocked: reason }) }),
      sockets: { ...sockets, heldBy: socketHold },
      polls: { ...polls, heldBy: pollHold },
    },
    { polling, result },
  );
}
