import { CAUSES } from '../../../src/diagnosis/causes.ts';
import { type Cancel, sleep } from '../../../src/domain/clock.ts';
import type { CauseCode, Problem } from '../../../src/domain/problem.ts';
import type { CollectionStatus } from '../../../src/domain/reading.ts';
import { ServerRecord } from '../../../src/fleet/server-record.ts';
import { sessionLog } from '../../../src/fleet/session-log.ts';
import type { ClientMessage, Credentials, Resources } from '../../../src/panel/dialect.ts';
import { PTERODACTYL } from '../../../src/panel/dialects/pterodactyl.ts';
import { PanelError } from '../../../src/panel/errors.ts';
import { TOKEN_CALLS } from '../../../src/panel/start-at.ts';
import { Session } from '../../../src/session/session.ts';
import type { SessionContext } from '../../../src/session/session-ports.ts';
import type { ConsoleSocket, SocketListener } from '../../../src/session/socket.ts';
import { Outbox } from '../../../src/session/socket-pacing.ts';
import { NOTHING_KNOWN, type Surroundings } from '../../../src/session/surroundings.ts';
import { collectingLogger } from '../../support/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { sampleOf } from '../../support/samples.ts';
import { target } from '../../support/targets.ts';

/** How the panel responds from now on. */
export const PANEL_BEHAVIORS = [
  'well',
  'slow',
  'hangs',
  'fails',
  'refuses the key',
  'denies the console',
  'forbids',
  'suspended',
  'shows a challenge page',
  'limits',
  'short tokens',
  'moves the server',
  'bad address',
] as const;

/** How the node treats sockets that are opened from now on. */
export const NODE_BEHAVIORS = [
  'well',
  'slow',
  'hangs',
  'refuses',
  'forbids',
  'has no such server',
  'throws',
  'ignores auth',
  'fails on the token',
  'calls the token expired',
  'calls the token wrong',
  'asks for tokens',
] as const;

/** How the server is monitored from now on. */
export const ROLES = ['stream', 'poll', 'blocked by the server list', 'without room', 'stopped'] as const;

/** What the session may see of its panel and node, besides nothing new: that something works again. */
export const HEALTH = ['panel', 'sockets', 'polls', 'listed', 'recovered', 'nothing'] as const;

/** One event of a history. */
export type WorldEvent =
  | { readonly wait: number }
  | { readonly panel: (typeof PANEL_BEHAVIORS)[number] }
  | { readonly node: (typeof NODE_BEHAVIORS)[number]; readonly closeMs: number }
  | { readonly role: (typeof ROLES)[number] }
  | { readonly frame: string; readonly times: number }
  | { readonly close: number }
  | { readonly health: (typeof HEALTH)[number] }
  | { readonly sockets: 'open' | 'closed' };

/** Rates that a session must never exceed: frames to one socket, credential calls for one server. */
const FRAMES_PER_SECOND = 2;
const CREDENTIALS_PER_MINUTE = 2;

/** While a node's sockets are blamed, one of them is tried after each such gap. */
const TRIAL_GAP_MS = 60_000;

const ALL_CAUSES = Object.keys(CAUSES) as CauseCode[];
const NODE_DOWN: Problem = { cause: 'node_connection', detail: 'no connection to the node' };

/** The API client gives up a call that hangs. */
const REQUEST_TIMEOUT_MS = 25_000;

const RUNNING: Resources = {
  sample: sampleOf({ state: 'running', memoryBytes: 7 }),
  suspended: false,
  badFields: 0,
};
const STATS = JSON.stringify({ event: 'stats', args: ['{"state":"running","memory_bytes":7}'] });

/** More timers than this within a second mean a busy loop. */
const TIMERS_PER_SECOND = 1_000;

/** A clock whose timers take whole milliseconds, at least one, as in Node.js. It stops busy loops. */
class NodeLikeClock extends ManualClock {
  #since = 0;
  #timers = 0;

