import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import type { CauseCode, Problem } from '../../../src/domain/problem.ts';
import type { CollectionStatus } from '../../../src/domain/reading.ts';
import type { BlockedReason, CollectionMode } from '../../../src/domain/server.ts';
import { ServerRecord } from '../../../src/fleet/server-record.ts';
import { sessionLog } from '../../../src/fleet/session-log.ts';
import type { Resources } from '../../../src/panel/dialect.ts';
import { PTERODACTYL } from '../../../src/panel/dialects/pterodactyl.ts';
import { PanelError } from '../../../src/panel/errors.ts';
import { Session } from '../../../src/session/session.ts';
import type { SessionContext } from '../../../src/session/session-ports.ts';
import { ConsoleSocket, socketTls, type TlsMaterial } from '../../../src/session/socket.ts';
import { NOTHING_KNOWN, type Surroundings } from '../../../src/session/surroundings.ts';
import { type Certificate, createAuthority } from '../../support/certificates.ts';
import { collectingLogger } from '../../support/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { sampleOf } from '../../support/samples.ts';
import { target } from '../../support/targets.ts';

const ORIGIN = 'https://panel.example.com';
const UNKNOWN_SERVER = '{"error":"The requested resource does not exist on this instance.","request_id":"1"}';
const RUNNING: Resources = {
  sample: sampleOf({ state: 'running', memoryBytes: 7 }),
  suspended: false,
  badFields: 0,
};
const SUCCESS = '{"event":"auth success","args":null}';
const STATS = JSON.stringify({ event: 'stats', args: ['{"state":"running","memory_bytes":7}'] });
const DAEMON_ERROR = JSON.stringify({
  event: 'daemon error',
  args: ['an unexpected error was encountered while handling this request'],
});
const MINUTE_MS = 60_000;
const SLOW_RETRY_MS = 5 * MINUTE_MS;

const jwtError = (text: string) => JSON.stringify({ event: 'jwt error', args: [text] });

