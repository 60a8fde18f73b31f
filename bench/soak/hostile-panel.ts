// A panel with a node and games that attack the exporter.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { Answerer, bedrockPong, MANY_FIELDS } from '../../test/support/game-answers.ts';
import { EXPENSIVE_OBJECT, EXPENSIVE_PAGES, LISTINGS, listingPage, PAGES } from './hostile-lists.ts';

export type HostilePanelProgram = Awaited<ReturnType<typeof start>>;

/** A loopback address on which nothing else listens. */
const GAMES_HOST = '127.9.9.9';
const GAMES = 40;

const FLOOD_EVERY_MS = 1_000;
const DRIP_EVERY_MS = 500;
const BURST = 100;
const MAX_UNREAD_BYTES = 4_000_000;

/**
 * An attack: by the panel's responses about a server, by the socket URL in its credentials, or by
 * its node, every second.
 */
type Act =
  | { readonly of: 'call'; readonly answer: (response: ServerResponse) => void }
  | { readonly of: 'credentials'; readonly socket: string }
  | { readonly of: 'node'; readonly flood: (socket: WebSocket, turn: number, below: Duplex) => void };

const frame = (event: string, ...args: readonly string[]) => JSON.stringify({ event, args });
const stats = (uptime: number) =>
  frame(
    'stats',
    `{"memory_bytes":1,"memory_limit_bytes":2,"cpu_absolute":100,"network":{"rx_bytes":1,"tx_bytes":2},"uptime":${uptime},"state":"running","disk_bytes":1}`,
  );
const burst = (socket: WebSocket, text: (index: number) => string, count = BURST) => {
  for (let index = 0; index < count; index += 1) socket.send(text(index));
};

/** The header of a text frame with 128 KiB, and most of its payload. */
const UNFINISHED = Buffer.concat([
  Buffer.from([0x81, 127, 0, 0, 0, 0, 0, 2, 0, 0]),
  Buffer.alloc(120_000, 'x'),
]);

/** A ping whose length of one byte is encoded in two bytes, and a message after it. */
const LONG_PING = Buffer.from([0x89, 126, 0, 1, 112, 0x81, 2, 123, 125]);

const EVIL = '\u001b[31m\u001b]0;title\u0007\r\nforged="line"\u202e<script>alert(1)</script>eyJ\u200b';
const LONG_TEXT = EVIL.repeat(1_000);
const JUNK = [
  frame('made up', EVIL),
  frame('stats', '{oops'),
  frame('status', EVIL),
  'null',
  '\u001b[2J',
  frame('backup completed:x', '{}'),
];

/** Attacks by name. Servers are assigned to them in turn. */
const ACTS: Readonly<Record<string, Act>> = {
  'another state every second': {
    of: 'node',
    flood: (socket, turn) =>
      socket.send(frame('status', ['running', 'offline', 'starting', EVIL][turn % 4] ?? '')),
  },
  'well-behaved servers with games that are queried': { of: 'node', flood: () => undefined },
  'bursts of junk frames': {
    of: 'node',
    flood: (socket) => burst(socket, (index) => JUNK[index % JUNK.length] ?? ''),
  },
  'bursts of samples': {
    of: 'node',
    flood: (socket, turn) => burst(socket, (index) => stats(turn * 1_000 + index)),
  },
  'bursts of errors': {
    of: 'node',
    flood: (socket) => burst(socket, () => frame('daemon error', EVIL.repeat(20))),
  },
  'bursts of console lines': {
    of: 'node',
    flood: (socket) => burst(socket, () => frame('console output', EVIL)),
  },
  'messages that are expensive to parse': {
    of: 'node',
    flood: (socket) => socket.send(`{"event":"stats","args":["{}"],"x":${EXPENSIVE_OBJECT}}`),
  },
  'messages of 1 MiB every ten seconds': {
    of: 'node',
    flood: (socket, turn) => {
      if (turn % 10 === 0) socket.send('['.repeat(1_048_000));
    },
  },
  'states that alternate': {
    of: 'node',
    flood: (socket) =>
      burst(socket, (index) => frame('status', index % 2 === 0 ? 'running' : 'offline'), 500),
  },
  "texts that aren't JSON": {
    of: 'node',
    flood: (socket) => burst(socket, (index) => (index % 2 === 0 ? '' : frame('stats', '{oops'))),
  },
  'unfinished messages of up to 1 MiB, byte by byte': {
    of: 'node',
    flood: (_, turn, below) => void below.write(turn === 1 ? UNFINISHED : 'x'),
  },
  'fragments that never end': {
    of: 'node',
    flood: (socket) => {
      for (let index = 0; index < BURST; index += 1) socket.send('x'.repeat(100), { fin: false });
    },
  },
  'pings with a longer form of their length': {
    of: 'node',
    flood: (_, _turn, below) => void below.write(LONG_PING),
  },
  pings: {
    of: 'node',
    flood: (socket) => {
      for (let index = 0; index < BURST; index += 1) socket.ping('a'.repeat(100));
    },
  },
  'closed sockets': { of: 'node', flood: (socket) => socket.close(4_000, 'a'.repeat(100)) },
  'refused tokens': { of: 'node', flood: (socket) => socket.send(frame('jwt error', LONG_TEXT)) },
  'socket addresses of 120,000 characters': {
    of: 'credentials',
    socket: `wss://127.0.0.1/${'a'.repeat(120_000)}`,
  },
  'calls that hang': { of: 'call', answer: () => undefined },
  'responses that never end': { of: 'call', answer: drip },
  'floods of headers': { of: 'call', answer: floodHeaders },
  'long errors': {
    of: 'call',
    answer: (response) =>
      void response.writeHead(500).end(JSON.stringify({ errors: [{ code: EVIL, detail: LONG_TEXT }] })),
  },
  'expensive responses': {
    of: 'call',
    answer: (response) => void response.end(`{"data":[${`${EXPENSIVE_OBJECT},`.repeat(7)}0]}`),
  },
};

