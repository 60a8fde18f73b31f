import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect as connectTo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { nodeLookup, systemNames } from '../../../src/addresses/name-lookups.ts';
import { guardedNames } from '../../../src/addresses/socket-policy.ts';
import { PTERODACTYL } from '../../../src/panel/dialects/pterodactyl.ts';
import type { UpgradeRefusal } from '../../../src/panel/socket-codec.ts';
import { MAX_FRAME_BYTES, MAX_MESSAGE_BYTES } from '../../../src/session/frame-reader.ts';
import { ConsoleSocket, type SocketClosing, type SocketOptions } from '../../../src/session/socket.ts';
import { tunnelFor } from '../../../src/session/socket-proxy.ts';
import { socketTls } from '../../../src/session/socket-tls.ts';
import { UnfinishedBytes } from '../../../src/session/unfinished-bytes.ts';
import { eventually } from '../../support/eventually.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { OpenSockets } from '../../support/open-sockets.ts';
import { wireFrame } from '../../support/websocket-wire.ts';

type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

type Reported =
  | { readonly type: 'opened' }
  | {
      readonly type: 'refused';
      readonly response?: UpgradeRefusal;
      readonly error: Error & { code?: string };
    }
  | { readonly type: 'message'; readonly text: string; readonly isBinary: boolean }
  | { readonly type: 'oversize' }
  | ({ readonly type: 'closed' } & SocketClosing);

const ORIGIN = 'https://panel.example.com';

/** The first byte of a frame with a reserved opcode (RFC 6455). */
const RESERVED = 0x83;

let clock: ManualClock;
let server: Server;
let upgrades: IncomingMessage[];
let connections: Set<Duplex>;
let accepted: WebSocket[];
/** The TCP or TLS connections of the WebSockets. */
let upgraded: Duplex[];
let received: string[];
let sockets: ConsoleSocket[];
let reported: Reported[];
let onReport: (event: Reported) => void;
let port: number;
/** Options for all sockets. */
let route: Partial<SocketOptions>;

beforeEach(() => {
  clock = new ManualClock();
  // Also responds to plain requests, because `settled` makes one.
  server = createServer((_request, response) => response.end());
  upgrades = [];
  connections = new Set();
  accepted = [];
  upgraded = [];
  received = [];
  sockets = [];
  reported = [];
  onReport = () => {};
  route = {};
});

afterEach(async () => {
  for (const socket of sockets) void socket.close();
  for (const connection of connections) connection.destroy();
  if (server.listening) {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  }
});

/**
 * Starts a node that responds to upgrades in this way; by default, it accepts all. Returns its
 * port.
 */
