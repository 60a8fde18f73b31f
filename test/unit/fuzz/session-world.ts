import { CAUSES } from '../../../src/diagnosis/causes.ts';
import type { Cancel } from '../../../src/domain/clock.ts';
import type { CauseCode, Problem } from '../../../src/domain/problem.ts';
import type { CollectionStatus } from '../../../src/domain/reading.ts';
import { ServerRecord } from '../../../src/fleet/server-record.ts';
import type { ClientMessage, Credentials, Resources } from '../../../src/panel/dialect.ts';
import { PTERODACTYL } from '../../../src/panel/dialects/pterodactyl.ts';
import { PanelError } from '../../../src/panel/errors.ts';
import { Session } from '../../../src/session/session.ts';
import type { Role, SessionContext } from '../../../src/session/session-ports.ts';
import type { ConsoleSocket, SocketListener } from '../../../src/session/socket.ts';
import { Outbox } from '../../../src/session/socket-pacing.ts';
import { collectingLogger } from '../../support/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { target } from '../../support/targets.ts';

/** How the panel answers from now on. */
export const PANEL_WAYS = [
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
export const NODE_WAYS = [
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

/** What the session is to do from now on. */
export const ROLES = ['stream', 'poll', 'rest'] as const;

/** One thing that happens. */
export type Happening =
  | { readonly wait: number }
  | { readonly panel: (typeof PANEL_WAYS)[number] }
  | { readonly node: (typeof NODE_WAYS)[number]; readonly closeMs: number }
  | { readonly role: (typeof ROLES)[number] }
  | { readonly frame: string; readonly times: number }
  | { readonly close: number }
  | { readonly health: 'wake' | 'refresh' };

/** The rates that no far end may see exceeded: frames to one socket, credential calls for one server. */
const FRAMES_PER_SECOND = 2;
const CREDENTIALS_PER_MINUTE = 2;

/** A call that hangs is given up by the API client. */
const REQUEST_TIMEOUT_MS = 25_000;

const RUNNING: Resources = { sample: { state: 'running', memoryBytes: 7 }, suspended: false, badFields: 0 };
const STATS = JSON.stringify({ event: 'stats', args: ['{"state":"running","memory_bytes":7}'] });

/** More timers than this within a second are a loop that does nothing but wait for itself. */
const TIMERS_PER_SECOND = 1_000;

/** A clock whose timers take whole milliseconds, one at least, as Node's do; it ends what loops. */
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

/** A session with everything around it made up: its panel, its node, its sockets and the time. */
export class SessionWorld {
  readonly clock = new NodeLikeClock();
  readonly log = collectingLogger();
  readonly session: Session;
  panelWay: (typeof PANEL_WAYS)[number] = 'well';
  nodeWay: (typeof NODE_WAYS)[number] = 'well';
  closeMs = 0;
  role: (typeof ROLES)[number] = 'rest';
  /** What no session may do, as it did it: thrown where it happens, it would pass for the far end's trouble. */
  readonly breaches: string[] = [];
  /** Sockets that are not yet gone. */
  readonly live = new Set<MadeUpSocket>();
  readonly #record = new ServerRecord(target(), { socket: 60_000, poll: 75_000 });
  readonly #credentialCalls: number[] = [];
  #random: number;

  /** Chance follows from the seed alone. */
  constructor(seed: number) {
    this.#random = seed;
    this.session = new Session(this.#context(), this.#record);
  }

  get condition(): string {
    return this.#record.status.condition;
  }

  async happen(happening: Happening): Promise<void> {
    if ('wait' in happening) await this.clock.advance(happening.wait);
    else if ('panel' in happening) this.panelWay = happening.panel;
    else if ('node' in happening) {
      this.nodeWay = happening.node;
      this.closeMs = happening.closeMs;
    } else if ('role' in happening) this.assume(happening.role);
    else if ('health' in happening) this.session[happening.health]();
    else if ('close' in happening) this.newest?.closedByNode(happening.close);
    else for (let time = 0; time < happening.times; time += 1) this.newest?.hears(happening.frame);
    await this.clock.advance(0);
    this.breaches.push(...flawsOf(this.#record.status));
  }

  assume(name: (typeof ROLES)[number]): void {
    this.role = name;
    const roles: Record<(typeof ROLES)[number], Role> = {
      stream: { type: 'stream', pollIntervalMs: 30_000 },
      poll: { type: 'poll', pollIntervalMs: 30_000, firstPollAt: this.clock.now() + 5_000 },
      rest: { type: 'rest' },
    };
    this.session.assume(roles[name]);
  }

  get newest(): MadeUpSocket | undefined {
    return [...this.live].at(-1);
  }

  #context(): SessionContext {
    return {
      clock: this.clock,
      log: this.log,
      random: () => this.#chance(),
      panel: {
        credentials: (_server, _priority, signal) => this.#credentials(signal),
        resources: (_server, signal) => this.#resources(signal),
      },
      telemetry: {
        message: () => undefined,
        badMessage: () => undefined,
        reconnect: () => undefined,
        request: () => undefined,
      },
      settings: { origin: 'https://panel.example.com', connectTimeoutMs: 10_000, authTimeoutMs: 12_000 },
      codec: PTERODACTYL.socket,
      openSocket: (url, listener) => this.#open(url, listener) as unknown as ConsoleSocket,
      addressProblem: (url) =>
        url.startsWith('wss:')
          ? undefined
          : { cause: 'socket_address', detail: 'expected a wss:// socket address' },
      isProxied: () => false,
      keyProblem: () => (this.panelWay === 'refuses the key' ? PROBLEMS['refuses the key'] : undefined),
    };
  }

  // The same seed gives the same chance: a failure can be seen again.
  #chance(): number {
    this.#random = (this.#random * 1_103_515_245 + 12_345) % 2_147_483_648;
    return this.#random / 2_147_483_648;
  }

  async #credentials(signal: AbortSignal): Promise<Credentials> {
    const now = this.clock.now();
    this.#credentialCalls.push(now);
    const recent = this.#credentialCalls.filter((at) => now - at < 60_000);
    if (recent.length > CREDENTIALS_PER_MINUTE)
      this.breaches.push(`${recent.length} credential calls a minute`);
    await this.#answer(signal);
    const moved = this.panelWay === 'moves the server' ? Math.floor(this.#chance() * 3) : 0;
    return {
      token: `token of ${now}`,
      socketUrl: this.panelWay === 'bad address' ? 'ftp://node/ws' : `wss://node-${moved}/ws`,
      lifetimeMs: this.panelWay === 'short tokens' ? Math.ceil(this.#chance() * 60_000) : 600_000,
    };
  }

  async #resources(signal: AbortSignal): Promise<Resources> {
    await this.#answer(signal);
    return this.panelWay === 'short tokens' ? { ...RUNNING, sample: undefined } : RUNNING;
  }

  /** Takes the panel's time over an answer, and rejects where it refuses. */
  async #answer(signal: AbortSignal): Promise<void> {
    const way = this.panelWay;
    if (way === 'hangs') await this.#pass(REQUEST_TIMEOUT_MS, signal);
    else if (way === 'slow') await this.#pass(Math.floor(this.#chance() * 20_000), signal);
    const problem = PROBLEMS[way];
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

  #open(url: string, listener: SocketListener): MadeUpSocket {
    if (this.live.size > 0) this.breaches.push('a second socket');
    if (this.nodeWay === 'throws') throw new SyntaxError(`the URL is invalid: ${url}`);
    return new MadeUpSocket(this, listener);
  }
}

const PROBLEMS: Partial<Record<(typeof PANEL_WAYS)[number], Problem>> = {
  hangs: { cause: 'timeout', detail: 'no answer within 25 s' },
  fails: { cause: 'panel_error', detail: 'answered 500' },
  'refuses the key': { cause: 'key_refused', detail: 'answered 401' },
  'denies the console': { cause: 'key_console_permission', detail: 'answered 403' },
  forbids: { cause: 'forbidden', detail: 'answered 403' },
  suspended: { cause: 'suspended', detail: 'answered 409: "suspended"' },
  'shows a challenge page': { cause: 'challenge_page', detail: 'answered 403: "Just a moment..."' },
  limits: { cause: 'rate_limited', detail: 'answered 429', retryAfterMs: 90_000 },
};

/** What a status must never be. */
function flawsOf({ condition, blocked, problem }: CollectionStatus): readonly string[] {
  const flaws: string[] = [];
  if (problem !== undefined && !(problem.cause in CAUSES)) flaws.push(`cause ${problem.cause}`);
  if ((condition === 'blocked') !== (blocked !== undefined)) flaws.push(`${condition} with ${blocked}`);
  if (condition === 'blocked' && (problem === undefined || !blocks(problem.cause)))
    flaws.push(`blocked by ${problem?.cause}`);
  if (condition === 'failing' && problem === undefined) flaws.push('failing without a problem');
  return flaws;
}

/** Only what lasts, and is about the server or its node, blocks a server. */
function blocks(cause: CauseCode): boolean {
  const { scope, lasting } = CAUSES[cause];
  return lasting && (scope === 'server' || scope === 'node');
}

/** A socket to a node that behaves as the world says at its opening; frames go out through a real outbox. */
export class MadeUpSocket {
  readonly #world: SessionWorld;
  readonly #listener: SocketListener;
  readonly #way: (typeof NODE_WAYS)[number];
  readonly #outbox: Outbox;
  readonly #written: number[] = [];
  readonly #cancels: (() => void)[] = [];
  #opened = false;
  #detached = false;

  constructor(world: SessionWorld, listener: SocketListener) {
    this.#world = world;
    this.#listener = listener;
    this.#way = world.nodeWay;
    this.#outbox = new Outbox(world.clock, (frame) => this.#write(frame));
    world.live.add(this);
    if (this.#way !== 'hangs') this.#later(this.#way === 'slow' ? 9_000 : 20, () => this.#answer());
  }

  send(message: ClientMessage): void {
    if (message.event !== 'auth' && message.event !== 'send stats') {
      this.#world.breaches.push(`the daemon sent "${message.event}"`);
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

  terminate(): void {
    this.#detach();
    this.#world.live.delete(this);
  }

  hears(frame: string): void {
    if (this.#opened && !this.#detached) this.#listener.message(Buffer.from(frame), false);
  }

  closedByNode(code: number): void {
    if (this.#detached || !this.#opened) return;
    this.terminate();
    this.#listener.closed({ code, text: 'closed', reason: 'closed', oversize: code === 1009 });
  }

  #later(ms: number, run: () => void): void {
    this.#cancels.push(this.#world.clock.schedule(ms, run));
  }

  #detach(): void {
    this.#detached = true;
    for (const cancel of this.#cancels) cancel();
    this.#outbox.stop();
  }

  #answer(): void {
    if (this.#detached) return;
    const status = UPGRADE_ANSWERS[this.#way];
    if (status !== undefined) {
      this.terminate();
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
    if (recent.length > FRAMES_PER_SECOND) this.#world.breaches.push(`${recent.length} frames a second`);
    const answers = frame.includes('"auth"') ? AUTH_ANSWERS[this.#way] : [STATS];
    for (const answer of answers ?? [SUCCESS]) this.#later(20, () => this.hears(answer));
  }
}

const UPGRADE_ANSWERS: Partial<Record<(typeof NODE_WAYS)[number], number>> = {
  refuses: 502,
  forbids: 403,
  'has no such server': 404,
};

const SUCCESS = '{"event":"auth success"}';

const AUTH_ANSWERS: Partial<Record<(typeof NODE_WAYS)[number], readonly string[]>> = {
  'ignores auth': [],
  'fails on the token': ['{"event":"daemon error","args":["an unexpected error was encountered"]}'],
  'calls the token expired': ['{"event":"jwt error","args":["jwt: exp claim is invalid"]}'],
  'calls the token wrong': ['{"event":"jwt error","args":["jwt: missing connect permission"]}'],
  'asks for tokens': [SUCCESS, '{"event":"token expiring"}', '{"event":"token expired"}'],
};
