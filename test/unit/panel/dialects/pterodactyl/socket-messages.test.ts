import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  decodeFrame,
  encodeMessage,
  isConsoleFrame,
  PTERODACTYL_SOCKET,
} from '../../../../../src/panel/dialects/pterodactyl/socket-messages.ts';
import type { ClientMessage, FrameHandler } from '../../../../../src/panel/socket-codec.ts';
import { valuesOf } from '../../../../support/samples.ts';

const { handleFrame, maxFrameBytes } = PTERODACTYL_SOCKET;

const bytes = (text: string) => Buffer.from(text);

describe('encodeMessage', () => {
  it.each<[ClientMessage, string]>([
    [{ event: 'auth', token: 'a.b.c' }, '{"event":"auth","args":["a.b.c"]}'],
    [{ event: 'send stats' }, '{"event":"send stats","args":[null]}'],
    [{ event: 'send logs' }, '{"event":"send logs","args":[null]}'],
    [{ event: 'set state', action: 'restart' }, '{"event":"set state","args":["restart"]}'],
    [
      { event: 'send command', command: 'say "hi"' },
      String.raw`{"event":"send command","args":["say \"hi\""]}`,
    ],
  ])('encodes %j', (message, frame) => {
    expect(encodeMessage(message)).toBe(frame);
  });

  it('rejects a frame that the node would drop because of its length in bytes', () => {
    const overhead = encodeMessage({ event: 'send command', command: '' }).length;
    const fits = 'x'.repeat(maxFrameBytes - overhead);
    expect(Buffer.byteLength(encodeMessage({ event: 'send command', command: fits }))).toBe(4_095);
    expect(() => encodeMessage({ event: 'send command', command: `${fits}x` })).toThrow(
      new RangeError('expected a "send command" frame of at most 4095 bytes, got 4096'),
    );
    expect(() => encodeMessage({ event: 'send command', command: 'ż'.repeat(2_100) })).toThrow(RangeError);
  });

  it('does not repeat a token in its error', () => {
    const token = 'secret'.repeat(1_000);
    expect(() => encodeMessage({ event: 'auth', token })).toThrow(/^(?!.*secret).*4095/);
  });
});