const NAMES = Object.keys(ACTS);
const nameOf = (server: string) => NAMES[Number.parseInt(server.slice(0, 8), 16) % NAMES.length] ?? '';

/** Starts a panel and its node, which attack the exporter in many ways at once. */
export async function start() {
  const counts = new Map<string, number>();
  const count = (what: string) => void counts.set(what, (counts.get(what) ?? 0) + 1);
  const games = await Promise.all(Array.from({ length: GAMES }, () => openGame(count)));
  const ports = games.map(({ port }) => port);
  let walk = 0;

  const http = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://panel');
    response.setHeader('x-ratelimit-limit', '1000000');
    response.setHeader('x-ratelimit-remaining', '1000000');
    response.setHeader('content-type', 'application/json');
    if (pathname === '/api/client') {
      const page = Number(searchParams.get('page') ?? 1);
      if (page === 1) walk += 1;
      const listing = LISTINGS[walk % LISTINGS.length] ?? 'complete';
      count(`page of a server list: ${page === PAGES ? listing : 'complete'}`);
      if (page !== PAGES || listing === 'complete') {
        response.end(listingPage({ page, walk, host: GAMES_HOST, ports }));
      } else if (listing === 'hanging') return;
      else if (listing === 'endless') drip(response);
      else if (listing === 'headers') floodHeaders(response);
      else response.end(EXPENSIVE_PAGES[listing]);
      return;
    }
    const server = serverIn(pathname);
    const name = nameOf(server);
    const act = ACTS[name];
    if (act?.of === 'call') {
      count(name);
      act.answer(response);
    } else if (pathname.endsWith('/websocket')) {
      if (act?.of === 'credentials') count(name);
      const socket = act?.of === 'credentials' ? act.socket : `ws://${request.headers.host}/${server}/ws`;
      response.end(JSON.stringify({ data: { token: `token ${server}`, socket } }));
    } else response.end(RESOURCES);
  });
  acceptSockets(http, count);
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  return {
    url: () => url,
    /** The number of times that each attack was made. */
    counts: () => Object.fromEntries(counts),
  };
}

const RESOURCES = JSON.stringify({
  attributes: {
    current_state: 'running',
    is_suspended: false,
    resources: {
      memory_bytes: 1,
      cpu_absolute: 1,
      disk_bytes: 1,
      network_rx_bytes: 1,
      network_tx_bytes: 1,
      uptime: 1_000,
    },
  },
});

const serverIn = (path: string) =>
  /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{8}/.exec(path)?.[0] ?? '';

function acceptSockets(http: ReturnType<typeof createServer>, count: (what: string) => void): void {
  const acceptor = new WebSocketServer({ noServer: true });
  http.on('connection', (connection: Socket) => connection.on('error', () => undefined));
  http.on('upgrade', (request: IncomingMessage, connection: Duplex, head: Buffer) => {
    acceptor.handleUpgrade(request, connection, head, (socket) => {
      const name = nameOf(serverIn(request.url ?? ''));
      const act = ACTS[name];
      let turn = 0;
      const timer = setInterval(() => {
        turn += 1;
        if (act?.of !== 'node' || socket.readyState !== socket.OPEN) return;
        // Skips turns while the exporter is far behind in reading.
        if (socket.bufferedAmount > MAX_UNREAD_BYTES) return;
        socket.send(stats(turn * 1_000));
        act.flood(socket, turn, connection);
        count(name);
      }, FLOOD_EVERY_MS);
      socket.on('error', () => undefined);
      socket.on('close', () => clearInterval(timer));
      socket.on('message', (data: Buffer) => {
        if (data.includes('"auth"')) socket.send(frame('auth success'));
      });
    });
  });
}

/** A Bedrock server whose name is 30,000 backslashes, or a GameSpy server with as many fields. */
function openGame(count: (what: string) => void): Promise<Answerer> {
  return Answerer.udp(({ datagram, reply }) => {
    count('replies of games');
    if (datagram[0] === 1) reply(bedrockPong(datagram, 1, 2, '\\'.repeat(30_000)));
    else reply(MANY_FIELDS);
  }, GAMES_HOST);
}

/** Sends a body one byte at a time, without an end. */
function drip(response: ServerResponse): void {
  response.write('{"data":[');
  const timer = setInterval(() => response.write(' '), DRIP_EVERY_MS);
  response.on('close', () => clearInterval(timer));
}

function floodHeaders(response: ServerResponse): void {
  for (let index = 0; index < 10_000; index += 1) response.setHeader(`x-${index}`, 'a'.repeat(100));
  response.end('{}');
}
