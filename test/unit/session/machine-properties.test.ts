import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import type { CauseCode } from '../../../src/domain/problems.ts';
import { PTERODACTYL } from '../../../src/panel/dialects/pterodactyl.ts';
import { type MachineContext, step } from '../../../src/session/machine.ts';
import {
  effectsOf,
  type Failure,
  hasSocket,
  INITIAL_STATE,
  lastingRefusal,
  type MachineEffect,
  type MachineEvent,
  type MachineState,
  type Timer,
  type Token,
  timersOf,
} from '../../../src/session/machine-model.ts';
import { closeFailure, daemonFailure, jwtFailure } from '../../../src/session/streamer.ts';

const NAMES = [
  'try',
  'stop',
  'wake',
  'tokenFetched',
  'tokenFailed',
  'opened',
  'closed',
  'authenticated',
  'jwtError',
  'daemonError',
  'tokenEnding',
  'stats',
  'timer',
] as const;

/** Something that happens, whether the machine's state allows it or not; only a timer has to be set. */
interface Occurrence {
  readonly what: (typeof NAMES)[number];
  /** Selects one of the variants. */
  readonly pick: number;
  /** Whether it is about the socket of before. */
  readonly isLate: boolean;
  /** The time since the previous one, in milliseconds. */
  readonly afterMs: number;
  readonly random: number;
}

const NODE = PTERODACTYL.socket;
const ALL_CAUSES = Object.keys(CAUSES) as CauseCode[];
const FAILURES: readonly Failure[] = [
  { reason: 'no_token', problem: { cause: 'timeout', detail: 'no response' } },
  { reason: 'no_token', problem: { cause: 'rate_limited', detail: 'slow down', retryAfterMs: 120_000 } },
  { reason: 'upgrade_refused', problem: { cause: 'upgrade_redirected', detail: '' }, dropToken: true },
  ...[1000, 1001, 1006, 1009, 4400, 4409].map((code) => closeFailure({ code, text: 'closed' }, NODE)),
  ...ALL_CAUSES.map((cause): Failure => ({ reason: 'no_token', problem: { cause, detail: 'why' } })),
];
const JWT_ERRORS = [
  'jwt: exp claim is invalid',
  'jwt: server uuid mismatch',
  'jwt: missing connect permission',
  'jwt: something new',
];
const LIFETIMES_MS = [1, 20_000, 600_000, 900_000];
const URLS = ['wss://node-1/ws', 'wss://node-2/ws'];

function tokenOf(pick: number, now: number): Token {
  const lifetimeMs = at(LIFETIMES_MS, pick >> 1);
  return {
    value: `token ${pick}`,
    socketUrl: at(URLS, pick),
    refreshAt: now + lifetimeMs * 0.8,
    expiresAt: now + lifetimeMs,
  };
}

/** What a session would hold according to the machine's states: one socket, one fetch, timers by name. */
class World {
  state: MachineState = INITIAL_STATE;
  now = 1_000_000;
  socket: { readonly epoch: number; open: boolean } | undefined;
  fetching = false;
  #random = 0;
  #newestEpoch = 0;
  #heardAt = 0;

