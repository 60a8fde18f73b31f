import { describe, expect, it } from 'vitest';
import type { CauseCode } from '../../../src/domain/problems.ts';
import { readJwtError } from '../../../src/panel/dialects/pterodactyl/socket-refusals.ts';
import { PTERODACTYL } from '../../../src/panel/dialects/pterodactyl.ts';
import { daemonFailure, jwtFailure } from '../../../src/session/failure.ts';
import { step } from '../../../src/session/machine.ts';
import { listTimers } from '../../../src/session/machine-effects.ts';
import type { MachineEvent, MachineState, Timer, Token } from '../../../src/session/machine-model.ts';
import type { MachineContext } from '../../../src/session/machine-steps.ts';
import { RENEW_AGAIN_MS, renewalInstant } from '../../../src/session/token-renewal.ts';
import { seededRandom } from '../../../src/simulator/random.ts';
import { busiestMinute } from '../../support/busiest-minute.ts';
import { machineState } from '../../support/machine-states.ts';

const START = 1_000_000;
const WITHHELD = 'jwt: created too far in past (denylist)';
const ANSWERED = `Error Event [0f4b5d2c-0000-4000-8000-000000000000]: ${WITHHELD}`;

const token = (value: string): Token => ({
  value,
  socketUrl: 'wss://node-1/ws',
  fetchedAt: START,
  renewAt: START + 480_000,
  expiresAt: START + 600_000,
});

/** A state machine whose timers the test fires. */
class Driven {
  state: MachineState;
  now = START;
  readonly done: string[] = [];
  readonly reconnects: string[] = [];

  constructor(state: MachineState) {
    this.state = state;
  }

  dispatch(event: MachineEvent, afterMs = 0): void {
    this.now += afterMs;
    const context: MachineContext = {
      now: this.now,
      random: 0.99,
      timeouts: { connectTimeoutMs: 10_000, authTimeoutMs: 10_000 },
      isCurrent: () => true,
      target: { node: undefined, blocked: undefined },
    };
    const { state: next, effects } = step(this.state, event, context);
    this.done.push(...effects.map(({ type }) => type));
    for (const effect of effects) if (effect.type === 'countReconnect') this.reconnects.push(effect.reason);
    this.state = next;
  }

  jwtError(text: string, afterMs = 0): void {
    const failure = () => jwtFailure(message, PTERODACTYL.socket);
    const { message, answersToken } = readJwtError(text);
    this.dispatch(
      { type: 'jwtError', epoch: this.state.epoch, fixable: true, answersToken, failure },
      afterMs,
    );
  }

  fetched(value: string, afterMs = 50): void {
    this.dispatch({ type: 'tokenFetched', token: token(value) }, afterMs);
  }

  /** Fires a timer when it is due. */
  fire(timer: Timer['type']): void {
    this.now = this.due(timer);
    this.dispatch({ type: timer });
  }

  due(timer: Timer['type']): number {
    return listTimers(this.state, 0).find(({ type }) => type === timer)?.at ?? Number.NaN;
  }
}

const streaming = () =>
  new Driven(
    machineState('streaming', {
      epoch: 7,
      token: token('old'),
      since: START - 300_000,
      authenticatedAt: START - 300_000,
      askedAt: START,
      dueAt: START + 480_000,
    }),
  );