  override schedule(delayMs: number, run: () => void): Cancel {
    const now = this.now();
    if (now - this.#since >= 1_000) [this.#since, this.#timers] = [now, 0];
    this.#timers += 1;
    if (this.#timers > TIMERS_PER_SECOND) throw new Error('a loop of timers');
    return super.schedule(Math.max(1, Math.ceil(delayMs)), run);
  }
}

/** A session with a simulated panel, node, sockets and clock. */
export class SessionWorld {
  readonly clock = new NodeLikeClock();
  readonly log = collectingLogger();
  readonly session: Session;
  panelBehavior: (typeof PANEL_BEHAVIORS)[number] = 'well';
  nodeBehavior: (typeof NODE_BEHAVIORS)[number] = 'well';
  closeMs = 0;
  role: (typeof ROLES)[number] = 'stopped';
  /** Whether the node's sockets work. */
  isNodeOpen = true;
  /** Violations of the session's rules. Throwing them where they happen would look like a failure of the panel or node. */
  readonly violations: string[] = [];
  /** Sockets that are not closed yet. */
  readonly live = new Set<FakeSocket>();
  /** When it last happened. */
  readonly #health = new Map<(typeof HEALTH)[number], number>();
  readonly #record = new ServerRecord(target(), { socket: 60_000, poll: 75_000 });
  /** When the last credential calls ended, or started. */
  readonly #tokenCalls: { at: number }[] = [];
  readonly #credentialCalls: number[] = [];
  /** The session tries its node's sockets. */
  #isTrying = false;
  #cancelTrial: Cancel = () => undefined;
  #random: number;

  /** All randomness is derived from the seed. */
  constructor(seed: number) {
    this.#random = seed;
    this.session = new Session(this.#context(), this.#record);
  }

  get condition(): string {
    return this.#record.status.condition;
  }

  async apply(event: WorldEvent): Promise<void> {
    if ('wait' in event) await this.clock.advance(event.wait);
    else if ('panel' in event) this.panelBehavior = event.panel;
    else if ('node' in event) {
      this.nodeBehavior = event.node;
      this.closeMs = event.closeMs;
    } else if ('role' in event) this.assume(event.role);
    else if ('sockets' in event) this.setSockets(event.sockets);
    else if ('health' in event) this.see(event.health);
    else if ('close' in event) this.newest?.closedByNode(event.close);
    else for (let time = 0; time < event.times; time += 1) this.newest?.receives(event.frame);
    await this.clock.advance(0);
    this.violations.push(...violationsIn(this.#record.status));
  }

  assume(role: (typeof ROLES)[number]): void {
    this.role = role;
    this.#record.target = target({
      mode: role === 'poll' ? 'poll' : 'auto',
      ...(role === 'blocked by the server list' && { blocked: 'suspended' }),
    });
    this.see();
  }

  /** The session sees what is now, and that something works again. */
  see(what: (typeof HEALTH)[number] = 'nothing'): void {
    this.#health.set(what, this.clock.now());
    this.session.sees(this.#surroundings(this.role !== 'stopped'));
  }

  #surroundings(isRunning: boolean): Surroundings {
    const at = (what: (typeof HEALTH)[number]) => this.#health.get(what) ?? Number.NEGATIVE_INFINITY;
    const panelJudgedAt = at('panel');
    const panelProblem = this.#panelProblem;
    const recovered = new Map(ALL_CAUSES.map((cause) => [cause, at('recovered')]));
    return {
      ...NOTHING_KNOWN,
      now: this.clock.now(),
      isRunning,
      target: this.#record.target,
      listedAt: at('listed'),
      hasRoom: this.role !== 'without room',
      sockets: {
        heldBy: panelProblem ?? (this.isNodeOpen ? undefined : NODE_DOWN),
        panelJudgedAt,
        nodeJudgedAt: at('sockets'),
      },
      polls: { heldBy: panelProblem, panelJudgedAt, nodeJudgedAt: at('polls') },
      mayConnect: this.isNodeOpen || this.#isTrying,
      trial: this.#isTrying ? { isFresh: false } : undefined,
      recovered,
      recoveredOnNode: recovered,
    };
  }

  /** Blames the node's sockets, or no longer. */
  setSockets(state: 'open' | 'closed'): void {
    const wasOpen = this.isNodeOpen;
    this.isNodeOpen = state === 'closed';
    if (this.isNodeOpen) {
      this.#cancelTrial();
      this.#isTrying = false;
    } else if (wasOpen) this.#tryLater();
    this.see(this.isNodeOpen ? 'sockets' : 'nothing');
  }

  get newest(): FakeSocket | undefined {
    return [...this.live].at(-1);
  }

  #context(): SessionContext {
    return {
      clock: this.clock,
      log: sessionLog(this.log),
      random: () => this.#chance(),
      panel: {
        credentials: async (_server, _ask, signal) => {
          for (;;) {
            const now = this.clock.now();
            const recent = this.#tokenCalls.filter(({ at }) => at > now - 60_000);
            const oldest = recent.at(-TOKEN_CALLS);
            if (oldest === undefined) break;
            await sleep(this.clock, oldest.at + 60_000 - now, signal);
          }
          const call = { at: this.clock.now() };
          this.#tokenCalls.push(call);
          try {
            return await this.#credentials(signal);
          } finally {
            call.at = this.clock.now();
          }
        },
        resources: (_server, _ask, signal) => this.#resources(signal),
        isCurrent: () => true,
        socketEnded: () => {
          this.#isTrying = false;
        },
      },
      telemetry: {
        message: () => undefined,
        badMessage: () => undefined,
        reconnect: () => undefined,
        request: () => undefined,
      },
      settings: {
        origin: 'https://panel.example.com',
        connectTimeoutMs: 10_000,
        authTimeoutMs: 12_000,
      },
      surroundings: (_, isRunning) => this.#surroundings(isRunning),
      codec: PTERODACTYL.socket,
      openSocket: (url, listener) => this.#open(url, listener) as unknown as ConsoleSocket,
      addressProblem: (url) =>
        url.startsWith('wss:')
          ? undefined
          : { cause: 'socket_address', detail: 'expected a wss:// socket address' },
      isProxied: () => false,
    };
  }

  // The same seed gives the same random numbers, so a failure can be reproduced.
  #chance(): number {
    this.#random = (this.#random * 1_103_515_245 + 12_345) % 2_147_483_648;
    return this.#random / 2_147_483_648;
  }

  async #credentials(signal: AbortSignal): Promise<Credentials> {
    const now = this.clock.now();
    this.#credentialCalls.push(now);
    const recent = this.#credentialCalls.filter((at) => now - at < 60_000);
    if (recent.length > CREDENTIALS_PER_MINUTE)
      this.violations.push(`${recent.length} credential calls per minute`);
    await this.#answer(signal);
    const moved = this.panelBehavior === 'moves the server' ? Math.floor(this.#chance() * 3) : 0;
    return {
      token: `token of ${now}`,
      socketUrl: this.panelBehavior === 'bad address' ? 'ftp://node/ws' : `wss://node-${moved}/ws`,
      lifetimeMs: this.panelBehavior === 'short tokens' ? Math.ceil(this.#chance() * 60_000) : 600_000,
    };
  }

  /** Refusals of the key are the panel's problem, as its gateway would show. */
  get #panelProblem(): Problem | undefined {
    return this.panelBehavior === 'refuses the key' ? PROBLEMS['refuses the key'] : undefined;
  }

  /** While the node's sockets are in trouble, the session tries them once a minute. */
  #tryLater(): void {
    this.#cancelTrial = this.clock.schedule(TRIAL_GAP_MS, () => {
      this.#isTrying = true;
      this.see();
      this.#tryLater();
    });
  }

  /** Stops the session, and everything that would act on it. */
  stop(): Promise<void> {
    this.#cancelTrial();
    this.assume('stopped');
    return this.session.closing;
  }

  async #resources(signal: AbortSignal): Promise<Resources> {
    await this.#answer(signal);
    return this.panelBehavior === 'short tokens' ? { ...RUNNING, sample: undefined } : RUNNING;
  }

  /** Waits as long as the panel takes to respond, and rejects if the panel does. */
  async #answer(signal: AbortSignal): Promise<void> {
    // A call that is withdrawn at the moment of its admission isn't made.
    signal.throwIfAborted();
    const behavior = this.panelBehavior;
    if (behavior === 'hangs') await this.#pass(REQUEST_TIMEOUT_MS, signal);
    else if (behavior === 'slow') await this.#pass(Math.floor(this.#chance() * 20_000), signal);
    const problem = PROBLEMS[behavior];
    if (problem !== undefined) throw new PanelError(problem);
  }

  #pass(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = this.clock.schedule(ms, resolve);
      signal.addEventListener('abort', () => {
        cancel();
        reject(signal.reason as Error);
      });
    });
  }

  #open(url: string, listener: SocketListener): FakeSocket {
    if (this.live.size > 0) this.violations.push('a second socket');
    if (this.nodeBehavior === 'throws') throw new SyntaxError(`the URL is invalid: ${url}`);
    return new FakeSocket(this, listener);
  }
}

