import { describe, expect, it } from 'vitest';
import { listEffects, listTimers, SILENCE_MS } from '../../../src/session/machine-effects.ts';
import type { MachineState, Token } from '../../../src/session/machine-model.ts';
import { machineState } from '../../support/machine-states.ts';

const token = (value: string): Token => ({
  value,
  socketUrl: `wss://${value}`,
  fetchedAt: 0,
  renewAt: 0,
  expiresAt: 0,
});
const [ONE, TWO] = [token('one'), token('two')];
const at = (epoch: number, of = ONE) => ({ epoch, token: of });

/** The effects in a short form. */
function effects(before: MachineState, after: MachineState): readonly string[] {
  return listEffects(before, after).map((effect) => {
    switch (effect.type) {
      case 'openSocket':
        return `open ${effect.epoch} ${effect.url}`;
      case 'send':
        return `send ${Object.values(effect.message).join(' ')}`;
      case 'countReconnect':
        return `count ${effect.reason}`;
      default:
        return effect.type;
    }
  });
}

describe('what is to be done', () => {
  const streaming = machineState('streaming', at(1));
  const silent = { reason: 'silent' } as const;

  it.each<[string, MachineState, MachineState, readonly string[]]>([
    ['when it begins', machineState('idle'), machineState('fetchingToken'), ['fetchToken']],
    [
      'when its token arrives',
      machineState('fetchingToken'),
      machineState('connecting', at(1)),
      ['abortFetch', 'open 1 wss://one'],
    ],
    [
      'when the socket opens',
      machineState('connecting', at(1)),
      machineState('authenticating', at(1)),
      ['send auth one'],
    ],
    [
      'when the token is accepted',
      machineState('authenticating', at(1)),
      machineState('opening', { ...at(1), unanswered: 1 }),
      ['send send stats'],
    ],
    ['when stats arrive', machineState('opening', { ...at(1), unanswered: 1 }), streaming, []],
    [
      'when stats are missing',
      streaming,
      machineState('streaming', { ...at(1), unanswered: 1 }),
      ['send send stats'],
    ],
    ['when the token is renewed', streaming, machineState('renewing', at(1)), ['fetchToken']],
    [
      'when a new token arrives',
      machineState('renewing', at(1)),
      machineState('renewing', { ...at(1), next: TWO }),
      ['abortFetch', 'send auth two'],
    ],
    [
      'when it is rejected, and another is fetched',
      machineState('renewing', { ...at(1), next: TWO }),
      machineState('renewing', at(1)),
      ['fetchToken'],
    ],
    [
      'when the server has moved',
      machineState('renewing', at(1)),
      machineState('connecting', at(2, TWO)),
      ['abortFetch', 'closeSocket', 'count moved', 'open 2 wss://two'],
    ],
    ['when the socket fails', streaming, machineState('backingOff', silent), ['closeSocket', 'count silent']],
    ...(['fetchingToken', 'blocked', 'backingOff'] as const).map(
      (name): [string, MachineState, MachineState, readonly string[]] => [
        `when its token is no longer valid, and it goes on with ${name}`,
        streaming,
        machineState(name, { reason: 'no_token' }),
        ['closeSocket', 'count token_expired', ...(name === 'fetchingToken' ? ['fetchToken'] : [])],
      ],
    ),
    [
      'when a token expires while another is fetched',
      machineState('renewing', at(1)),
      machineState('fetchingToken'),
      ['closeSocket', 'count token_expired'],
    ],
    [
      'when the address of its token is refused before it connects',
      machineState('connecting', at(1)),
      machineState('blocked', { reason: 'no_token' }),
      ['closeSocket'],
    ],
    [
      'when an old token is rejected',
      machineState('authenticating', at(1)),
      machineState('fetchingToken'),
      ['closeSocket', 'count auth_refused', 'fetchToken', 'reportOutdated'],
    ],
    [
      'when an old token would be rejected, before its socket opens',
      machineState('connecting', at(1)),
      machineState('fetchingToken'),
      ['closeSocket', 'fetchToken'],
    ],
    ['when it stops', streaming, machineState('idle', { epoch: 1 }), ['closeSocket']],
    [
      'when it stops while it fetches a token',
      machineState('fetchingToken'),
      machineState('idle'),
      ['abortFetch'],
    ],
    [
      'when it connects again after a rest',
      machineState('backingOff', silent),
      machineState('connecting', at(2)),
      ['open 2 wss://one'],
    ],
    [
      'when it fails to get a token',
      machineState('fetchingToken'),
      machineState('backingOff', silent),
      ['abortFetch'],
    ],
  ])('%s', (_what, before, after, expected) => {
    expect(effects(before, after)).toEqual(expected);
  });
});

describe('the timers', () => {
  it.each<[string, MachineState, readonly (readonly [string, number])[]]>([
    ['of a server without a socket are none', machineState('idle'), []],
    ['of a call are none, because it ends by itself', machineState('fetchingToken'), []],
    ['of a connect begin with it', machineState('connecting', { dueAt: Number.POSITIVE_INFINITY }), []],
    ['of a connect', machineState('connecting', { dueAt: 7 }), [['due', 7]]],
    ['of a rest', machineState('blocked', { dueAt: 7 }), [['due', 7]]],
    [
      'of a socket that opens',
      machineState('opening', { askedAt: 5_000 }),
      [['silence', 5_000 + SILENCE_MS]],
    ],
    [
      'of a socket that was asked before the last stats',
      machineState('streaming', { dueAt: 7, askedAt: 1 }),
      [
        ['due', 7],
        ['silence', 1_000 + SILENCE_MS],
      ],
    ],
  ])('%s', (_what, state, timers) => {
    expect(listTimers(state, 1_000).map(({ type, at }) => [type, at])).toEqual(timers);
  });
});
