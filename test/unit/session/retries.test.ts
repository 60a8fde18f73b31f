import { describe, expect, it } from 'vitest';
import type { Problem } from '../../../src/domain/problem.ts';
import { step } from '../../../src/session/machine.ts';
import {
  effectsOf,
  INITIAL_STATE,
  isTokenRetry,
  type MachineEvent,
  type MachineState,
  type Token,
  timersOf,
} from '../../../src/session/machine-model.ts';

const timeouts = { connectTimeoutMs: 10_000, authTimeoutMs: 12_000 };
const DOWN: Problem = { cause: 'panel_error', detail: 'the panel returned 500' };
const ORIGIN: Problem = { cause: 'origin', detail: 'the node rejected the socket upgrade (403)' };

/** A machine whose random numbers are just below 1, so that every wait has its maximum. */
class Stepper {
  now = 0;
  state: MachineState = INITIAL_STATE;
  effects: readonly { readonly type: string }[] = [];

  do(...events: readonly MachineEvent[]): this {
    for (const event of events) {
      const next = step(this.state, event, {
        now: this.now,
        random: 1 - 1e-12,
        timeouts,
        isCurrent: () => true,
        target: { node: undefined, blocked: undefined },
      });
      this.effects = effectsOf(this.state, next);
      this.state = next;
    }
    return this;
  }

  get token(): Token {
    return {
      value: 't',
      socketUrl: 'wss://node/ws',
      refreshAt: this.now + 450_000,
      expiresAt: this.now + 600_000,
    };
  }

  /** How a token is fetched because of the last event, if one is. */
  get fetch(): 'connect' | 'retry' | undefined {
    if (!this.effects.some(({ type }) => type === 'fetchToken')) return undefined;
    return isTokenRetry(this.state) ? 'retry' : 'connect';
  }
}

const failed = (problem: Problem): MachineEvent => ({
  type: 'tokenFailed',
  failure: { reason: 'no_token', problem },
});
const retry: MachineEvent = { type: 'try', isFresh: false };

describe('a failed refresh', () => {
  it('backs off by its own failures, not by those before the socket', () => {
    const session = new Stepper().do({ type: 'try', isFresh: false });
    for (let failures = 0; failures < 5; failures += 1) session.do(failed(DOWN), retry);
    session.do(
      { type: 'tokenFetched', token: session.token },
      { type: 'opened', epoch: 1 },
      { type: 'authenticated', epoch: 1 },
      { type: 'stats', epoch: 1 },
    );
    session.now += 30_000;
    const waits: unknown[] = [];
    for (let failures = 0; failures < 3; failures += 1) {
      session.do({ type: 'due' }, failed(DOWN));
      waits.push(timersOf(session.state, 0).find(({ type }) => type === 'due')?.at);
    }
    expect(waits).toEqual([5_000, 10_000, 20_000].map((ms) => expect.closeTo(session.now + ms, 3)));
  });
});

describe('a rejected console', () => {
  const refused = () => {
    const session = new Stepper().do({ type: 'try', isFresh: false });
    const event: MachineEvent = {
      type: 'closed',
      epoch: 1,
      failure: { reason: 'upgrade_refused', problem: ORIGIN },
    };
    return session.do({ type: 'tokenFetched', token: session.token }, event);
  };

  it('is retried with a new token after the old one expires, after all other calls', () => {
    const session = refused();
    session.now += 590_000;
    session.do(retry);
    expect(session.fetch).toBe('retry');
  });
});

describe('a call for credentials', () => {
  it('is a retry after three failures, unless their cause may be resolved', () => {
    const session = new Stepper().do({ type: 'try', isFresh: false });
    const priorities: unknown[] = [session.fetch];
    for (let failures = 0; failures < 3; failures += 1) {
      session.do(failed(DOWN), retry);
      priorities.push(session.fetch);
    }
    session.do(failed(DOWN), { type: 'wake' });
    priorities.push(session.fetch);
    expect(priorities).toEqual(['connect', 'connect', 'connect', 'retry', 'connect']);
  });
});

it('a new token that replaces a reused one is no retry: a rejected old token means nothing for it', () => {
  const session = new Stepper().do({ type: 'try', isFresh: false });
  session.do({ type: 'tokenFetched', token: session.token });
  const failure = { reason: 'connect_failed', problem: DOWN } as const;
  for (let failures = 0; failures < 5; failures += 1)
    session.do({ type: 'closed', epoch: session.state.epoch, failure }, retry);
  const { epoch } = session.state;
  session.do({ type: 'opened', epoch });
  session.do({ type: 'jwtError', epoch, fixable: true, failure: () => failure });
  expect(session.fetch).toBe('connect');
});