describe('a token that was renewed in the second in which the node revoked the previous one', () => {
  it('is replaced within three seconds on the same socket', () => {
    const machine = streaming();
    machine.jwtError(WITHHELD);
    machine.fetched('same second');
    machine.jwtError(ANSWERED, 20);
    expect(machine.state).toMatchObject({ name: 'streaming', problem: { cause: 'token_clock' } });
    machine.jwtError(WITHHELD, 500);
    machine.jwtError(WITHHELD, 1_000);
    machine.fire('due');
    machine.fetched('a later second');
    machine.dispatch({ type: 'authenticated', epoch: 7 }, 20);
    expect(machine.state).toMatchObject({ name: 'streaming', token: { value: 'a later second' } });
    expect(machine.state).not.toHaveProperty('problem');
    expect(machine.now - START).toBeLessThan(3_000);
    expect(machine.done.filter((effect) => effect === 'fetchToken')).toHaveLength(2);
    expect(machine.done).not.toContain('closeSocket');
  });

  it('is replaced no sooner because an earlier failure of the panel is over', () => {
    const machine = streaming();
    machine.fire('due');
    const failure = { reason: 'no_token', problem: { cause: 'timeout', detail: '' } } as const;
    machine.dispatch({ type: 'tokenFailed', failure });
    machine.dispatch({ type: 'wake' }, 1_000);
    machine.fetched('same second');
    machine.jwtError(ANSWERED, 20);
    machine.dispatch({ type: 'wake' }, 20);
    expect(machine.state.name).toBe('streaming');
    machine.fire('due');
    expect(machine.state.name).toBe('renewing');
  });

  it('is dropped if the next one is rejected too', () => {
    const machine = streaming();
    machine.jwtError(WITHHELD);
    machine.fetched('one');
    machine.jwtError(ANSWERED, 20);
    machine.fire('due');
    machine.fetched('two');
    machine.jwtError(ANSWERED, 20);
    expect(machine.state).toMatchObject({ name: 'backingOff', token: undefined });
    expect(machine.done).toContain('closeSocket');
  });

  it.each(['the next one too', 'only the first'])('may also be followed by a daemon error: %s', (which) => {
    const machine = streaming();
    const refuse = () => {
      const failure = () => daemonFailure('an unexpected error');
      machine.dispatch({ type: 'daemonError', epoch: 7, failure }, 20);
    };
    refuse();
    expect(machine.state).not.toHaveProperty('problem');
    machine.dispatch({ type: 'tokenEnding', epoch: 7 });
    machine.fetched('one');
    refuse();
    expect(machine.state).toMatchObject({ name: 'streaming', problem: { cause: 'node_token_mismatch' } });
    machine.fire('due');
    machine.fetched('two');
    if (which === 'only the first') machine.dispatch({ type: 'authenticated', epoch: 7 }, 20);
    else refuse();
    expect(machine.state.name).toBe(which === 'only the first' ? 'streaming' : 'blocked');
  });

  it('is not mistaken for rejected if events are withheld while it is in flight', () => {
    const machine = streaming();
    machine.jwtError(WITHHELD);
    machine.fetched('new');
    machine.jwtError(WITHHELD, 20);
    expect(machine.state.name).toBe('renewing');
    machine.dispatch({ type: 'authenticated', epoch: 7 }, 20);
    expect(machine.state).toMatchObject({ name: 'streaming', token: { value: 'new' } });
  });

  it('is replaced soon on a new socket as well, for the first attempts', () => {
    const waits = [0, 1, 2].map((failures) => {
      const machine = new Driven(machineState('authenticating', { epoch: 7, failures, token: token('new') }));
      machine.jwtError(ANSWERED);
      expect(machine.state.name).toBe('backingOff');
      return machine.due('due') - START;
    });
    expect(waits.slice(0, 2)).toEqual([RENEW_AGAIN_MS, RENEW_AGAIN_MS]);
    expect(waits[2]).toBeGreaterThan(15_000);
  });
});

describe('a socket on which no stats arrive', () => {
  it('is given up however often its token is renewed meanwhile', () => {
    const machine = streaming();
    for (const value of ['one', 'two', 'three']) {
      machine.fire('silence');
      machine.dispatch({ type: 'tokenEnding', epoch: 7 });
      machine.fetched(value);
      machine.dispatch({ type: 'authenticated', epoch: 7 }, 20);
    }
    expect(machine.state).toMatchObject({ name: 'backingOff', problem: { cause: 'no_stats' } });
  });

  it('is asked no later because its token was renewed', () => {
    const machine = streaming();
    const dueAt = machine.due('silence');
    machine.dispatch({ type: 'tokenEnding', epoch: 7 });
    machine.fetched('new');
    machine.dispatch({ type: 'authenticated', epoch: 7 }, 20);
    expect(machine.due('silence')).toBe(dueAt);
  });
});