describe('decodeFrame', () => {
  it.each([
    ['null args', '{"event":"token expiring","args":null}', { event: 'token expiring', args: [] }],
    ['empty args', '{"event":"token expired","args":[]}', { event: 'token expired', args: [] }],
    [
      'keys in reverse order',
      '{"args":["offline"],"event":"status"}',
      { event: 'status', args: ['offline'] },
    ],
    ['additional keys', '{"event":"deleted","id":7}', { event: 'deleted', args: [] }],
    ['an event with an empty name', '{"event":""}', { event: '', args: [] }],
    [
      'args that are not strings',
      '{"event":"stats","args":[null,7,{},"x"]}',
      { event: 'stats', args: ['x'] },
    ],
    ['an empty frame', '', { bad: 'not_json' }],
    ['half a frame', '{"event":"stat', { bad: 'not_json' }],
    ['two frames', '{"event":"a"}{"event":"b"}', { bad: 'not_json' }],
    ['null', 'null', { bad: 'bad_shape' }],
    ['an array', '["status","running"]', { bad: 'bad_shape' }],
    ['no event', '{"args":["running"]}', { bad: 'bad_shape' }],
    ['an event that is not a string', '{"event":7,"args":[]}', { bad: 'bad_shape' }],
    ['args that are not an array', '{"event":"status","args":"running"}', { bad: 'bad_shape' }],
    ['args as an object', '{"event":"status","args":{"0":"running"}}', { bad: 'bad_shape' }],
  ])('%s', (_, text, decoded) => {
    expect(decodeFrame(bytes(text))).toEqual(decoded);
  });

  it('survives nesting that would overflow a recursive parser', () => {
    const deep = `{"event":"x","args":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    expect(() => decodeFrame(bytes(deep))).not.toThrow();
  });

  it('returns an event with string args for any JSON, or what is wrong', () => {
    const frame = fc.oneof(
      fc.jsonValue(),
      fc.record({ event: fc.oneof(fc.string(), fc.jsonValue()), args: fc.jsonValue() }),
    );
    fc.assert(
      fc.property(frame, (value) => {
        const decoded = decodeFrame(bytes(JSON.stringify(value)));
        if ('bad' in decoded) return decoded.bad === 'bad_shape';
        return decoded.args.every((arg) => typeof arg === 'string');
      }),
    );
  });
});

it('a frame that is too long to be parsed at once is ignored', () => {
  const frame = (length: number) =>
    Buffer.from(JSON.stringify({ event: 'status', args: ['x'.repeat(length)] }));
  expect(decodeFrame(frame(131_000))).toMatchObject({ event: 'status' });
  expect(decodeFrame(frame(131_072))).toEqual({ bad: 'oversize' });
});

describe('isConsoleFrame', () => {
  it.each([
    ['a line', '{"event":"console output","args":["[12:00:01] Done (3.2s)!"]}', true],
    ['a line with a trailing newline', '{"event":"console output","args":["x"]}\n', true],
    ['only the name', '{"event":"console output"}', true],
    ['only the prefix', '{"event":"console output"', true],
    ['a part of the prefix, before the rest', '{"event":"console', false],
    ['keys in reverse order, which are left to the parser', '{"args":["x"],"event":"console output"}', false],
    ['spaces between, which are left to the parser', '{ "event": "console output" }', false],
  ])('%s', (_, text, expected) => {
    expect(isConsoleFrame(bytes(`${text} output"`), 0, bytes(text).length)).toBe(expected);
  });

  it('never throws, and agrees with the parser on every valid frame', () => {
    const frame = fc.oneof(
      fc.uint8Array({ maxLength: 60 }).map((data) => Buffer.from(data)),
      fc
        .record({ event: fc.constantFrom('console output', 'stats', 'status'), args: fc.array(fc.string()) })
        .map((message) => bytes(JSON.stringify(message))),
    );
    fc.assert(
      fc.property(frame, (data) => {
        const decoded = decodeFrame(data);
        const isConsole = isConsoleFrame(data);
        if (!('bad' in decoded)) expect(isConsole).toBe(decoded.event === 'console output');
      }),
    );
  });
});

let delivered: unknown[][];
let counted: string[];

const handler: FrameHandler = {
  telemetry: {
    message: (event) => counted.push(event),
    badMessage: (kind) => counted.push(`bad ${kind}`),
    reconnect: (reason) => counted.push(`reconnect ${reason}`),
    request: (endpoint) => counted.push(`request ${endpoint}`),
  },
  unreadable: () => delivered.push(['unreadable']),
  consoleLine: () => delivered.push(['consoleLine']),
  stats: (sample) => delivered.push(['stats', valuesOf(sample)]),
  status: (state) => delivered.push(['status', state]),
  authenticated: () => delivered.push(['authenticated']),
  tokenEnding: () => delivered.push(['tokenEnding']),
  jwtError: (error) => delivered.push(['jwtError', error]),
  daemonError: (words) => delivered.push(['daemonError', words]),
  backupCompleted: () => delivered.push(['backupCompleted']),
};

beforeEach(() => {
  delivered = [];
  counted = [];
});

const take = (text: string, isBinary = false) => handleFrame(Buffer.from(text), isBinary, handler);
const frame = (event: string, ...args: unknown[]) => JSON.stringify({ event, args });

