import fc from 'fast-check';
import { expect, vi } from 'vitest';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import type { Cancel } from '../../../src/domain/clock.ts';
import type { CauseCode } from '../../../src/domain/problems.ts';
import type { CollectionStatus } from '../../../src/domain/snapshot.ts';
import { sleep } from '../../../src/domain/waits.ts';
import { PanelSurroundings } from '../../../src/fleet/panel-surroundings.ts';
import { ServerRecord } from '../../../src/fleet/server-record.ts';
import { sessionLog } from '../../../src/fleet/session-log.ts';
import { PanelError } from '../../../src/panel/panel-error.ts';
import { TOKEN_CALLS } from '../../../src/panel/scheduler/start-rules.ts';
import type { ClientMessage } from '../../../src/panel/socket-codec.ts';
import { atOnce } from '../../../src/session/connect-pacer.ts';
import { HandshakeRoom } from '../../../src/session/handshake-room.ts';
import { Session } from '../../../src/session/session.ts';
import type { SocketListener } from '../../../src/session/socket.ts';
import { FakeGateway, RESOURCES, SETTINGS, STATS, socketsOpenedBy } from '../../support/fleet-bench.ts';
import { describeFuzz } from '../../support/fuzz.ts';
import { EVENTS, frameText } from '../../support/hostile.ts';
import { collectingLogger } from '../../support/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { target } from '../../support/targets.ts';

/** Longer than a session's longest wait, which is a slow retry after a pause of ten minutes. */
const PATIENCE_MS = 30 * 60_000;
const FOREVER_MS = 1e9;

/** The panel's reaction to calls from now on. */
interface Panel {
  readonly cause: CauseCode | null;
  readonly takesMs: number;
  readonly lifetimeMs: number;
  readonly socketUrl: string;
  readonly hasData: boolean;
}

/** The node's reaction to sockets that are opened from now on. */
interface Node {
  /** 101 if the node accepts the socket, or 0 if its address can't be opened. */
  readonly status: number;
  readonly takesMs: number;
  /** The node's messages after a token. */
  readonly replies: readonly string[];
  readonly closeMs: number;
}

const ROLES = ['stream', 'poll', 'blocked by the server list', 'without room', 'stopped'] as const;
const NEWS = ['panel', 'sockets n1', 'polls n1', 'listed', 'recovered'] as const;

type WorldEvent =
  | { readonly wait: number }
  | { readonly panel: Panel }
  | { readonly node: Node }
  | { readonly role: (typeof ROLES)[number] }
  | { readonly frame: string; readonly times: number }
  | { readonly close: number }
  /** Another event that the session notices. */
  | { readonly news: (typeof NEWS)[number] }
  /** The start or end of an outage of the node's sockets. */
  | { readonly sockets: 'fail' | 'work' };

const SUCCESS = '{"event":"auth success"}';
const HEALTHY_PANEL: Panel = {
  cause: null,
  takesMs: 0,
  lifetimeMs: 600_000,
  socketUrl: 'wss://node-0/ws',
  hasData: true,
};
const HEALTHY_NODE: Node = { status: 101, takesMs: 20, replies: [SUCCESS], closeMs: 1_000 };

/**
 * A clock whose timers take at least one millisecond, and only whole ones, as in Node.js. It
 * detects busy loops.
 */
class NodeLikeClock extends ManualClock {
  #since = 0;
  #timers = 0;