describe('a socket whose token expires while its renewal is refused', () => {
  const refusal = (cause: CauseCode): MachineEvent => ({
    type: 'tokenFailed',
    failure: { reason: 'no_token', problem: { cause, detail: '' } },
  });

  // These events are only milliseconds apart, so they may come in any order.
  const events = {
    rejects: (machine: Driven) => machine.jwtError('jwt: exp claim is invalid'),
    refuses: (machine: Driven, cause: CauseCode) => machine.dispatch(refusal(cause)),
    expires: (machine: Driven) => {
      machine.now = Math.max(machine.now, START + 600_000);
      machine.dispatch({ type: 'due' });
    },
  };
  type Event = keyof typeof events;
  const names = Object.keys(events) as Event[];
  const orders = names.flatMap((one) =>
    names.flatMap((two) => names.map((three) => [one, two, three]).filter((all) => new Set(all).size === 3)),
  );
  const causes = ['key_refused', 'no_console_permission', 'not_found', 'maintenance', 'panel_error'] as const;

  it.each(causes.flatMap((cause) => orders.map((order) => ({ cause, order, which: order.join(', ') }))))(
    'is counted once, as token_expired: $cause, $which',
    ({ cause, order }) => {
      const machine = streaming();
      machine.fire('due');
      for (const event of order) events[event](machine, cause);
      expect(machine.done.filter((effect) => effect === 'closeSocket')).toHaveLength(1);
      expect(machine.reconnects).toEqual(['token_expired']);
    },
  );
});

describe('a console permission that is taken away', () => {
  const refused = (cause: 'no_console_permission' | 'timeout'): MachineEvent => ({
    type: 'tokenFailed',
    failure: { reason: 'no_token', problem: { cause, detail: '' } },
  });

  it('ends the socket with the panel’s refusal as soon as that comes, because the node withholds events', () => {
    const machine = streaming();
    machine.jwtError(WITHHELD);
    machine.dispatch(refused('no_console_permission'), 50);
    expect(machine.state).toMatchObject({ name: 'blocked', problem: { cause: 'no_console_permission' } });
    expect(machine.done).toContain('closeSocket');
  });

  it('ends it as well if the token was being renewed when the node rejected it', () => {
    const machine = streaming();
    machine.fire('due');
    machine.jwtError(WITHHELD, 20);
    machine.dispatch(refused('no_console_permission'), 50);
    expect(machine.state).toMatchObject({ name: 'blocked' });
  });

  it('keeps the socket while the node still accepts its token', () => {
    const machine = streaming();
    machine.fire('due');
    machine.dispatch(refused('no_console_permission'), 50);
    expect(machine.state).toMatchObject({ name: 'streaming', problem: { cause: 'no_console_permission' } });
  });

  it('keeps the socket if the panel doesn’t respond: the permission may still be there', () => {
    const machine = streaming();
    machine.jwtError(WITHHELD);
    machine.dispatch(refused('timeout'), 50);
    expect(machine.state).toMatchObject({ name: 'streaming' });
  });

  it('is forgotten once another token is accepted', () => {
    const machine = streaming();
    machine.jwtError(WITHHELD);
    machine.fetched('new');
    machine.dispatch({ type: 'authenticated', epoch: 7 }, 20);
    machine.fire('due');
    machine.dispatch(refused('no_console_permission'), 50);
    expect(machine.state).toMatchObject({ name: 'streaming' });
  });
});

const LIFETIME_MS = 600_000;

describe('a token', () => {
  it.each([
    ['a fleet that started together spreads: the first token may be renewed early', false, 60_000, 540_000],
    ['the next ones are renewed between 75 % and 90 % of their life', true, 450_000, 540_000],
  ] as const)('%s', (_, isRenewal, earliestMs, latestMs) => {
    const renewedAfter = (random: number) =>
      renewalInstant(LIFETIME_MS, { isRenewal, now: 1_000, random }) - 1_000;
    // At the last whole multiple of 2 s.
    expect(renewedAfter(0)).toBeCloseTo(earliestMs - 1_000, 3);
    expect(renewedAfter(1)).toBeCloseTo(latestMs - 1_000, 3);
  });

  it('is renewed together with those whose time comes within the same 2 s', () => {
    const instants = Array.from({ length: 1_000 }, (_, index) =>
      renewalInstant(LIFETIME_MS, { isRenewal: true, now: index * 1.7, random: index / 1_000 }),
    );
    expect(instants.filter((at) => at % 2_000 !== 0)).toEqual([]);
    expect(new Set(instants).size).toBe(46);
  });

  it('is renewed at such times that after its first life no minute has many more calls than the mean', () => {
    const random = seededRandom(1);
    const calls: number[] = [];
    for (let server = 0; server < 1_000; server += 1) {
      for (let now = 0, life = 0; now < 3_600_000; life += 1) {
        now = renewalInstant(LIFETIME_MS, { isRenewal: life > 0, now, random: random() });
        if (now > 600_000 && now < 3_600_000) calls.push(now);
      }
    }
    expect(busiestMinute(calls.toSorted((a, b) => a - b))).toBeLessThan(1.5 * (calls.length / 50));
  });
});