describe('a frame delivers', () => {
  it.each<[string, string, unknown[]]>([
    ['auth success', '{"event":"auth success"}', ['authenticated']],
    ['a status', frame('status', 'running'), ['status', 'running']],
    ['a status with an unknown state', frame('status', 'hibernating'), ['status', 'unknown']],
    ['token expiring', '{"event":"token expiring"}\n', ['tokenEnding']],
    ['token expired', '{"event":"token expired"}', ['tokenEnding']],
    ['a console line', frame('console output', 'hello'), ['consoleLine']],
    [
      'a console line with keys in reverse order',
      '{"args":["hello"],"event":"console output"}',
      ['consoleLine'],
    ],
    [
      'an error that a new token resolves',
      frame('jwt error', 'jwt: created too far in past (denylist)'),
      [
        'jwtError',
        { message: 'jwt: created too far in past (denylist)', isFixable: true, answersToken: false },
      ],
    ],
    [
      'an error that a new token does not resolve',
      frame('jwt error', 'Error Event [0f4b5d2c]: jwt: missing connect permission'),
      ['jwtError', { message: 'jwt: missing connect permission', isFixable: false, answersToken: true }],
    ],
    [
      'an error without text',
      '{"event":"jwt error"}',
      ['jwtError', { message: '', isFixable: false, answersToken: false }],
    ],
    ['a daemon error', frame('daemon error', 'Error Event [0f4b5d2c]: odd'), ['daemonError', 'odd']],
    ['a daemon error without text', frame('daemon error'), ['daemonError', '']],
  ])('%s', (_, text, expected) => {
    take(text);
    expect(delivered).toEqual([expected]);
    expect(counted.filter((entry) => entry.startsWith('bad'))).toEqual([]);
  });

  it('stats, whose decoder has tests of its own', () => {
    take(frame('stats', '{"memory_bytes":0,"state":"offline","disk_bytes":5}'));
    expect(delivered).toEqual([['stats', { memoryBytes: 0, state: 'offline', diskBytes: 5 }]]);
    expect(counted).toEqual(['stats']);
  });
});

it.each([
  // Wings 1.6 and later, and Pelican.
  [
    'backup completed',
    ['{"checksum":"","checksum_type":"sha1","file_size":0,"is_successful":false,"uuid":"6d0b"}'],
  ],
  // Wings up to 1.5.
  ['backup completed:6d0b2ac4-7a21-4b3c-9f59-0e5a5c7f4a11', ['{"is_successful":true}']],
  ['backup completed:', []],
  ['backup completed', []],
])('a completed backup is delivered whatever the event contains: %s %j', (event, args) => {
  take(frame(event, ...args));
  expect(counted).toEqual(['backup completed']);
  expect(delivered).toEqual([['backupCompleted']]);
});

describe('a frame is only counted', () => {
  it.each([
    'daemon message',
    'throttled',
    'install started',
    'install output',
    'install completed',
    'backup restore completed',
    'backup completed elsewhere',
    'transfer logs',
    'transfer status',
    'deleted',
    'feature match',
    'invented tomorrow',
  ])('for %s', (event) => {
    take(frame(event, 'words'));
    expect(counted).toEqual([event]);
    expect(delivered).toEqual([]);
  });

  it.each([
    ['text that is not JSON', 'garbage', ['bad not_json']],
    ['a frame that is not a message', '[]', ['bad bad_shape']],
    ['a status without a state', '{"event":"status"}', ['status', 'bad bad_shape']],
    ['stats without a payload', '{"event":"stats"}', ['stats', 'bad bad_shape']],
    ['stats as an object', '{"event":"stats","args":[{"memory_bytes":1}]}', ['stats', 'bad bad_shape']],
    ['stats that are not JSON', frame('stats', '{oops'), ['stats', 'bad not_json']],
    ['stats that are a number', frame('stats', '7'), ['stats', 'bad bad_shape']],
    ['stats that are null', frame('stats', 'null'), ['stats', 'bad bad_shape']],
    ['stats that are an array', frame('stats', '[]'), ['stats', 'bad bad_shape']],
  ])('for %s', (_, text, expected) => {
    take(text);
    expect(counted).toEqual(expected);
    expect(delivered).toEqual(expected.includes('bad not_json') ? [['unreadable']] : []);
  });

  it('for each invalid field of stats, while the other fields are delivered', () => {
    take(
      frame(
        'stats',
        '{"memory_bytes":-1,"cpu_absolute":"12","disk_bytes":null,"uptime":5,"state":"running"}',
      ),
    );
    expect(counted).toEqual(['stats', 'bad bad_field', 'bad bad_field', 'bad bad_field']);
    expect(delivered).toEqual([['stats', { state: 'running', uptimeMs: 5 }]]);
  });

  it('for a binary frame, whatever it contains', () => {
    take('{"event":"auth success"}', true);
    expect(counted).toEqual(['bad binary']);
    expect(delivered).toEqual([]);
  });
});