  get timers(): ReadonlyMap<Timer['type'], number> {
    return new Map(timersOf(this.state, this.#heardAt).map(({ type, at: due }) => [type, due]));
  }

  apply({ what, pick, isLate, afterMs, random }: Occurrence): void {
    this.now += afterMs;
    this.#random = random;
    if (what === 'timer') this.fireTimer([...this.timers.keys()][pick % Math.max(1, this.timers.size)]);
    else this.dispatch(this.#event(what, pick, this.state.epoch - (isLate ? 1 : 0)));
    if (what === 'stop') this.#expectNothingLeft();
  }

  dispatch(event: MachineEvent): void {
    const context: MachineContext = {
      now: this.now,
      random: this.#random,
      timeouts: { connectTimeoutMs: 10_000, authTimeoutMs: 12_000 },
      isCurrent: () => true,
      target: { node: undefined, blocked: undefined },
    };
    this.#happens(event);
    const before = this.state;
    const state = step(before, event, context);
    const effects = effectsOf(before, state);
    if ('epoch' in event && event.epoch !== before.epoch) {
      expect(state).toBe(before);
      expect(effects).toEqual([]);
    }
    this.state = state;
    for (const effect of effects) this.#take(effect);
    this.#expectSound();
  }

  /** Time passes until a timer fires, by default the one that is due first; a retry is up to the session. */
  fireTimer(timer = [...this.timers].toSorted(([, a], [, b]) => a - b)[0]?.[0]): void {
    if (timer === undefined) return;
    this.now = Math.max(this.now, this.timers.get(timer) ?? 0);
    const { name } = this.state;
    const isResting = name === 'backingOff' || name === 'blocked';
    this.dispatch(isResting ? { type: 'try', isFresh: false } : { type: timer });
  }

  #event(what: Exclude<Occurrence['what'], 'timer'>, pick: number, epoch: number): MachineEvent {
    switch (what) {
      case 'try':
        return { type: what, isFresh: pick % 2 === 0 };
      case 'stop':
      case 'wake':
        return { type: what };
      case 'tokenFetched':
        return { type: what, token: tokenOf(pick, this.now) };
      case 'tokenFailed':
        return { type: what, failure: at(FAILURES, pick) };
      case 'closed':
        return { type: what, epoch, failure: at(FAILURES, pick) };
      case 'jwtError': {
        const text = at(JWT_ERRORS, pick);
        return { type: what, epoch, fixable: text.includes('exp'), failure: () => jwtFailure(text, NODE) };
      }
      case 'daemonError':
        return { type: what, epoch, failure: () => daemonFailure('an unexpected error') };
      case 'opened':
      case 'authenticated':
      case 'tokenEnding':
      case 'stats':
        return { type: what, epoch };
    }
  }

  /** What an event means for what the session holds. */
  #happens(event: MachineEvent): void {
    if (event.type === 'tokenFetched' || event.type === 'tokenFailed') this.fetching = false;
    if (!('epoch' in event) || event.epoch !== this.socket?.epoch) return;
    if (event.type === 'opened') this.socket.open = true;
    if (event.type === 'closed') this.socket = undefined;
    if (event.type === 'stats') this.#heardAt = this.now;
  }

  #take(effect: MachineEffect): void {
    switch (effect.type) {
      case 'fetchToken':
        expect(this.fetching, 'a second fetch').toBe(false);
        this.fetching = true;
        break;
      case 'abortFetch':
        this.fetching = false;
        break;
      case 'openSocket':
        expect(this.socket, 'a second socket').toBeUndefined();
        expect(effect.epoch).toBeGreaterThan(this.#newestEpoch);
        this.#newestEpoch = effect.epoch;
        this.socket = { epoch: effect.epoch, open: false };
        break;
      case 'closeSocket':
        this.socket = undefined;
        break;
      case 'send':
        expect(this.socket?.open, 'an open socket to send to').toBe(true);
        break;
      case 'countReconnect':
        break;
    }
  }

  #expectSound(): void {
    const { state } = this;
    expect(hasSocket(state), `a socket in ${state.name}`).toBe(this.socket !== undefined);
    if (this.socket !== undefined) expect(this.socket.epoch).toBe(state.epoch);
    if (state.name === 'idle') {
      this.#expectNothingLeft();
      return;
    }
    this.#expectDiagnosed(state);
    // A half-open socket may never report an end, so a socket alone does not guarantee progress.
    expect(this.fetching || this.timers.size > 0, `a way out of ${state.name}`).toBe(true);
    if (state.name === 'opening' || state.name === 'streaming' || state.name === 'refreshing') {
      expect([...this.timers.keys()]).toContain('silence');
    }
    if (state.name === 'backingOff' || state.name === 'blocked') {
      expect([...this.timers.keys()]).toEqual(['due']);
      expect(this.fetching).toBe(false);
    }
  }

