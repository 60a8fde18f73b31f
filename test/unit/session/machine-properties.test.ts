import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import type { CauseCode } from '../../../src/domain/problem.ts';
import { PTERODACTYL } from '../../../src/panel/dialects/pterodactyl.ts';
import {
  closeFailure,
  daemonFailure,
  type Failure,
  jwtFailure,
  lastingRefusal,
} from '../../../src/session/failure.ts';
import { type MachineContext, step } from '../../../src/session/machine.ts';
import {
  effectsOf,
  hasSocket,
  INITIAL_STATE,
  type MachineEffect,
  type MachineEvent,
  type MachineState,
  type Timer,
  type Token,
  timersOf,
} from '../../../src/session/machine-model.ts';

/** Something that happens if the world is in a state that allows it. */
interface Occurrence {
  readonly what:
    | 'start'
    | 'stop'
    | 'wake'
    | 'fetched'
    | 'fetch fails'
    | 'opened'
    | 'refused'
    | 'closed'
    | 'authenticated'
    | 'jwt error'
    | 'daemon error'
    | 'token ending'
    | 'stats'
    | 'timer'
    | 'late';
  /** Selects one of the variants. */
  readonly pick: number;
  /** The time since the previous one, in milliseconds. */
  readonly afterMs: number;
  readonly random: number;
}

