import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import {
  ConsoleSocket,
  MAX_FRAME_BYTES,
  type SocketClosing,
  type SocketOptions,
} from '../../../src/session/socket.ts';
import { socketTls } from '../../../src/session/socket-tls.ts';
import { ManualClock } from '../../support/manual-clock.ts';

type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

type Told =
  | { readonly type: 'opened' }
  | { readonly type: 'refused'; readonly status?: number; readonly error: Error & { code?: string } }
  | { readonly type: 'message'; readonly text: string; readonly isBinary: boolean }
  | ({ readonly type: 'closed' } & SocketClosing);

const ORIGIN = 'https://panel.example.com';

let clock: ManualClock;
let server: Server;
let upgrades: IncomingMessage[];
let connections: Set<Duplex>;
let accepted: WebSocket[];
let received: string[];
let sockets: ConsoleSocket[];
let told: Told[];
let whenTold: (event: Told) => void;

beforeEach(() => {
  clock = new ManualClock();
  server = createServer();
  upgrades = [];
  connections = new Set();
  accepted = [];
  received = [];
  sockets = [];
  told = [];
  whenTold = () => {};
});

afterEach(async () => {
  for (const socket of sockets) socket.terminate();
  for (const connection of connections) connection.destroy();
  if (server.listening) {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  }
});