  override schedule(delayMs: number, run: () => void): Cancel {
    const now = this.now();
    if (now - this.#since >= 1_000) [this.#since, this.#timers] = [now, 0];
    this.#timers += 1;
    if (this.#timers > 1_000) throw new Error('a loop of timers');
    return super.schedule(Math.max(1, Math.ceil(delayMs)), run);
  }
}

/** A session with a fake panel, node, sockets and clock. */
class World {
  readonly clock = new NodeLikeClock();
  readonly gateway = new FakeGateway();
  panel = HEALTHY_PANEL;
  node = HEALTHY_NODE;
  /**
   * Violations of the session's rules. Thrown as errors, they would look like failures of the panel
   * or node.
   */
  readonly violations: string[] = [];
  /** Sockets that aren't closed yet. */
  readonly live = new Set<NodeSocket>();
  readonly session: Session;
  readonly #record = new ServerRecord(target({ node: 'n1' }), { socket: 60_000, poll: 75_000 });
  readonly #known: PanelSurroundings;
  /** Times at which calls for credentials ended or, until then, started. */
  readonly #calls: { at: number }[] = [];
  #role: (typeof ROLES)[number] = 'stopped';
  #cancelTrial: Cancel = () => undefined;
  #random: number;

  /** Derives all random decisions from the seed. */
  constructor(seed: number) {
    const { clock, gateway } = this;
    this.#random = seed;
    gateway.answerCredentials = (_, signal) => this.#credentials(signal);
    gateway.answerResources = async (_, signal) => {
      const { hasData } = this.panel;
      await this.#answer(signal);
      return hasData ? RESOURCES : { ...RESOURCES, sample: undefined };
    };
    this.#known = new PanelSurroundings({ clock, gateway });
    this.session = new Session(
      {
        clock,
        log: sessionLog(collectingLogger()),
        random: () => this.#chance(),
        panel: gateway,
        telemetry: {},
        settings: SETTINGS,
        surroundings: (_, isRunning) => this.#sees(isRunning),
        sockets: {
          ...socketsOpenedBy((_, listener) => {
            if (this.live.size > 0) this.violations.push('a second socket');
            if (this.node.status === 0) throw new SyntaxError('the URL is invalid');
            return new NodeSocket(this, listener);
          }),
          inTurn: atOnce,
          handshakes: new HandshakeRoom(() => undefined, atOnce),
          addressProblem: (url) =>
            url.startsWith('wss:') ? undefined : { cause: 'socket_address', detail: 'expected wss://' },
        },
      },
      this.#record,
    );
  }

  get condition(): string {
    return this.#record.status.condition;
  }

  async apply(event: WorldEvent): Promise<void> {
    if ('wait' in event) await this.clock.advance(event.wait);
    else if ('panel' in event) {
      this.panel = event.panel;
      const { cause } = event.panel;
      // A panel that rejects the key is blamed.
      this.gateway.problems.ofPanel =
        cause !== null && CAUSES[cause].scope === 'key' ? { cause, detail: 'why' } : undefined;
    } else if ('node' in event) this.node = event.node;
    else if ('role' in event) this.assume(event.role);
    else if ('sockets' in event) this.#setSockets(event.sockets);
    else if ('news' in event) this.#see(event.news);
    else if ('close' in event) this.newest?.closedByNode(event.close);
    else for (let time = 0; time < event.times; time += 1) this.newest?.receives(event.frame);
    await this.clock.advance(0);
    this.violations.push(...violationsIn(this.#record.status));
  }

  assume(role: (typeof ROLES)[number]): void {
    this.#role = role;
    this.#record.target = target({
      node: 'n1',
      mode: role === 'poll' ? 'poll' : 'auto',
      ...(role === 'blocked by the server list' && { blocked: 'suspended' }),
    });
    this.#look();
  }

  get newest(): NodeSocket | undefined {
    return [...this.live].at(-1);
  }

  /** Stops the session and all later actions on it. */
  stop(): Promise<void> {
    this.#cancelTrial();
    this.assume('stopped');
    return this.session.closing;
  }

  #look(): void {
    this.session.sees(this.#sees(this.#role !== 'stopped'));
  }

  #sees(isRunning: boolean) {
    const hasRoom = this.#role !== 'without room';
    return this.#known.of(this.#record, { isRunning, hasRoom, ...SETTINGS });
  }

  #see(news: (typeof NEWS)[number]): void {
    if (news === 'listed') this.#known.listedAt = this.clock.now();
    else if (news !== 'recovered') this.gateway.events.emit('changed', { of: 'subject', subject: news });
    else {
      for (const cause of ALL_CAUSES)
        this.gateway.events.emit('changed', { of: 'recovery', cause, node: 'n1' });
    }
    this.#look();
  }