const ALL_CAUSES = Object.keys(CAUSES) as CauseCode[];
const FAILURES: readonly Failure[] = [
  { reason: 'no_token', problem: { cause: 'timeout', detail: 'no response' } },
  { reason: 'no_token', problem: { cause: 'rate_limited', detail: 'slow down', retryAfterMs: 120_000 } },
  { reason: 'upgrade_refused', problem: { cause: 'upgrade_redirected', detail: '' }, dropToken: true },
  ...ALL_CAUSES.map((cause): Failure => ({ reason: 'no_token', problem: { cause, detail: 'why' } })),
];
const JWT_ERRORS = [
  'jwt: exp claim is invalid',
  'jwt: server uuid mismatch',
  'jwt: missing connect permission',
  'jwt: something new',
];
const CLOSE_CODES = [1000, 1001, 1006, 1009, 4400, 4409];
const LIFETIMES_MS = [1, 20_000, 600_000, 900_000];
const URLS = ['wss://node-1/ws', 'wss://node-2/ws'];

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

  apply({ what, pick, afterMs, random }: Occurrence): void {
    this.now += afterMs;
    this.#random = random;
    const event = this.#event(what, pick);
    if (event === undefined) return;
    this.dispatch(event);
    if (event.type === 'stop') this.#expectNothingLeft();
  }

  dispatch(event: MachineEvent): void {
    const context: MachineContext = {
      now: this.now,
      random: this.#random,
      timeouts: { connectTimeoutMs: 10_000, authTimeoutMs: 12_000 },
      isCurrent: () => true,
      target: { node: undefined, blocked: undefined },
    };
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

  /** Only time passes: the timer that is due first fires. */
  fireFirstTimer(): void {
    const [first] = [...this.timers].sort(([, a], [, b]) => a - b);
    if (first === undefined) return;
    this.now = Math.max(this.now, first[1]);
    this.dispatch(this.#timeout(first[0]));
  }

  #event(what: Occurrence['what'], pick: number): MachineEvent | undefined {
    const { epoch } = this.state;
    switch (what) {
      case 'start':
        return { type: 'try', isFresh: pick % 2 === 0 };
      case 'stop':
      case 'wake':
        return { type: what };
      case 'fetched':
      case 'fetch fails':
        return this.#fetchEvent(what, pick);
      case 'timer':
        return this.#timerEvent(pick);
      case 'late':
        return this.#socketEvent(at(['closed', 'jwt error', 'daemon error'] as const, pick), epoch - 1, pick);
      case 'opened':
      case 'refused':
        return this.socket?.open === false ? this.#socketEvent(what, epoch, pick) : undefined;
      case 'closed':
        return this.socket === undefined ? undefined : this.#socketEvent(what, epoch, pick);
      case 'authenticated':
      case 'jwt error':
      case 'daemon error':
      case 'token ending':
      case 'stats':
        return this.socket?.open === true ? this.#socketEvent(what, epoch, pick) : undefined;
    }
  }

  #fetchEvent(what: 'fetched' | 'fetch fails', pick: number): MachineEvent | undefined {
    if (!this.fetching) return undefined;
    this.fetching = false;
    if (what === 'fetch fails') return { type: 'tokenFailed', failure: at(FAILURES, pick) };
    return { type: 'tokenFetched', token: this.token(pick) };
  }

  token(pick: number): Token {
    const lifetimeMs = at(LIFETIMES_MS, pick >> 1);
    return {
      value: `token ${pick}`,
      socketUrl: at(URLS, pick),
      refreshAt: this.now + lifetimeMs * 0.8,
      expiresAt: this.now + lifetimeMs,
    };
  }

  /** A retry is up to the session. */
  #timeout(type: Timer['type']): MachineEvent {
    const { name } = this.state;
    return name === 'backingOff' || name === 'blocked' ? { type: 'try', isFresh: false } : { type };
  }

  #timerEvent(pick: number): MachineEvent | undefined {
    const names = [...this.timers.keys()];
    const timer = names[pick % Math.max(1, names.length)];
    if (timer === undefined) return undefined;
    this.now = Math.max(this.now, this.timers.get(timer) ?? 0);
    return this.#timeout(timer);
  }

  #socketEvent(what: Occurrence['what'], epoch: number, pick: number): MachineEvent | undefined {
    const isOurs = epoch === this.socket?.epoch;
    switch (what) {
      case 'opened':
        if (this.socket !== undefined) this.socket.open = true;
        return { type: 'opened', epoch };
      case 'refused':
        this.socket = undefined;
        return { type: 'closed', epoch, failure: at(FAILURES, pick) };
      case 'closed':
        if (isOurs) this.socket = undefined;
        return {
          type: 'closed',
          epoch,
          failure: closeFailure({ code: at(CLOSE_CODES, pick), text: 'closed' }, PTERODACTYL.socket),
        };
      case 'jwt error': {
        const text = at(JWT_ERRORS, pick);
        const failure = () => jwtFailure(text, PTERODACTYL.socket);
        return { type: 'jwtError', epoch, fixable: text.includes('exp'), failure };
      }
      case 'daemon error':
        return { type: 'daemonError', epoch, failure: () => daemonFailure('an unexpected error') };
      case 'authenticated':
        return { type: 'authenticated', epoch };
      case 'token ending':
        return { type: 'tokenEnding', epoch };
      case 'stats':
        this.#heardAt = this.now;
        return { type: 'stats', epoch };
      default:
        return undefined;
    }
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

const occurrence: fc.Arbitrary<Occurrence> = fc.record({
  what: fc.oneof<fc.WeightedArbitrary<Occurrence['what']>[]>(
    // Steps toward a streaming socket are more frequent, so that runs get far.
    {
      weight: 24,
      arbitrary: fc.constantFrom(
        'start',
        'fetched',
        'opened',
        'authenticated',
        'stats',
        'timer',
        'token ending',
      ),
    },
    {
      weight: 6,
      arbitrary: fc.constantFrom(
        'wake',
        'fetch fails',
        'refused',
        'closed',
        'jwt error',
        'daemon error',
        'late',
      ),
    },
    { weight: 1, arbitrary: fc.constant('stop') },
  ),
  pick: fc.nat({ max: 999 }),
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
          if (world.fetching) {
            world.fetching = false;
            world.dispatch({ type: 'tokenFetched', token: world.token(0) });
          } else world.fireFirstTimer();
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