async function startNode(upgrade: Upgrade = acceptUpgrade()): Promise<number> {
  server.on('connection', (connection) => connections.add(connection));
  server.on('upgrade', (request, socket, head) => {
    upgrades.push(request);
    socket.on('error', () => {});
    upgrade(request, socket, head);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
  return port;
}

function acceptUpgrade(
  options: { readonly autoPong?: boolean; readonly greet?: (ws: WebSocket) => void } = {},
): Upgrade {
  const { autoPong = true, greet } = options;
  // Offers compression, so that a client that requests it gets it.
  const acceptor = new WebSocketServer({ noServer: true, autoPong, perMessageDeflate: true });
  return (request, socket, head) => {
    acceptor.handleUpgrade(request, socket, head, (ws) => {
      accepted.push(ws);
      upgraded.push(socket);
      ws.on('message', (data: Buffer) => received.push(data.toString()));
      ws.on('error', () => {});
      greet?.(ws);
    });
  };
}

function answerUpgrade(status: number, headers: readonly string[] = []): Upgrade {
  const lines = [`HTTP/1.1 ${status} Refused`, 'Content-Length: 0', 'Connection: close', ...headers, '', ''];
  return (_request, socket) => socket.end(lines.join('\r\n'));
}

function connect(address: string, options: Partial<SocketOptions> = {}): ConsoleSocket {
  const report = (event: Reported) => {
    reported.push(event);
    onReport(event);
    return false;
  };
  const socket = new ConsoleSocket(
    address,
    {
      codec: PTERODACTYL.socket,
      origin: ORIGIN,
      userAgent: 'gameserver-exporter/1.2.3',
      clock,
      tls: socketTls(),
      ...route,
      ...options,
    },
    {
      opened: () => report({ type: 'opened' }),
      refused: (problem) => report({ type: 'refused', ...problem }),
      message: (bytes, isBinary, from = 0, to = bytes.length) =>
        report({ type: 'message', text: bytes.toString('utf8', from, to), isBinary }),
      oversize: () => report({ type: 'oversize' }),
      closed: (closing) => report({ type: 'closed', ...closing }),
    },
  );
  sockets.push(socket);
  return socket;
}

const types = () => reported.map((event) => event.type);

async function open(
  options: Partial<SocketOptions> = {},
  upgrade?: Upgrade,
): Promise<[ConsoleSocket, WebSocket]> {
  const port = await startNode(upgrade);
  const socket = connect(`ws://127.0.0.1:${port}/api/servers/1a7ce997/ws`, options);
  await eventually(() => expect(types()).toContain('opened'));
  const [ws] = accepted;
  if (ws === undefined) throw new Error('expected the node to hold a socket');
  return [socket, ws];
}

/** Waits until all previous data of the client and the node has been read. */
async function roundTrip(ws: WebSocket): Promise<void> {
  ws.ping();
  await once(ws, 'pong');
}

/**
 * Waits for a new request to the node, which fails if the node no longer listens. All effects of
 * earlier events are then visible.
 */
async function settled(): Promise<void> {
  const request = get({ port, host: '127.0.0.1', agent: false }, (response) => response.resume());
  request.on('error', () => {});
  await new Promise((resolve) => request.once('close', resolve));
}

/** The report, of which there must be only one. */
async function onlyReport(): Promise<Reported> {
  await eventually(() => expect(reported.length).toBeGreaterThan(0));
  await settled();
  expect(reported).toHaveLength(1);
  return reported[0] as Reported;
}

describe('the upgrade', () => {
  it('sends Origin and User-Agent, and offers no compression', async () => {
    await open();
    const { headers, url } = upgrades[0] ?? {};
    expect(url).toBe('/api/servers/1a7ce997/ws');
    expect(headers).toMatchObject({ origin: ORIGIN, 'user-agent': 'gameserver-exporter/1.2.3' });
    expect(headers).not.toHaveProperty('sec-websocket-extensions');
    expect(headers).not.toHaveProperty('authorization');
    expect(headers).not.toHaveProperty('cookie');
    expect(accepted[0]?.extensions).toBe('');
    expect(types()).toEqual(['opened']);
  });

  it.each([200, 400, 401, 403, 404, 409, 429, 500, 502])('that receives %i is refused', async (status) => {
    const port = await startNode(answerUpgrade(status));
    connect(`ws://127.0.0.1:${port}/ws`);
    expect(await onlyReport()).toMatchObject({ type: 'refused', response: { status } });
  });

  it('that Cloudflare challenges is refused with its mark, and the type and start of its body', async () => {
    const mark = ['cf-mitigated: challenge', 'Content-Type: text/html', 'Content-Length: 6'];
    const port = await startNode((_request, socket) =>
      socket.end(`HTTP/1.1 403 Forbidden\r\n${mark.join('\r\n')}\r\n\r\n<html>`),
    );
    connect(`ws://127.0.0.1:${port}/ws`);
    expect(await onlyReport()).toMatchObject({
      response: { status: 403, isChallenge: true, contentType: 'text/html', body: '<html>' },
    });
  });

  describe('that receives 404', () => {
    const UNKNOWN = '{"error":"The requested resource does not exist on this instance.","request_id":"1"}';
    const head = (length: number | 'endless') =>
      `HTTP/1.1 404 Not Found\r\n${length === 'endless' ? '' : `Content-Length: ${length}\r\n`}Connection: close\r\n\r\n`;

    it('is reassembled if it arrives in pieces', async () => {
      const pieces = [head(UNKNOWN.length), UNKNOWN.slice(0, 30), UNKNOWN.slice(30)];
      const port = await startNode((_request, socket) => {
        const next = () => {
          const piece = pieces.shift();
          if (piece !== undefined) socket.write(piece, () => setImmediate(next));
        };
        next();
      });
      connect(`ws://127.0.0.1:${port}/ws`);
      expect(await onlyReport()).toMatchObject({ response: { status: 404, body: UNKNOWN } });
    });

    it('is cut off at once if its body is huge, and only the start is kept', async () => {
      let written = 0;
      const port = await startNode((_request, socket) => {
        socket.write(head('endless'));
        const page = Buffer.alloc(65_536, 'x');
        const write = () => {
          while (!socket.destroyed && socket.write(page)) written += page.length;
        };
        socket.on('drain', write);
        write();
      });
      connect(`ws://127.0.0.1:${port}/ws`);
      expect(await onlyReport()).toMatchObject({
        type: 'refused',
        response: { status: 404, body: 'x'.repeat(4_096) },
      });
      expect(clock.pending).toBe(0);
      await eventually(() => expect([...connections].every(({ destroyed }) => destroyed)).toBe(true));
      expect(written).toBeLessThan(64 * 1_048_576);
    });

    it.each([
      ["doesn't start", ''],
      ['stops in the middle', UNKNOWN.slice(0, 20)],
    ])('with a body that %s is given up after a second', async (_what, beginning) => {
      const port = await startNode((_request, socket) => socket.write(head('endless') + beginning));
      connect(`ws://127.0.0.1:${port}/ws`);
      await eventually(() => expect(clock.pending).toBe(1));
      await clock.advance(999);
      await settled();
      expect(reported).toEqual([]);
      await clock.advance(1);
      expect(await onlyReport()).toMatchObject({ type: 'refused', response: { status: 404 } });
      expect(clock.pending).toBe(0);
    });

    it('is ignored once the socket is closed', async () => {
      const port = await startNode((_request, socket) => socket.write(head('endless')));
      const socket = connect(`ws://127.0.0.1:${port}/ws`);
      await eventually(() => expect(clock.pending).toBe(1));
      void socket.close();
      await eventually(() => expect(clock.pending).toBe(0));
      expect(reported).toEqual([]);
    });
  });

  it('that is redirected is refused, and not followed', async () => {
    const port = await startNode((request, socket, head) => {
      const location = `Location: ws://${request.headers.host}/elsewhere`;
      answerUpgrade(301, [location])(request, socket, head);
    });
    connect(`ws://127.0.0.1:${port}/ws`);
    expect(await onlyReport()).toMatchObject({ type: 'refused', response: { status: 301 } });
    expect(upgrades).toHaveLength(1);
  });

  it.each([
    ['to a closed port', 'ECONNREFUSED', () => server.close()],
    ['that is cut off', 'ECONNRESET', () => undefined],
  ])('%s is refused with the code %s', async (_what, code, arrange) => {
    const port = await startNode((_request, socket) => socket.destroy());
    arrange();
    connect(`ws://127.0.0.1:${port}/ws`);
    const refused = await onlyReport();
    expect(refused).toMatchObject({ type: 'refused', error: { code } });
    expect(refused).toHaveProperty('response', undefined);
  });

  it('that receives a wrong key is refused', async () => {
    const port = await startNode((_request, socket) => {
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n',
      );
    });
    connect(`ws://127.0.0.1:${port}/ws`);
    expect(await onlyReport()).toMatchObject({ type: 'refused', error: { message: /Sec-WebSocket-Accept/ } });
  });

  it('to a name that resolves to this machine is refused unless local addresses are allowed', async () => {
    const port = await startNode();
    const names = guardedNames({ panelUrl: 'https://panel.example.com' }, systemNames().forPanel());
    connect(`ws://localhost:${port}/ws`, { lookup: nodeLookup(names, { clock, timeoutMs: 7_000 }) });
    expect(await onlyReport()).toMatchObject({
      type: 'refused',
      error: { message: /resolves to (?:127|::1)/, code: 'ERR_SOCKET_ADDRESS' },
    });
    expect(upgrades).toHaveLength(0);
    connect(`ws://localhost:${port}/ws`);
    await eventually(() => expect(types()).toEqual(['refused', 'opened']));
  });
});

describe('an upgrade that hangs', () => {
  it('is ended by close, and reports nothing', async () => {
    // Continues to read, so that it sees the end of the connection.
    const port = await startNode((_request, socket) => void socket.resume());
    const socket = connect(`ws://127.0.0.1:${port}/ws`);
    await eventually(() => expect(upgrades).toHaveLength(1));
    const [connection] = connections;
    const gone = connection === undefined ? undefined : once(connection, 'end');
    await socket.close();
    await gone;
    await settled();
    expect(reported).toEqual([]);
    expect(clock.pending).toBe(0);
  });
});

/** Starts a proxy that opens tunnels to any address. */
async function startProxy(connections: OpenSockets): Promise<Server> {
  const proxy = createServer();
  proxy.on('connect', ({ url = '' }: IncomingMessage, client: Socket) => {
    const { hostname, port: target } = new URL(`http://${url}`);
    const node = connectTo(Number(target), hostname, () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
    connections.join(client, node);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return proxy;
}

describe.each(['directly', 'through a proxy'])('connected %s', (way) => {
  const proxies = new OpenSockets();
  let proxy: Server | undefined;

  beforeEach(async () => {
    if (way === 'directly') return;
    proxy = await startProxy(proxies);
    const { port: proxyPort } = proxy.address() as AddressInfo;
    const proxyOptions = { clock, connect: { timeout: 60_000 } };
    route = { tunnelFor: (url) => tunnelFor(url, `http://127.0.0.1:${proxyPort}`, proxyOptions) };
  });

  afterEach(async () => {
    if (proxy !== undefined) await proxies.close(proxy);
    proxy = undefined;
  });

  describe('incoming frames', () => {
    it('are passed on unchanged, with a mark for binary ones', async () => {
      const [, ws] = await open();
      ws.send('{"event":"auth success"}');
      ws.send(Buffer.from([1, 2, 3]));
      await eventually(() => expect(reported).toHaveLength(3));
      expect(reported.slice(1)).toEqual([
        { type: 'message', text: '{"event":"auth success"}', isBinary: false },
        { type: 'message', text: '\u0001\u0002\u0003', isBinary: true },
      ]);
    });

    it("that aren't UTF-8 don't close the socket", async () => {
      const [, ws] = await open();
      ws.send(Buffer.from([0x22, 0xff, 0xfe, 0x22]), { binary: false });
      await roundTrip(ws);
      expect(reported[1]).toEqual({ type: 'message', text: '"\ufffd\ufffd"', isBinary: false });
      expect(types()).toEqual(['opened', 'message']);
    });

    it('of 128 KiB are accepted', async () => {
      const [, ws] = await open();
      ws.send('x'.repeat(MAX_MESSAGE_BYTES));
      await eventually(() => expect(types()).toEqual(['opened', 'message']));
    });

    it('of up to 1 MiB are skipped, and the socket stays open', async () => {
      const [, ws] = await open();
      ws.send('x'.repeat(MAX_MESSAGE_BYTES + 1));
      ws.send('x'.repeat(MAX_FRAME_BYTES));
      ws.send('short');
      await roundTrip(ws);
      expect(types()).toEqual(['opened', 'oversize', 'oversize', 'message']);
      expect(reported.at(-1)).toEqual({ type: 'message', text: 'short', isBinary: false });
    });

    it('of more than 1 MiB close the socket, and the listener receives the reason', async () => {
      const [, ws] = await open();
      const closed = once(ws, 'close');
      ws.send('x'.repeat(MAX_FRAME_BYTES + 1));
      await eventually(() => expect(types()).toEqual(['opened', 'closed']));
      expect(reported[1]).toEqual({
        type: 'closed',
        code: 1006,
        text: 'Max payload size exceeded',
        oversize: true,
      });
      // A proxy may drop data of a connection that has ended.
      expect((await closed)[0]).toBeOneOf(way === 'directly' ? [1009] : [1006, 1009]);
    });

    it("that arrive with the upgrade's response are reported after the opening", async () => {
      const greet = (ws: WebSocket) => ws.send('{"event":"daemon message"}');
      await open({}, acceptUpgrade({ greet }));
      await eventually(() => expect(types()).toEqual(['opened', 'message']));
    });
  });

  describe('a close by the node', () => {
    it.each([
      [1000, ''],
      [1001, 'server deleted'],
      [4400, ''],
      [4409, 'server is suspended'],
    ])('with %i "%s" is reported unchanged', async (code, text) => {
      const [, ws] = await open();
      ws.close(code, text);
      await eventually(() => expect(types()).toEqual(['opened', 'closed']));
      expect(reported[1]).toEqual({ type: 'closed', code, text, oversize: false });
      expect(clock.pending).toBe(0);
    });

    it('without a frame is reported as 1006', async () => {
      const [, ws] = await open();
      ws.terminate();
      await eventually(() => expect(types()).toEqual(['opened', 'closed']));
      expect(reported[1]).toEqual({ type: 'closed', code: 1006, text: '', oversize: false });
      expect(clock.pending).toBe(0);
    });

    it.each([
      ['closes', (connection: Socket) => connection.destroy()],
      ['resets', (connection: Socket) => connection.resetAndDestroy()],
    ])('without a frame, of a node that %s the connection, comes in its turn', async (_, end) => {
      const waiting: (() => void)[] = [];
      const inTurn = (begin: () => void) => {
        waiting.push(begin);
        return () => undefined;
      };
      await open({ inTurn });
      end(upgraded[0] as Socket);
      await eventually(() => expect(waiting).toHaveLength(1));
      await settled();
      expect(types()).toEqual(['opened']);
      for (const begin of waiting) begin();
      await eventually(() => expect(types()).toEqual(['opened', 'closed']));
      expect(reported[1]).toEqual({ type: 'closed', code: 1006, text: '', oversize: false });
      expect(waiting).toHaveLength(1);
    });

    it('that comes in its turn drops what the node sends until then', async () => {
      const waiting: (() => void)[] = [];
      const thrown: Error[] = [];
      const note = (error: Error) => thrown.push(error);
      process.on('uncaughtException', note);
      const [, ws] = await open({
        inTurn: (begin) => {
          waiting.push(begin);
          return () => undefined;
        },
      });
      upgraded[0]?.write(wireFrame(RESERVED));
      await eventually(() => expect(waiting).toHaveLength(1));
      ws.send('late');
      await settled();
      for (const begin of waiting) begin();
      await eventually(() => expect(types()).toEqual(['opened', 'closed']));
      process.off('uncaughtException', note);
      expect(thrown).toEqual([]);
    });
  });

  describe('close', () => {
    it('sends 1000, resolves when the connection is closed, and reports and sends nothing more', async () => {
      const [socket, ws] = await open();
      const closed = once(ws, 'close');
      await socket.close();
      expect((await closed)[0]).toBe(1000);
      expect(() => socket.send({ event: 'send stats' })).not.toThrow();
      expect(types()).toEqual(['opened']);
      expect(clock.pending).toBe(0);
    });

    it("cuts a connection that doesn't respond within a second", async () => {
      const [socket, ws] = await open();
      ws.pause();
      const gone = vi.fn<() => void>();
      void socket.close().then(gone);
      await clock.advance(999);
      expect(gone).not.toHaveBeenCalled();
      await clock.advance(1);
      await eventually(() => expect(gone).toHaveBeenCalledOnce());
      expect(types()).toEqual(['opened']);
      expect(clock.pending).toBe(0);
    });

    it('resolves at once if the node closed it before', async () => {
      const [socket, ws] = await open();
      ws.terminate();
      await eventually(() => expect(types()).toEqual(['opened', 'closed']));
      await socket.close();
      expect(types()).toEqual(['opened', 'closed']);
    });
  });

  describe('after the exporter ends a socket', () => {
    it("frames that already arrived aren't reported", async () => {
      const three = (ws: WebSocket) => {
        for (const text of ['a', 'b', 'c']) ws.send(text);
      };
      onReport = ({ type }) => {
        if (type === 'message') void sockets[0]?.close();
      };
      const [, ws] = await open({}, acceptUpgrade({ greet: three }));
      if (ws.readyState !== ws.CLOSED) await once(ws, 'close');
      await settled();
      expect(types()).toEqual(['opened', 'message']);
      expect(clock.pending).toBe(0);
    });
  });

  describe('unfinished messages', () => {
    const begin = (length: number) => wireFrame(0x81, Buffer.alloc(length)).subarray(0, 10);

    it('occupy no more than their budget together, and a skipped one costs no socket', async () => {
      const unfinished = new UnfinishedBytes(300 * 1024);
      const [, first] = await open({ unfinished });
      for (let more = 0; more < 7; more += 1) connect(`ws://127.0.0.1:${port}/ws`, { unfinished });
      await eventually(() => expect(accepted).toHaveLength(8));
      await eventually(() => expect(types()).toHaveLength(8));
      const nodes = [...upgraded];
      const half = Buffer.concat([begin(MAX_MESSAGE_BYTES), Buffer.alloc(100_000, 'x')]);
      for (const node of nodes) node.write(half);
      await eventually(() => expect(types().filter((type) => type === 'oversize')).toHaveLength(6));
      expect(unfinished.taken).toBeGreaterThan(200 * 1024);
      expect(unfinished.taken).toBeLessThanOrEqual(300 * 1024);
      for (const node of nodes) node.write(Buffer.alloc(MAX_MESSAGE_BYTES - 100_000, 'x'));
      await eventually(() => expect(types().filter((type) => type === 'message')).toHaveLength(2));
      first.send('short');
      await eventually(() => expect(types().filter((type) => type === 'message')).toHaveLength(3));
      expect(types()).not.toContain('closed');
      expect(unfinished.taken).toBe(0);
    });
  });
});