  #setSockets(state: 'fail' | 'work'): void {
    this.#cancelTrial();
    this.gateway.trying.clear();
    const down = { cause: 'node_connection', detail: 'no connection to the node' } as const;
    this.gateway.socketsFail('n1', state === 'fail' ? down : undefined);
    if (state === 'fail') this.#tryLater();
    this.#see('sockets n1');
  }

  /** Makes the session try the node once a minute while its sockets are blamed. */
  #tryLater(): void {
    this.#cancelTrial = this.clock.schedule(60_000, () => {
      this.gateway.trying.set(this.#record.target.id, { isFresh: false });
      this.#look();
      this.#tryLater();
    });
  }

  /** Delays the call until the rate limit allows it. The limit is the exporter's own rule. */
  async #credentials(signal: AbortSignal) {
    for (;;) {
      const waitMs = (this.#calls.at(-TOKEN_CALLS)?.at ?? 0) + 60_000 - this.clock.now();
      if (waitMs <= 0) break;
      await sleep(this.clock, waitMs, signal);
    }
    const call = { at: this.clock.now() };
    this.#calls.push(call);
    const { socketUrl, lifetimeMs } = this.panel;
    try {
      await this.#answer(signal);
    } finally {
      call.at = this.clock.now();
    }
    return { token: `token of ${call.at}`, socketUrl, lifetimeMs };
  }

  /** Waits for the panel's response time, and rejects if the panel does. */
  async #answer(signal: AbortSignal): Promise<void> {
    const { cause, takesMs } = this.panel;
    await sleep(this.clock, takesMs, signal);
    const pause = cause === 'rate_limited' && { retryAfterMs: 90_000 };
    if (cause !== null) throw new PanelError({ cause, detail: 'why', ...pause });
  }

  #chance(): number {
    this.#random = (this.#random * 1_103_515_245 + 12_345) % 2_147_483_648;
    return this.#random / 2_147_483_648;
  }
}

const ALL_CAUSES = Object.keys(CAUSES) as CauseCode[];

/** Violations of the rules for every status. */
function violationsIn({ condition, blocked, problem }: CollectionStatus): readonly string[] {
  const found: string[] = [];
  if ((condition === 'blocked') !== (blocked !== undefined)) found.push(`${condition} with ${blocked}`);
  if (condition === 'failing' && problem === undefined) found.push('failing without a problem');
  if (condition !== 'blocked') return found;
  // Only lasting causes of a server or its node block a server.
  const { scope, lasting } = CAUSES[problem?.cause ?? 'unexpected'];
  if (!lasting || (scope !== 'server' && scope !== 'node')) found.push(`blocked by ${problem?.cause}`);
  return found;
}

/** A socket to a node. The node's reaction is the one at the time of the opening. */
class NodeSocket {
  readonly #world: World;
  readonly #listener: SocketListener;
  readonly #node: Node;
  readonly #cancels: Cancel[] = [];
  #state: 'opening' | 'open' | 'ended' = 'opening';

  constructor(world: World, listener: SocketListener) {
    this.#world = world;
    this.#listener = listener;
    this.#node = world.node;
    world.live.add(this);
    this.#later(this.#node.takesMs, () => this.#respond());
  }

  send({ event }: ClientMessage): void {
    if (event !== 'auth' && event !== 'send stats') this.#world.violations.push(`the daemon sent "${event}"`);
    for (const reply of event === 'auth' ? this.#node.replies : [STATS])
      this.#later(20, () => this.receives(reply));
  }

  close(): Promise<void> {
    this.#end();
    return new Promise((resolve) => {
      this.#world.clock.schedule(this.#node.closeMs, () => {
        this.#world.live.delete(this);
        resolve();
      });
    });
  }

  receives(frame: string): void {
    if (this.#state === 'open') this.#listener.message(Buffer.from(frame), false);
  }

  closedByNode(code: number): void {
    if (this.#state !== 'open') return;
    this.#end();
    this.#world.live.delete(this);
    this.#listener.closed({ code, text: 'closed', oversize: code === 1009 });
  }

  #later(ms: number, run: () => void): void {
    if (this.#state !== 'ended') this.#cancels.push(this.#world.clock.schedule(ms, run));
  }

  #end(): void {
    this.#state = 'ended';
    for (const cancel of this.#cancels) cancel();
  }

  #respond(): void {
    const { status } = this.#node;
    if (status === 101) {
      this.#state = 'open';
      this.#listener.opened();
      return;
    }
    this.#end();
    this.#world.live.delete(this);
    const body = 'The requested resource does not exist on this instance.';
    this.#listener.refused({
      response: { status, body },
      error: new Error(`Unexpected server response: ${status}`),
    });
  }
}