const PROBLEMS: Partial<Record<(typeof PANEL_BEHAVIORS)[number], Problem>> = {
  hangs: { cause: 'timeout', detail: 'no response within 25 s' },
  fails: { cause: 'panel_error', detail: 'returned 500' },
  'refuses the key': { cause: 'key_refused', detail: 'returned 401' },
  'denies the console': { cause: 'key_console_permission', detail: 'returned 403' },
  forbids: { cause: 'forbidden', detail: 'returned 403' },
  suspended: { cause: 'suspended', detail: 'returned 409: "suspended"' },
  'shows a challenge page': { cause: 'challenge_page', detail: 'returned 403: "Just a moment..."' },
  limits: { cause: 'rate_limited', detail: 'returned 429', retryAfterMs: 90_000 },
};

/** Violations of what holds for every status. */
function violationsIn({ condition, blocked, problem }: CollectionStatus): readonly string[] {
  const found: string[] = [];
  if (problem !== undefined && !(problem.cause in CAUSES)) found.push(`cause ${problem.cause}`);
  if ((condition === 'blocked') !== (blocked !== undefined)) found.push(`${condition} with ${blocked}`);
  if (condition === 'blocked' && (problem === undefined || !blocks(problem.cause)))
    found.push(`blocked by ${problem?.cause}`);
  if (condition === 'failing' && problem === undefined) found.push('failing without a problem');
  return found;
}