/** A node that answers upgrades as told, else takes them all; gives the port. */
async function startNode(upgrade: Upgrade = acceptUpgrade()): Promise<number> {
  server.on('connection', (connection) => connections.add(connection));
  server.on('upgrade', (request, socket, head) => {
    upgrades.push(request);
    socket.on('error', () => {});
    upgrade(request, socket, head);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function acceptUpgrade(
  options: { readonly autoPong?: boolean; readonly greet?: (ws: WebSocket) => void } = {},
): Upgrade {
  const { autoPong = true, greet } = options;
  // Offers compression, so that a client which asked for it would get it.
  const acceptor = new WebSocketServer({ noServer: true, autoPong, perMessageDeflate: true });
  return (request, socket, head) => {
    acceptor.handleUpgrade(request, socket, head, (ws) => {
      accepted.push(ws);
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
  const tell = (event: Told) => {
    told.push(event);
    whenTold(event);
  };
  const socket = new ConsoleSocket(
    address,
    {
      origin: ORIGIN,
      userAgent: 'gameserver-exporter/1.2.3',
      clock,
      allowLocal: true,
      tls: socketTls(),
      ...options,
    },
    {
      opened: () => tell({ type: 'opened' }),
      refused: (problem) => tell({ type: 'refused', ...problem }),
      message: (frame, isBinary) => tell({ type: 'message', text: frame.toString(), isBinary }),
      closed: (closing) => tell({ type: 'closed', ...closing }),
    },
  );
  sockets.push(socket);
  return socket;
}

const until = (check: () => void) => vi.waitFor(check, { timeout: 10_000, interval: 5 });
const types = () => told.map((event) => event.type);

async function open(
  options: Partial<SocketOptions> = {},
  upgrade?: Upgrade,
): Promise<[ConsoleSocket, WebSocket]> {
  const port = await startNode(upgrade);
  const socket = connect(`ws://127.0.0.1:${port}/api/servers/1a7ce997/ws`, options);
  await until(() => expect(types()).toContain('opened'));
  const [ws] = accepted;
  if (ws === undefined) throw new Error('expected the node to hold a socket');
  return [socket, ws];
}

/** All that the client wrote before has arrived, and all that the node wrote before has been read. */
async function roundTrip(ws: WebSocket): Promise<void> {
  ws.ping();
  await once(ws, 'pong');
}

/** The one thing that was told. */
async function onlyTold(): Promise<Told> {
  await until(() => expect(told.length).toBeGreaterThan(0));
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(told).toHaveLength(1);
  return told[0] as Told;
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

  it.each([200, 400, 401, 403, 404, 409, 429, 500, 502])(
    'that is answered %i is refused with it',
    async (status) => {
      const port = await startNode(answerUpgrade(status));
      connect(`ws://127.0.0.1:${port}/ws`);
      expect(await onlyTold()).toMatchObject({ type: 'refused', status });
    },
  );

  it('that is redirected is refused, and not followed', async () => {
    const port = await startNode((request, socket, head) => {
      const location = `Location: ws://${request.headers.host}/elsewhere`;
      answerUpgrade(301, [location])(request, socket, head);
    });
    connect(`ws://127.0.0.1:${port}/ws`);
    expect(await onlyTold()).toMatchObject({ type: 'refused', status: 301 });
    expect(upgrades).toHaveLength(1);
  });

  it('that nothing listens for is refused with the code of that', async () => {
    const port = await startNode();
    server.close();
    await once(server, 'close');
    connect(`ws://127.0.0.1:${port}/ws`);
    const refused = await onlyTold();
    expect(refused).toMatchObject({ type: 'refused', error: { code: 'ECONNREFUSED' } });
    expect(refused).not.toHaveProperty('status');
  });

  it('that is cut is refused', async () => {
    const port = await startNode((_request, socket) => socket.destroy());
    connect(`ws://127.0.0.1:${port}/ws`);
    const refused = await onlyTold();
    expect(refused).toMatchObject({ type: 'refused', error: { code: 'ECONNRESET' } });
    expect(refused).not.toHaveProperty('status');
  });

  it('that is answered with a wrong key is refused', async () => {
    const port = await startNode((_request, socket) => {
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n',
      );
    });
    connect(`ws://127.0.0.1:${port}/ws`);
    expect(await onlyTold()).toMatchObject({ type: 'refused', error: { message: /Sec-WebSocket-Accept/ } });
  });

  it('to a name that leads here is refused unless local addresses are allowed', async () => {
    const port = await startNode();
    connect(`ws://localhost:${port}/ws`, { allowLocal: false });
    expect(await onlyTold()).toMatchObject({
      type: 'refused',
      error: { message: /leads to .+ socket_hosts/ },
    });
    expect(upgrades).toHaveLength(0);
    connect(`ws://localhost:${port}/ws`);
    await until(() => expect(types()).toEqual(['refused', 'opened']));
  });
});

describe('an upgrade that hangs', () => {
  // Reads on, so that the end of the connection is seen.
  const hang: Upgrade = (_request, socket) => void socket.resume();

  it.each(['terminate', 'close'] as const)('is cut by %s, and the listener hears nothing', async (how) => {
    const port = await startNode(hang);
    const socket = connect(`ws://127.0.0.1:${port}/ws`);
    await until(() => expect(upgrades).toHaveLength(1));
    const [connection] = connections;
    const gone = connection === undefined ? undefined : once(connection, 'end');
    await socket[how]();
    await gone;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(told).toEqual([]);
    expect(clock.pending).toBe(0);
  });
});

describe('frames out', () => {
  it('are never more than two a second', async () => {
    const [socket, ws] = await open();
    socket.send({ event: 'auth', token: 'a.b.c' });
    socket.send({ event: 'send stats' });
    socket.send({ event: 'send logs' });
    const frames = [
      '{"event":"auth","args":["a.b.c"]}',
      '{"event":"send stats","args":[null]}',
      '{"event":"send logs","args":[null]}',
    ];
    await roundTrip(ws);
    expect(received).toEqual(frames.slice(0, 1));
    await clock.advance(499);
    await roundTrip(ws);
    expect(received).toEqual(frames.slice(0, 1));
    await clock.advance(1);
    await roundTrip(ws);
    expect(received).toEqual(frames.slice(0, 2));
    await clock.advance(500);
    await roundTrip(ws);
    expect(received).toEqual(frames);
  });

  it('that the node would drop for their length are refused where they are made', async () => {
    const [socket] = await open();
    expect(() => socket.send({ event: 'send command', command: 'x'.repeat(5_000) })).toThrow(RangeError);
  });

  it('after a terminate go nowhere and do no harm', async () => {
    const [socket] = await open();
    socket.terminate();
    expect(() => socket.send({ event: 'send stats' })).not.toThrow();
    expect(clock.pending).toBe(0);
  });
});

describe('frames in', () => {
  it('are passed on as they came, binary ones marked', async () => {
    const [, ws] = await open();
    ws.send('{"event":"auth success"}');
    ws.send(Buffer.from([1, 2, 3]));
    await until(() => expect(told).toHaveLength(3));
    expect(told.slice(1)).toEqual([
      { type: 'message', text: '{"event":"auth success"}', isBinary: false },
      { type: 'message', text: '\u0001\u0002\u0003', isBinary: true },
    ]);
  });

  it('that are not UTF-8 do not end the socket', async () => {
    const [, ws] = await open();
    ws.send(Buffer.from([0x22, 0xff, 0xfe, 0x22]), { binary: false });
    await roundTrip(ws);
    expect(told[1]).toEqual({ type: 'message', text: '"\ufffd\ufffd"', isBinary: false });
    expect(types()).toEqual(['opened', 'message']);
  });

  it('of 1 MiB are taken', async () => {
    const [, ws] = await open();
    ws.send('x'.repeat(MAX_FRAME_BYTES));
    await until(() => expect(types()).toEqual(['opened', 'message']));
  });

  it('of more end the socket, and it is told why', async () => {
    const [, ws] = await open();
    const closed = once(ws, 'close');
    ws.send('x'.repeat(MAX_FRAME_BYTES + 1));
    await until(() => expect(types()).toEqual(['opened', 'closed']));
    expect(told[1]).toEqual({ type: 'closed', code: 1006, text: '', reason: 'closed', oversize: true });
    expect((await closed)[0]).toBe(1009);
  });

  it('that come with the upgrade’s answer are told after the opening', async () => {
    const greet = (ws: WebSocket) => ws.send('{"event":"daemon message"}');
    await open({}, acceptUpgrade({ greet }));
    await until(() => expect(types()).toEqual(['opened', 'message']));
  });
});

describe("the far end's close", () => {
  it.each([
    [1000, ''],
    [1001, 'server deleted'],
    [4400, ''],
    [4409, 'server is suspended'],
  ])('with %i "%s" is told as it came', async (code, text) => {
    const [, ws] = await open();
    ws.close(code, text);
    await until(() => expect(types()).toEqual(['opened', 'closed']));
    expect(told[1]).toEqual({ type: 'closed', code, text, reason: 'closed', oversize: false });
    expect(clock.pending).toBe(0);
  });

  it('without a frame is told as 1006', async () => {
    const [, ws] = await open();
    ws.terminate();
    await until(() => expect(types()).toEqual(['opened', 'closed']));
    expect(told[1]).toEqual({ type: 'closed', code: 1006, text: '', reason: 'closed', oversize: false });
    expect(clock.pending).toBe(0);
  });
});

describe('the heartbeat', () => {
  it('keeps a socket whose pings are answered', async () => {
    const [, ws] = await open();
    for (let beat = 0; beat < 4; beat += 1) {
      const pinged = once(ws, 'ping');
      await clock.advance(30_000);
      await pinged;
      // The pong goes out before this, and so is read before its answer is sent.
      await roundTrip(ws);
    }
    expect(types()).toEqual(['opened']);
  });

  it('ends one whose ping is not answered', async () => {
    const [, ws] = await open({}, acceptUpgrade({ autoPong: false }));
    const pinged = once(ws, 'ping');
    await clock.advance(30_000);
    await pinged;
    await clock.advance(29_999);
    expect(types()).toEqual(['opened']);
    await clock.advance(1);
    await until(() => expect(types()).toEqual(['opened', 'closed']));
    expect(told[1]).toMatchObject({ code: 1006, reason: 'pong_timeout', oversize: false });
    expect(clock.pending).toBe(0);
  });
});

describe('close', () => {
  it('sends 1000, resolves when the connection is gone, and tells the listener nothing', async () => {
    const [socket, ws] = await open();
    const closed = once(ws, 'close');
    await socket.close();
    expect((await closed)[0]).toBe(1000);
    expect(types()).toEqual(['opened']);
    expect(clock.pending).toBe(0);
  });

  it('cuts a connection that does not answer within a second', async () => {
    const [socket, ws] = await open();
    ws.pause();
    const gone = vi.fn<() => void>();
    void socket.close().then(gone);
    await clock.advance(999);
    expect(gone).not.toHaveBeenCalled();
    await clock.advance(1);
    await until(() => expect(gone).toHaveBeenCalledOnce());
    expect(types()).toEqual(['opened']);
    expect(clock.pending).toBe(0);
  });

  it('resolves at once where the far end closed before', async () => {
    const [socket, ws] = await open();
    ws.terminate();
    await until(() => expect(types()).toEqual(['opened', 'closed']));
    await socket.close();
    expect(types()).toEqual(['opened', 'closed']);
  });

  it('drops what was not sent yet', async () => {
    const [socket, ws] = await open();
    socket.send({ event: 'send stats' });
    socket.send({ event: 'send logs' });
    const closed = once(ws, 'close');
    await socket.close();
    await closed;
    expect(clock.pending).toBe(0);
    await clock.advance(1_000);
    expect(received).toEqual(['{"event":"send stats","args":[null]}']);
  });
});

describe('after an end from our side', () => {
  it.each(['close', 'terminate'] as const)('by %s no frame is told that came already', async (how) => {
    const three = (ws: WebSocket) => {
      for (const text of ['a', 'b', 'c']) ws.send(text);
    };
    whenTold = ({ type }) => {
      if (type === 'message') void sockets[0]?.[how]();
    };
    const [, ws] = await open({}, acceptUpgrade({ greet: three }));
    if (ws.readyState !== ws.CLOSED) await once(ws, 'close');
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(types()).toEqual(['opened', 'message']);
    expect(clock.pending).toBe(0);
  });

  it('terminate cuts the connection without a close frame', async () => {
    const [socket, ws] = await open();
    const closed = once(ws, 'close');
    socket.terminate();
    expect((await closed)[0]).toBe(1006);
    expect(types()).toEqual(['opened']);
  });
});