const JWT_ERRORS = ['jwt: exp claim is invalid', 'jwt: missing connect permission'].map((text) =>
  JSON.stringify({ event: 'jwt error', args: [text] }),
);
const DAEMON_ERROR = JSON.stringify({ event: 'daemon error', args: ['an unexpected error was encountered'] });

const frame = fc.oneof(
  frameText,
  fc.constantFrom(...EVENTS).map((event) => JSON.stringify({ event })),
  fc.constantFrom(...JWT_ERRORS, DAEMON_ERROR),
);

const takesMs = fc.constantFrom(0, 20, 9_000, 25_000);

const panel: fc.Arbitrary<Panel> = fc.record({
  cause: fc.option(fc.constantFrom(...ALL_CAUSES)),
  takesMs,
  lifetimeMs: fc.oneof(fc.constant(600_000), fc.integer({ min: 1, max: 60_000 })),
  socketUrl: fc.constantFrom('wss://node-0/ws', 'wss://node-1/ws', 'ftp://node/ws'),
  hasData: fc.boolean(),
});

const node: fc.Arbitrary<Node> = fc.record({
  status: fc.constantFrom(101, 101, 101, 101, 0, 403, 404, 502),
  takesMs: fc.oneof(takesMs, fc.constant(FOREVER_MS)),
  replies: fc.constantFrom(
    [SUCCESS],
    [SUCCESS, '{"event":"token expiring"}', '{"event":"token expired"}'],
    [DAEMON_ERROR],
    JWT_ERRORS.slice(0, 1),
    JWT_ERRORS.slice(1),
    [],
  ),
  closeMs: fc.nat({ max: 1_000 }),
});

const worldEvent: fc.Arbitrary<WorldEvent> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      wait: fc.oneof(fc.nat({ max: 100 }), fc.nat({ max: 20_000 }), fc.nat({ max: 700_000 })),
    }),
  },
  { weight: 3, arbitrary: fc.record({ panel: fc.oneof(fc.constant(HEALTHY_PANEL), panel) }) },
  { weight: 3, arbitrary: fc.record({ node: fc.oneof(fc.constant(HEALTHY_NODE), node) }) },
  { weight: 3, arbitrary: fc.record({ role: fc.constantFrom('stream', ...ROLES) }) },
  { weight: 4, arbitrary: fc.record({ frame, times: fc.constantFrom(1, 1, 50) }) },
  {
    weight: 2,
    arbitrary: fc.record({ close: fc.constantFrom(1000, 1001, 1006, 1009, 1011, 4400, 4409) }),
  },
  { weight: 2, arbitrary: fc.record({ news: fc.constantFrom(...NEWS) }) },
  { weight: 2, arbitrary: fc.record({ sockets: fc.constantFrom('fail', 'work') }) },
);

describeFuzz({
  folder: 'session',
  holds: 'a session has at most one socket, knows the cause of each problem, and always recovers',
  runs: 250,
  input: fc.record({
    seed: fc.nat({ max: 2_147_483_647 }),
    events: fc.array(worldEvent, { minLength: 1, maxLength: 40, size: 'max' }),
  }),
  expectHeld: async ({ seed, events }) => {
    const world = new World(seed);
    world.assume('stream');
    for (const each of events) await world.apply(each);

    const recovery: readonly WorldEvent[] = [
      { panel: HEALTHY_PANEL },
      { node: HEALTHY_NODE },
      { close: 1006 },
      { role: 'stream' },
      { sockets: 'work' },
    ];
    for (const each of recovery) await world.apply(each);
    for (let waited = 0; waited < PATIENCE_MS && world.condition !== 'streaming'; waited += 5_000) {
      await world.clock.advance(5_000);
    }
    expect(world.condition, 'after everything recovered').toBe('streaming');
    expect(world.live.size).toBe(1);

    const stopped = vi.fn<() => void>();
    void world.stop().then(stopped);
    // A second for the response to the close frame, and a moment for the node to close.
    await world.clock.advance(1_001);
    const left = { sockets: world.live.size, timers: world.clock.pending };
    expect(world.violations).toEqual([]);
    expect({ stopped: stopped.mock.calls.length, ...left }).toEqual({ stopped: 1, sockets: 0, timers: 0 });
  },
});