/** Only lasting causes of the server or its node block a server. */
function blocks(cause: CauseCode): boolean {
  const { scope, lasting } = CAUSES[cause];
  return lasting && (scope === 'server' || scope === 'node');
}

/** A socket to a node with the behavior that the world had when the socket was opened. Frames go out through a real outbox. */
export class FakeSocket {
  readonly #world: SessionWorld;
  readonly #listener: SocketListener;
  readonly #behavior: (typeof NODE_BEHAVIORS)[number];
  readonly #outbox: Outbox;
  readonly #written: number[] = [];
  readonly #cancels: (() => void)[] = [];
  #opened = false;
  #detached = false;

  constructor(world: SessionWorld, listener: SocketListener) {
    this.#world = world;
    this.#listener = listener;
    this.#behavior = world.nodeBehavior;
    this.#outbox = new Outbox(world.clock, (frame) => this.#write(frame));
    world.live.add(this);
    if (this.#behavior !== 'hangs') this.#later(this.#behavior === 'slow' ? 9_000 : 20, () => this.#answer());
  }

  send(message: ClientMessage): void {
    if (message.event !== 'auth' && message.event !== 'send stats') {
      this.#world.violations.push(`the daemon sent "${message.event}"`);
    }
    if (this.#opened && !this.#detached) this.#outbox.send(PTERODACTYL.socket.encode(message));
  }

  close(): Promise<void> {
    this.#detach();
    return new Promise((resolve) => {
      this.#world.clock.schedule(this.#world.closeMs, () => {
        this.#world.live.delete(this);
        resolve();
      });
    });
  }

  receives(frame: string): void {
    if (this.#opened && !this.#detached) this.#listener.message(Buffer.from(frame), false);
  }

  closedByNode(code: number): void {
    if (this.#detached || !this.#opened) return;
    this.#end();
    this.#listener.closed({ code, text: 'closed', oversize: code === 1009 });
  }

  #later(ms: number, run: () => void): void {
    this.#cancels.push(this.#world.clock.schedule(ms, run));
  }

  #end(): void {
    this.#detach();
    this.#world.live.delete(this);
  }

  #detach(): void {
    this.#detached = true;
    for (const cancel of this.#cancels) cancel();
    this.#outbox.stop();
  }

  #answer(): void {
    if (this.#detached) return;
    const status = UPGRADE_ANSWERS[this.#behavior];
    if (status !== undefined) {
      this.#end();
      const body = 'The requested resource does not exist on this instance.';
      this.#listener.refused({ status, body, error: new Error(`Unexpected server response: ${status}`) });
      return;
    }
    this.#opened = true;
    this.#listener.opened();
  }

  #write(frame: string): void {
    const now = this.#world.clock.now();
    this.#written.push(now);
    const recent = this.#written.filter((at) => now - at < 1_000);
    if (recent.length > FRAMES_PER_SECOND) this.#world.violations.push(`${recent.length} frames a second`);
    const answers = frame.includes('"auth"') ? AUTH_ANSWERS[this.#behavior] : [STATS];
    for (const answer of answers ?? [SUCCESS]) this.#later(20, () => this.receives(answer));
  }
}

const UPGRADE_ANSWERS: Partial<Record<(typeof NODE_BEHAVIORS)[number], number>> = {
  refuses: 502,
  forbids: 403,
  'has no such server': 404,
};

const SUCCESS = '{"event":"auth success"}';

const AUTH_ANSWERS: Partial<Record<(typeof NODE_BEHAVIORS)[number], readonly string[]>> = {
  'ignores auth': [],
  'fails on the token': ['{"event":"daemon error","args":["an unexpected error was encountered"]}'],
  'calls the token expired': ['{"event":"jwt error","args":["jwt: exp claim is invalid"]}'],
  'calls the token wrong': ['{"event":"jwt error","args":["jwt: missing connect permission"]}'],
  'asks for tokens': [SUCCESS, '{"event":"token expiring"}', '{"event":"token expired"}'],
};
