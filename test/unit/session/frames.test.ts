import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { type FrameHandler, handleFrame } from '../../../src/session/frames.ts';

let told: unknown[][];
let counted: string[];

const handler: FrameHandler = {
  telemetry: {
    message: (event) => counted.push(event),
    badMessage: (kind) => counted.push(`bad ${kind}`),
    reconnect: (reason) => counted.push(`reconnect ${reason}`),
    request: (endpoint) => counted.push(`request ${endpoint}`),
  },
  consoleLine: () => told.push(['consoleLine']),
  stats: (sample) => told.push(['stats', sample]),
  status: (state) => told.push(['status', state]),
  authenticated: () => told.push(['authenticated']),
  tokenEnding: () => told.push(['tokenEnding']),
  jwtError: (text, curable) => told.push(['jwtError', text, curable]),
};

beforeEach(() => {
  told = [];
  counted = [];
});

const take = (text: string, isBinary = false) => handleFrame(Buffer.from(text), isBinary, handler);
const frame = (event: string, ...args: unknown[]) => JSON.stringify({ event, args });

const RUNNING =
  '{"memory_bytes":1073741824,"memory_limit_bytes":4509715660,"cpu_absolute":153.217,' +
  '"network":{"rx_bytes":1,"tx_bytes":2},"disk_io":{"read_bytes":0,"write_bytes":0},"uptime":86400123,' +
  '"state":"running","disk_bytes":123456789}';

describe('what a frame tells', () => {
  it.each<[string, string, unknown[]]>([
    ['auth success', '{"event":"auth success"}', ['authenticated']],
    ['a status', frame('status', 'running'), ['status', 'running']],
    ['a status in a word nobody knows', frame('status', 'hibernating'), ['status', 'unknown']],
    ['token expiring', '{"event":"token expiring"}\n', ['tokenEnding']],
    ['token expired', '{"event":"token expired"}', ['tokenEnding']],
    ['a console line', frame('console output', 'hello'), ['consoleLine']],
    ['a console line, keys reversed', '{"args":["hello"],"event":"console output"}', ['consoleLine']],
    [
      'a refusal that a new token cures',
      frame('jwt error', 'jwt: created too far in past (denylist)'),
      ['jwtError', 'jwt: created too far in past (denylist)', true],
    ],
    [
      'a refusal that it does not cure',
      frame('jwt error', 'jwt: missing connect permission'),
      ['jwtError', 'jwt: missing connect permission', false],
    ],
    ['a refusal without words', '{"event":"jwt error"}', ['jwtError', '', false]],
  ])('%s', (_, text, expected) => {
    take(text);
    expect(told).toEqual([expected]);
    expect(counted.filter((entry) => entry.startsWith('bad'))).toEqual([]);
  });

  it('stats as a modern panel sends them', () => {
    take(frame('stats', RUNNING));
    expect(told).toEqual([
      [
        'stats',
        {
          state: 'running',
          memoryBytes: 1_073_741_824,
          memoryLimitBytes: 4_509_715_660,
          cpuCores: 1.53217,
          diskBytes: 123_456_789,
          networkReceiveBytes: 1,
          networkTransmitBytes: 2,
          diskReadBytes: 0,
          diskWrittenBytes: 0,
          uptimeMs: 86_400_123,
        },
      ],
    ]);
    expect(counted).toEqual(['stats']);
  });

  it('stats of a server that is off', () => {
    take(frame('stats', '{"memory_bytes":0,"state":"offline","disk_bytes":5}'));
    expect(told).toEqual([['stats', { memoryBytes: 0, state: 'offline', diskBytes: 5 }]]);
  });
});

describe('what is counted', () => {
  it.each([
    'daemon error',
    'daemon message',
    'throttled',
    'install started',
    'install output',
    'install completed',
    'backup completed',
    'backup restore completed',
    'transfer logs',
    'transfer status',
    'deleted',
    'feature match',
    'invented tomorrow',
  ])('%s, and nothing follows from it', (event) => {
    take(frame(event, 'words'));
    expect(counted).toEqual([event]);
    expect(told).toEqual([]);
  });

  it.each([
    ['text that is not JSON', 'garbage', ['bad not_json']],
    ['a frame that is no message', '[]', ['bad bad_shape']],
    ['a status without a state', '{"event":"status"}', ['status', 'bad bad_shape']],
    ['stats without a payload', '{"event":"stats"}', ['stats', 'bad bad_shape']],
    ['stats as an object', '{"event":"stats","args":[{"memory_bytes":1}]}', ['stats', 'bad bad_shape']],
    ['stats that are not JSON', frame('stats', '{oops'), ['stats', 'bad not_json']],
    ['stats that are a number', frame('stats', '7'), ['stats', 'bad bad_shape']],
    ['stats that are null', frame('stats', 'null'), ['stats', 'bad bad_shape']],
    ['stats that are an array', frame('stats', '[]'), ['stats', 'bad bad_shape']],
  ])('%s, and nothing follows from it', (_, text, expected) => {
    take(text);
    expect(counted).toEqual(expected);
    expect(told).toEqual([]);
  });

  it('each field of stats that cannot be used; the others are', () => {
    take(
      frame(
        'stats',
        '{"memory_bytes":-1,"cpu_absolute":"12","disk_bytes":null,"uptime":5,"state":"running"}',
      ),
    );
    expect(counted).toEqual(['stats', 'bad bad_field', 'bad bad_field', 'bad bad_field']);
    expect(told).toEqual([['stats', { state: 'running', uptimeMs: 5 }]]);
  });

  it('a binary frame, whatever it holds', () => {
    take('{"event":"auth success"}', true);
    expect(counted).toEqual(['bad binary']);
    expect(told).toEqual([]);
  });
});

it('never throws, whatever a frame holds', () => {
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