/** A token in the form that panels issue; its signature isn't checked here. */
function tokenWith(permissions: readonly string[] | undefined): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ permissions, exp: 1 })}.c2lnbmF0dXJl`;
}

/** One session with a fake panel and clock, and a node with a real socket. */
class Stage {
  readonly clock = new ManualClock();
  readonly log = collectingLogger();
  readonly record: ServerRecord;
  readonly session: Session;
  /** How the node responds to each token. */
  readonly answers: string[][] = [];
  /** Responds to an upgrade with something other than a socket. */
  upgrade: ((request: IncomingMessage, socket: Duplex) => void) | undefined;
  tokens = 0;
  polls = 0;
  permissions: readonly string[] | undefined = ['websocket.connect'];
  tokenProblem: Problem | undefined;
  pollProblem: Problem | undefined;
  /** Why the panel lets no call through. */
  hold: Problem | undefined;
  /** When the panel was last cleared. */
  judgedAt = Number.NEGATIVE_INFINITY;
  tls: TlsMaterial = {};
  isProxied = false;
  sentTokens: string[] = [];
  readonly #beganAt = this.clock.now();
  readonly #connections = new Set<Duplex>();
  #server: Server | undefined;
  #url = '';

  constructor(mode: CollectionMode = 'auto') {
    this.record = new ServerRecord(target({ mode }), { socket: 60_000, poll: 75_000 });
    this.session = new Session(this.#context(), this.record);
  }

  get status(): CollectionStatus {
    return this.record.status;
  }

  /** The time that passed on the session's clock. */
  get passedMs(): number {
    return this.clock.now() - this.#beganAt;
  }

  async startNode(certificate?: Certificate): Promise<void> {
    const server = certificate === undefined ? createServer() : createTlsServer(certificate);
    this.#server = server;
    server.on('connection', (connection: Duplex) => {
      this.#connections.add(connection);
      connection.on('error', () => undefined);
    });
    const acceptor = new WebSocketServer({ noServer: true });
    server.on('upgrade', (request, socket, head) => {
      socket.on('error', () => undefined);
      if (this.upgrade !== undefined) return this.upgrade(request, socket);
      acceptor.handleUpgrade(request, socket, head, (ws) => {
        ws.on('message', (data: Buffer) => {
          const { event, args } = JSON.parse(data.toString()) as { event: string; args: string[] };
          if (event !== 'auth') return ws.send(STATS);
          this.sentTokens.push(args[0] ?? '');
          for (const frame of this.answers.shift() ?? [SUCCESS, STATS]) ws.send(frame);
        });
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    this.#url = `${certificate === undefined ? 'ws' : 'wss'}://127.0.0.1:${port}/api/servers/1a7ce997/ws`;
  }

  /** Closes the node's port. */
  async stopNode(): Promise<void> {
    for (const connection of this.#connections) connection.destroy();
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    server.close();
    await once(server, 'close');
  }

  /** Closes the node's connections. */
  cut(): void {
    for (const connection of this.#connections) connection.destroy();
  }

  async stop(): Promise<void> {
    this.cut();
    this.look(false);
    await this.session.closing;
    await this.stopNode();
  }

  /** Waits, without advancing the session's clock, until the status is as expected. */
  async until(expected: { readonly [Key in keyof CollectionStatus]?: unknown }): Promise<void> {
    await this.untilHolds(() => expect(this.status).toMatchObject(expected));
  }

  async untilHolds(check: () => void): Promise<void> {
    const look = async () => {
      await this.clock.advance(0);
      check();
    };
    await vi.waitFor(look, { timeout: 10_000, interval: 5 });
  }

  /** The session sees what is now. */
  look(isRunning = true): void {
    this.session.sees(this.#surroundings(isRunning));
  }

  #surroundings(isRunning: boolean): Surroundings {
    const way = { heldBy: this.hold, panelJudgedAt: this.judgedAt, nodeJudgedAt: Number.NEGATIVE_INFINITY };
    const { target: server } = this.record;
    return { ...NOTHING_KNOWN, now: this.clock.now(), isRunning, target: server, sockets: way, polls: way };
  }

  #context(): SessionContext {
    return {
      clock: this.clock,
      log: sessionLog(this.log),
      random: () => 0,
      codec: PTERODACTYL.socket,
      settings: {
        origin: ORIGIN,
        connectTimeoutMs: 10_000,
        authTimeoutMs: 12_000,
      },
      surroundings: (_, isRunning) => this.#surroundings(isRunning),
      telemetry: {
        message: () => undefined,
        badMessage: () => undefined,
        reconnect: () => undefined,
        request: () => undefined,
      },
      panel: {
        isCurrent: () => true,
        socketEnded: () => undefined,
        credentials: () => {
          this.tokens += 1;
          if (this.tokenProblem !== undefined) return Promise.reject(new PanelError(this.tokenProblem));
          const token = `${tokenWith(this.permissions)}${this.tokens}`;
          return Promise.resolve({ token, socketUrl: this.#url, lifetimeMs: 600_000 });
        },
        resources: () => {
          if (this.hold !== undefined) return new Promise(() => undefined);
          this.polls += 1;
          return this.pollProblem === undefined
            ? Promise.resolve(RUNNING)
            : Promise.reject(new PanelError(this.pollProblem));
        },
      },
      openSocket: (url, listener) =>
        new ConsoleSocket(
          url,
          {
            codec: PTERODACTYL.socket,
            origin: ORIGIN,
            userAgent: 'test',
            clock: this.clock,
            tls: socketTls(this.tls),
          },
          listener,
        ),
      addressProblem: () => undefined,
      isProxied: () => this.isProxied,
    };
  }
}

let stage: Stage;

beforeEach(async () => {
  stage = new Stage();
  await stage.startNode();
});

afterEach(() => stage.stop());

const refusing = (status: number, body = '') => {
  const head = `HTTP/1.1 ${status} Refused\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`;
  return (_request: IncomingMessage, socket: Duplex) => void socket.end(head + body);
};

describe('"daemon error" in response to the token', () => {
  const MISMATCH = {
    cause: 'node_token_mismatch',
    detail:
      'the node could not verify the token: "an unexpected error was encountered while handling this request"',
  };

  it('is recognized at once, and the server is polled and tried again within a minute', async () => {
    stage.answers.push([DAEMON_ERROR]);
    stage.look();
    await stage.until({ condition: 'polling', problem: MISMATCH });
    // The clock wasn't advanced through the twelve seconds that a node has for its response.
    expect(stage.passedMs).toBe(0);
    expect(stage.record.sampledAt).toBe(stage.clock.now());
    expect(stage.status).not.toHaveProperty('blocked');
    await stage.clock.advance(MINUTE_MS / 2);
    expect(stage.tokens).toBe(1);
    expect(stage.polls).toBeGreaterThanOrEqual(2);
    expect(stage.status).toMatchObject({ condition: 'polling', problem: MISMATCH });
    await stage.clock.advance(MINUTE_MS / 2);
    await stage.until({ condition: 'streaming' });
    expect(stage.status).not.toHaveProperty('problem');
  });

  it('is a warning with advice if the server may not be polled', async () => {
    await stage.stop();
    stage = new Stage('socket');
    await stage.startNode();
    stage.answers.push([DAEMON_ERROR]);
    stage.look();
    await stage.until({ condition: 'failing', problem: MISMATCH });
    expect(stage.status).not.toHaveProperty('blocked');
    expect(stage.log.lines.filter(({ level }) => level === 'warn')).toEqual([
      {
        level: 'warn',
        fields: expect.objectContaining(MISMATCH) as object,
        message: `server survival can't be monitored: ${MISMATCH.detail}. ${CAUSES.node_token_mismatch.remedy}`,
      },
    ]);
  });

  it('is not trusted after a reused token: a new one is requested first', async () => {
    stage.look();
    await stage.until({ condition: 'streaming' });
    stage.answers.push([DAEMON_ERROR], [SUCCESS, STATS]);
    stage.cut();
    await stage.until({ condition: 'failing' });
    await stage.clock.advance(10_000);
    await stage.until({ condition: 'streaming' });
    expect(stage.tokens).toBe(2);
    const [first, reused, fresh] = stage.sentTokens;
    expect(reused).toBe(first);
    expect(fresh).not.toBe(first);
    expect(stage.log.lines.filter(({ fields }) => JSON.stringify(fields).includes(MISMATCH.cause))).toEqual(
      [],
    );
  });

  it('is ignored while a socket streams, because it may have any cause', async () => {
    stage.answers.push([SUCCESS, STATS, DAEMON_ERROR]);
    stage.look();
    await stage.untilHolds(() => expect(stage.record.sampledAt).toBe(stage.clock.now()));
    await stage.clock.advance(14_000);
    expect(stage.status).toEqual({ condition: 'streaming' });
  });
});

describe('"jwt error" in response to a new token', () => {
  it.each<[string, readonly string[] | undefined, CauseCode]>([
    ['jwt: server uuid mismatch', ['websocket.connect'], 'token_wrong_server'],
    ['jwt: missing connect permission', ['control.start'], 'no_console_permission'],
    ['jwt: missing connect permission', ['websocket.connect'], 'token_version'],
    ['jwt: exp claim is invalid', ['*'], 'token_clock'],
    ['jwt: created too far in past (denylist)', ['*'], 'token_clock'],
  ])('%s, token with %j: %s', async (text, permissions, cause) => {
    stage.permissions = permissions;
    stage.answers.push([jwtError(text)]);
    stage.look();
    const problem = { cause, detail: `the node rejected the token: "${text}"` };
    await stage.until({ problem });
    expect(stage.passedMs).toBe(0);
    await stage.clock.advance(SLOW_RETRY_MS - 1_000);
    const { lasting, scope } = CAUSES[cause];
    // The first slow retry comes after a minute.
    if (lasting && scope === 'server') expect(stage.tokens).toBe(2);
    else expect(stage.tokens).toBeGreaterThan(1);
  });
});

describe('a refused upgrade', () => {
  it.each<[string, number, string, CauseCode]>([
    ["a daemon that doesn't know the server", 404, UNKNOWN_SERVER, 'server_not_on_node'],
    ['a page with status 404', 404, '<html><title>404 Not Found</title></html>', 'upgrade_refused'],
    ['a daemon that is down behind its proxy', 502, UNKNOWN_SERVER, 'upgrade_error'],
  ])('with %s (%i)', async (_what, status, body, cause) => {
    stage.upgrade = refusing(status, body);
    stage.look();
    await stage.until({
      condition: 'failing',
      problem: { cause, detail: `the node rejected the socket upgrade (${status})` },
    });
    expect(stage.passedMs).toBe(0);
  });

  it.each([
    ['with an endless response', 'x'.repeat(100)],
    ["with a response that doesn't start", ''],
  ])('%s is recognized within a second', async (_what, beginning) => {
    stage.upgrade = (_request, socket) => void socket.write(`HTTP/1.1 404 Not Found\r\n\r\n${beginning}`);
    stage.look();
    await stage.untilHolds(() => expect(stage.clock.pending).toBe(3));
    await stage.clock.advance(1_000);
    await stage.until({ problem: { cause: 'upgrade_refused' } });
  });

  it('with a huge response is recognized at once', async () => {
    stage.upgrade = (_request, socket) => {
      socket.write('HTTP/1.1 404 Not Found\r\n\r\n');
      socket.write(Buffer.alloc(8 * 1_048_576, 'x'));
    };
    stage.look();
    await stage.until({ problem: { cause: 'upgrade_refused' } });
    expect(stage.passedMs).toBe(0);
  });
});

describe('a failed connection', () => {
  it('because of an expired certificate', async () => {
    const authority = await createAuthority();
    try {
      await stage.stop();
      stage = new Stage();
      stage.tls = { ca: await readFile(authority.file, 'utf8') };
      await stage.startNode(await authority.issue('IP:127.0.0.1', 'expired'));
    } finally {
      await authority.end();
    }
    stage.look();
    await stage.until({
      condition: 'failing',
      problem: {
        cause: 'node_tls_expired',
        detail: 'connecting to the node failed: certificate has expired (CERT_HAS_EXPIRED)',
      },
    });
  });

  it.each<[string, boolean, CauseCode]>([
    ['because of a closed port', false, 'node_connection'],
    ['because of a proxy that is down', true, 'node_proxy'],
  ])('is reported if it failed %s', async (_what, isProxied, cause) => {
    await stage.stopNode();
    stage.isProxied = isProxied;
    stage.look();
    await stage.until({
      condition: 'failing',
      problem: {
        cause,
        detail: expect.stringMatching(/^connection to 127\.0\.0\.1:\d+ refused \(ECONNREFUSED\)$/),
      },
    });
  });

  it('is reported for dropped packets, and for a daemon that hangs', async () => {
    stage.upgrade = () => undefined;
    stage.look();
    await stage.until({ condition: 'connecting' });
    await stage.clock.advance(10_000);
    await stage.until({
      problem: { cause: 'node_timeout', detail: 'connecting to the node timed out' },
    });
  });
});

describe('a server that is suspended according to the server list', () => {
  /** What the panel's server list shows from now on. */
  function list(blocked: BlockedReason | undefined): void {
    stage.record.target = target({ ...(blocked !== undefined && { blocked }) });
    stage.look();
  }

  it('is blocked once its socket closes, and makes no calls', async () => {
    stage.look();
    await stage.until({ condition: 'streaming' });
    list('suspended');
    stage.cut();
    await stage.until({
      condition: 'blocked',
      blocked: 'suspended',
      problem: { cause: 'suspended', detail: "suspended according to the panel's server list" },
    });
    await stage.clock.advance(3 * SLOW_RETRY_MS);
    expect({ tokens: stage.tokens, polls: stage.polls }).toEqual({ tokens: 1, polls: 0 });
  });
});

describe('the end of a problem of the key', () => {
  const KEY: Problem = { cause: 'key_refused', detail: 'returned 401' };
  const end = () => {
    stage.hold = undefined;
    stage.tokenProblem = undefined;
    stage.pollProblem = undefined;
    stage.judgedAt = stage.clock.now() + 1;
    return stage.clock.advance(1).then(() => stage.look());
  };

  it.each<[string, Problem]>([
    ['was refused because of the key', KEY],
    ['was refused with a 401 of its own', { cause: 'unauthorized', detail: 'returned 401' }],
    [
      'lacked the console permission, like all others',
      { cause: 'key_console_permission', detail: 'returned 403' },
    ],
    ['failed before the panel was found to have a problem', { cause: 'timeout', detail: 'no response' }],
  ])('retries a server at once that %s', async (_what, problem) => {
    stage.tokenProblem = problem;
    stage.hold = KEY;
    stage.look();
    await stage.until({ condition: 'failing', problem: KEY });
    expect(stage.status).not.toHaveProperty('blocked');
    const { tokens } = stage;
    await end();
    await stage.until({ condition: 'streaming' });
    expect(stage.tokens).toBe(tokens + 1);
    expect(stage.passedMs).toBe(1);
  });
});
