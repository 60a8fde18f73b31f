import { expect, it } from 'vitest';
import type { MachineState } from '../../../src/session/machine-model.ts';
import { type SocketOutcome, socketOutcome } from '../../../src/session/socket-outcome.ts';
import { machineState } from '../../support/machine-states.ts';

const PROBLEM = { cause: 'node_timeout', detail: 'connecting to the node timed out' } as const;
const WITHDRAWN: SocketOutcome = { end: 'withdrawn' };
const WORKS: SocketOutcome = { end: undefined, url: 'wss://node/ws' };

it.each<[string, before: MachineState, now: MachineState, SocketOutcome | undefined]>([
  ['the first stats', machineState('opening'), machineState('streaming'), WORKS],
  ['a renewal', machineState('streaming'), machineState('renewing'), undefined],
  ['its end', machineState('renewing'), machineState('streaming'), undefined],
  ['an attempt', machineState('idle'), machineState('fetchingToken'), undefined],
  ['its next stage', machineState('connecting'), machineState('authenticating'), undefined],
  [
    'its failure',
    machineState('connecting'),
    machineState('backingOff', { problem: PROBLEM }),
    { end: PROBLEM, url: 'wss://node/ws' },
  ],
  [
    'the end of a socket',
    machineState('streaming'),
    machineState('blocked', { problem: PROBLEM }),
    { end: PROBLEM, url: 'wss://node/ws' },
  ],
  ['a socket that is no longer needed', machineState('streaming'), machineState('idle'), WITHDRAWN],
  ['an attempt that is no longer needed', machineState('fetchingToken'), machineState('idle'), WITHDRAWN],
  ['a move to another node', machineState('renewing'), machineState('connecting'), WITHDRAWN],
  ['a rest that ends', machineState('backingOff'), machineState('connecting'), undefined],
  ['a rest that is no longer needed', machineState('blocked'), machineState('idle'), undefined],
])('the outcome of %s', (_, before, now, outcome) => {
  expect(socketOutcome(before, now)).toEqual(outcome);
});