  #expectDiagnosed(state: Exclude<MachineState, { name: 'idle' }>): void {
    const { problem } = state;
    if (problem !== undefined) expect(ALL_CAUSES).toContain(problem.cause);
    if (state.name === 'backingOff') expect(CAUSES[problem?.cause ?? 'suspended'].lasting).toBe(false);
    if (state.name === 'blocked') expect(CAUSES[problem?.cause ?? 'closed'].lasting).toBe(true);
    // A problem of the node, the panel or its key blocks no server.
    const refused = lastingRefusal(problem);
    if (refused !== undefined && refused.reason === undefined) {
      expect(['node', 'panel', 'key', 'exporter']).toContain(CAUSES[problem?.cause ?? 'closed'].scope);
    }
  }

  #expectNothingLeft(): void {
    expect(this.state.name).toBe('idle');
    expect({ socket: this.socket, fetching: this.fetching, timers: this.timers.size }).toEqual({
      socket: undefined,
      fetching: false,
      timers: 0,
    });
  }
}

function at<T>(list: readonly T[], index: number): T {
  const item = list[index % list.length];
  if (item === undefined) throw new Error('expected a list with something in it');
  return item;
}

// Steps toward a streaming socket are more frequent, so that runs get far.
const STEPS = ['try', 'tokenFetched', 'opened', 'authenticated', 'stats', 'timer', 'tokenEnding'] as const;

const occurrence: fc.Arbitrary<Occurrence> = fc.record({
  what: fc.oneof(
    { weight: 24, arbitrary: fc.constantFrom(...STEPS) },
    { weight: 6, arbitrary: fc.constantFrom(...NAMES.filter((name) => name !== 'stop')) },
    { weight: 1, arbitrary: fc.constant('stop' as const) },
  ),
  pick: fc.nat({ max: 999 }),
  isLate: fc.nat({ max: 15 }).map((one) => one === 15),
  afterMs: fc.oneof(fc.constant(0), fc.nat({ max: 1_000 }), fc.nat({ max: 700_000 })),
  random: fc.double({ min: 0, max: 0.999_999, noNaN: true }),
});

const history = fc.array(occurrence, { minLength: 1, maxLength: 80, size: 'max' });

/** The world after a start and a history. */
function worldAfter(occurrences: readonly Occurrence[]): World {
  const world = new World();
  world.dispatch({ type: 'try', isFresh: false });
  for (const each of occurrences) world.apply(each);
  return world;
}

describe('for any history', () => {
  it('there is at most one socket and one fetch, epochs increase, every state can be left, and nothing remains after a stop', () => {
    fc.assert(
      fc.property(history, (occurrences) => {
        worldAfter(occurrences).dispatch({ type: 'stop' });
      }),
      { numRuns: 500 },
    );
  });

  it('a session that receives nothing any more reconnects', () => {
    fc.assert(
      fc.property(history, (occurrences) => {
        const world = worldAfter(occurrences);
        if (world.state.name === 'idle') return;
        const { epoch } = world.state;
        // What is certain to happen even if nothing responds: timers fire, and a call to the panel ends at some point.
        for (let turn = 0; turn < 20 && world.state.epoch === epoch; turn += 1) {
          if (world.fetching) world.dispatch({ type: 'tokenFetched', token: tokenOf(0, world.now) });
          else world.fireTimer();
        }
        expect(world.state.epoch).toBeGreaterThan(epoch);
      }),
      { numRuns: 300 },
    );
  });

  it('runs reach every state', () => {
    const seen = new Set<string>();
    for (const occurrences of fc.sample(history, { numRuns: 300, seed: 7 })) {
      const world = new World();
      world.dispatch({ type: 'try', isFresh: false });
      for (const each of occurrences) {
        world.apply(each);
        seen.add(world.state.name);
      }
    }
    expect([...seen].toSorted()).toEqual([
      'authenticating',
      'backingOff',
      'blocked',
      'connecting',
      'fetchingToken',
      'idle',
      'opening',
      'refreshing',
      'streaming',
    ]);
  });
});
