// Everything that a stranger can send in large amounts: events, frames and HTTP requests.
import { KNOWN_EVENTS } from '../../src/metrics/self-metrics.ts';
import { wireFrame } from '../../test/support/websocket-wire.ts';

const event = (name: string, ...args: readonly unknown[]) => JSON.stringify({ event: name, args });
const stats = (more: string) =>
  `{"memory_bytes":1,"memory_limit_bytes":2,"cpu_absolute":100,"network":{"rx_bytes":1,"tx_bytes":2},"uptime":${more},"disk_bytes":1}`;
const said = (line: string) => event('console output', `\u001b[33m[Pterodactyl Daemon]:\u001b[39m ${line}`);

/** The texts of each kind of event, which are sent in turn. */
export const EVENTS: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(KNOWN_EVENTS.map((name) => [name, [event(name, '')]])),
  ...Object.fromEntries(KNOWN_EVENTS.map((name) => [`${name}, without arguments`, [event(name)]])),
  'an unknown event': [event('made up', 'x')],
  'states that alternate': [event('status', 'running'), event('status', 'offline')],
  'all states in turn': ['starting', 'running', 'stopping', 'offline', 'odd'].map((state) =>
    event('status', state),
  ),
  'stats with another uptime each': Array.from({ length: 10 }, (_, n) =>
    event('stats', stats(`${n * 100_000},"state":"running"`)),
  ),
  'stats with alternating states': ['running', 'offline'].map((state) =>
    event('stats', stats(`1000,"state":"${state}"`)),
  ),
  'stats with keys in another order': [event('stats', '{"state":"running","odd":{"a":[1]},"uptime":5}')],
  'stats with bad fields': [event('stats', '{"memory_bytes":-1,"cpu_absolute":"12","uptime":null}')],
  "stats that aren't JSON": [event('stats', '{oops')],
  "texts that aren't JSON": ['', '{', 'oops', '{"event":"console output"'],
  'JSON that is no message': ['[]', '7', '{}'],
  'tokens that end': [event('token expiring'), event('token expired'), event('auth success')],
  'errors of tokens': [event('jwt error', 'jwt: exp claim is invalid'), event('jwt error', 'no permission')],
  'errors with identifiers': [
    event('jwt error', 'Error Event [1]: jwt: exp claim is invalid'),
    event('daemon error', 'Error Event [1]: x'),
  ],
  'stops and what the daemon says': [
    event('status', 'running'),
    event('status', 'offline'),
    said('---------- Detected server process in a crashed state! ----------'),
    said('Exit code: 137'),
    said('Out of memory: true'),
    said('Aborting automatic restart, last crash occurred less than 60 seconds ago.'),
  ],
  'lines like that of a full disk': [event('console output', `${'x'.repeat(100)} now.`)],
  'backups that complete': [event('backup completed', '{}'), event('backup completed:1', '{}')],
};

const whole = (bytes: number) => wireFrame(0x81, 'x'.repeat(bytes));
const long = (first: number, length: number) =>
  Buffer.concat([Buffer.from([first, 126, length >> 8, length & 255]), Buffer.alloc(length, 'x')]);

/** The kinds of frames. After `first`, `next` is repeated for as long as necessary. */
export const FRAMES: Readonly<Record<string, { readonly first?: Buffer; readonly next: Buffer }>> = {
  'empty texts': { next: wireFrame(0x81) },
  'short texts': { next: whole(20) },
  'texts of 300 bytes': { next: whole(300) },
  'texts of 100 KiB': { next: whole(100 * 1024) },
  'texts of 200 KiB': { next: whole(200 * 1024) },
  'binary messages': { next: wireFrame(0x82, 'x'.repeat(20)) },
  'empty pings': { next: wireFrame(0x89) },
  'pings of 125 bytes': { next: wireFrame(0x89, 'x'.repeat(125)) },
  'empty pongs': { next: wireFrame(0x8a) },
  'empty fragments': { first: wireFrame(0x01, 'x'), next: wireFrame(0x00) },
  'fragments of a byte': { first: wireFrame(0x01, 'x'), next: wireFrame(0x00, 'x') },
  'messages in two fragments': { next: Buffer.concat([wireFrame(0x01, 'x'), wireFrame(0x80, 'x')]) },
  'texts with a longer form of their length': { next: long(0x81, 5) },
  'pings with a longer form of their length': { next: long(0x89, 5) },
  'a close, and texts': { first: wireFrame(0x88), next: whole(20) },
  'masked texts': { next: wireFrame(0x81, 'x', true) },
  'texts with reserved bits': { next: wireFrame(0xc1, 'x') },
  'frames of an unknown kind': { next: wireFrame(0x83, 'x') },
  'one text that never ends': {
    first: Buffer.from([0x81, 127, 0, 0, 0, 0, 0, 0x10, 0, 0]),
    next: Buffer.from('x'),
  },
};

const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`;

/** The kinds of HTTP requests. After `first`, `next` is repeated for as long as necessary. */
export const REQUESTS: Readonly<Record<string, { readonly first?: string; readonly next: string }>> = {
  ...Object.fromEntries(
    [
      '/',
      '/metrics',
      '/-/healthy',
      '/api/v1/servers',
      '/api/v1/sd',
      '/api/v1/history?server=x/%23',
      '/api/v1/stream',
      '/nowhere',
    ].map((path) => [`requests for ${path} at once`, { next: get(path) }]),
  ),
  'requests of HTTP/1.0': { next: 'GET /-/healthy HTTP/1.0\r\nConnection: keep-alive\r\n\r\n' },
  'requests without a path': { next: 'GET * HTTP/1.1\r\nHost: a\r\n\r\n' },
  'requests with wrong passwords': { next: get('/-/healthy', 'Authorization: Basic YTpi\r\n') },
  'many headers': { first: 'GET / HTTP/1.1\r\nHost: a\r\n', next: 'X-A: b\r\n' },
  'many hosts': { first: 'GET / HTTP/1.1\r\n', next: 'Host: a\r\n' },
  'a long header': { first: 'GET / HTTP/1.1\r\nHost: a\r\nX-A: ', next: 'a' },
  'a long path': { first: 'GET /', next: 'a' },
  'many parameters': { first: 'GET /api/v1/history?', next: 'server=x/a&' },
  'a long body': {
    first: 'POST /-/reload HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n',
    next: 'x',
  },
  'chunks of a byte': {
    first: 'POST /-/reload HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n',
    next: '1\r\nx\r\n',
  },
  'empty lines': { next: '\r\n' },
  "bytes that aren't HTTP": { next: '\u0000\u0001' },
};

/** Returns at least this many bytes: the first piece, and then the next ones in turn. */
export function amountOf(
  bytes: number,
  next: readonly Buffer[],
  first: Buffer = Buffer.alloc(0),
): readonly Buffer[] {
  const pieces = first.length > 0 ? [first] : [];
  for (let size = first.length, turn = 0; size < bytes; turn += 1) {
    const piece = next[turn % next.length] ?? first;
    pieces.push(piece);
    size += piece.length;
  }
  return pieces;
}