it('handling a frame never throws', () => {
  const event = fc.constantFrom('stats', 'status', 'jwt error', 'auth success', '__proto__', 'constructor');
  const payload = fc.oneof(fc.string(), fc.json(), fc.jsonValue());
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.tuple(event, payload).map(([name, value]) => frame(name, value)),
  );
  fc.assert(
    fc.property(text, fc.boolean(), (data, isBinary) => {
      expect(() => take(data, isBinary)).not.toThrow();
    }),
  );
});

describe('daemonNotice', () => {
  const { daemonNotice } = PTERODACTYL_SOCKET;
  const DISK_FULL = 'Server is exceeding the assigned disk space limit, stopping process now.';
  const line = (text: string, end = '') =>
    bytes(`${JSON.stringify({ event: 'console output', args: [text] })}${end}`);
  const said = (sentence: string, reset = '') =>
    `\u001B[33m\u001B[1m[Pterodactyl Daemon]:\u001B[39m ${sentence}${reset}`;

  it.each([
    ['as Wings sends it', line(said(DISK_FULL))],
    ['with a trailing newline', line(said(DISK_FULL), '\n')],
    ['with the colors reset', line(said(DISK_FULL, '\u001B[0m'))],
    [
      'with its keys in another order',
      bytes(JSON.stringify({ args: [said(DISK_FULL)], event: 'console output' })),
    ],
  ])('finds the message about a full disk at any time: %s', (_title, frame) => {
    expect(daemonNotice(frame, false)).toEqual({ kind: 'disk full' });
    expect(daemonNotice(frame, true)).toEqual({ kind: 'disk full' });
  });

  it('reads other messages only after a stop', () => {
    const frame = line(said('Exit code: 137'));
    expect(daemonNotice(frame, false)).toBeUndefined();
    expect(daemonNotice(frame, true)).toEqual({ kind: 'exit code', code: 137 });
  });

  it.each([
    ['the message of a game without the prefix', line(DISK_FULL)],
    ['a line with a similar end', line('[12:00:00 INFO]: restarting now.')],
    ['a line of a megabyte', line(said('x'.repeat(1_000_000)))],
    ['an empty line', line('')],
    ['no argument', bytes('{"event":"console output"}')],
  ])('finds nothing in %s', (_title, frame) => {
    expect(daemonNotice(frame, false)).toBeUndefined();
    expect(daemonNotice(frame, true)).toBeUndefined();
  });

  it.each([
    ['a truncated frame', line(said(DISK_FULL)).subarray(0, -2)],
    ['an empty frame', bytes('')],
  ])('reports %s', (_title, frame) => {
    expect(daemonNotice(frame, true)).toBe('unreadable');
  });

  it('never throws, and reads only the message about a full disk unless after a stop', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), fc.string(), (noise, text) => {
        for (const frame of [Buffer.from(noise), line(text), line(said(text))]) {
          const notice = daemonNotice(frame, false);
          expect([undefined, 'unreadable', 'disk full']).toContain(
            typeof notice === 'object' ? notice.kind : notice,
          );
          daemonNotice(frame, true);
        }
      }),
    );
  });
});
