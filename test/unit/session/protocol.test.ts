import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type ClientMessage,
  decodeFrame,
  encodeMessage,
  isConsoleFrame,
  isCuredByNewToken,
  MAX_CLIENT_FRAME_BYTES,
} from '../../../src/session/protocol.ts';

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
  ])('%j', (message, frame) => {
    expect(encodeMessage(message)).toBe(frame);
  });

  it('refuses a frame that the far end would drop for its length, counted in bytes', () => {
    const overhead = encodeMessage({ event: 'send command', command: '' }).length;
    const fits = 'x'.repeat(MAX_CLIENT_FRAME_BYTES - overhead);
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
    ['args left out', '{"event":"auth success"}', { event: 'auth success', args: [] }],
    ['args null', '{"event":"token expiring","args":null}', { event: 'token expiring', args: [] }],
    ['args empty', '{"event":"token expired","args":[]}', { event: 'token expired', args: [] }],
    ['a newline behind', '{"event":"status","args":["running"]}\n', { event: 'status', args: ['running'] }],
    [
      'keys the other way round',
      '{"args":["offline"],"event":"status"}',
      { event: 'status', args: ['offline'] },
    ],
    ['more keys', '{"event":"deleted","id":7}', { event: 'deleted', args: [] }],
    [
      'an event nobody knows',
      '{"event":"feature match","args":["x"]}',
      { event: 'feature match', args: ['x'] },
    ],
    ['an event with an empty name', '{"event":""}', { event: '', args: [] }],
    ['args that are no strings', '{"event":"stats","args":[null,7,{},"x"]}', { event: 'stats', args: ['x'] }],
    [
      'stats inside a string',
      String.raw`{"event":"stats","args":["{\"state\":\"offline\"}"]}`,
      { event: 'stats', args: ['{"state":"offline"}'] },
    ],
    ['nothing', '', { bad: 'not_json' }],
    ['half a frame', '{"event":"stat', { bad: 'not_json' }],
    ["a proxy's page", '<html>502 Bad Gateway</html>', { bad: 'not_json' }],
    ['a frame behind another', '{"event":"a"}{"event":"b"}', { bad: 'not_json' }],
    ['null', 'null', { bad: 'bad_shape' }],
    ['a number', '7', { bad: 'bad_shape' }],
    ['a string', '"auth success"', { bad: 'bad_shape' }],
    ['an array', '["status","running"]', { bad: 'bad_shape' }],
    ['no event', '{"args":["running"]}', { bad: 'bad_shape' }],
    ['an event that is no string', '{"event":7,"args":[]}', { bad: 'bad_shape' }],
    ['args that are no array', '{"event":"status","args":"running"}', { bad: 'bad_shape' }],
    ['args as an object', '{"event":"status","args":{"0":"running"}}', { bad: 'bad_shape' }],
  ])('%s', (_, text, decoded) => {
    expect(decodeFrame(bytes(text))).toEqual(decoded);
  });

  it('survives nesting that no parser should recurse into', () => {
    const deep = `{"event":"x","args":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    expect(() => decodeFrame(bytes(deep))).not.toThrow();
  });

  it('never throws, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (data) => {
        const decoded = decodeFrame(Buffer.from(data));
        expect('bad' in decoded || typeof decoded.event === 'string').toBe(true);
      }),
    );
  });

  it('gives an event and args that are strings for any JSON, or says what is bad', () => {
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

describe('isConsoleFrame', () => {
  it.each([
    ['a line', '{"event":"console output","args":["[12:00:01] Done (3.2s)!"]}', true],
    ['a line with a newline behind', '{"event":"console output","args":["x"]}\n', true],
    ['nothing but the name', '{"event":"console output"}', true],
    ['the bare prefix', '{"event":"console output"', true],
    ['less than the prefix', '{"event":"console output', false],
    ['a longer name', '{"event":"console outputs","args":[]}', false],
    ['another event', '{"event":"install output","args":["x"]}', false],
    ['keys the other way round: left to the parser', '{"args":["x"],"event":"console output"}', false],
    ['spaces between: left to the parser', '{ "event": "console output" }', false],
    ['stats that speak of it', String.raw`{"event":"stats","args":["{\"event\":\"console output\""]}`, false],
    ['nothing', '', false],
  ])('%s', (_, text, expected) => {
    expect(isConsoleFrame(bytes(text))).toBe(expected);
  });

  it('never throws, and agrees with the parser on every frame that is one', () => {
    const frame = fc.oneof(
      fc.uint8Array({ maxLength: 60 }).map((data) => Buffer.from(data)),
      fc
        .record({ event: fc.constantFrom('console output', 'stats', 'status'), args: fc.array(fc.string()) })
        .map((message) => bytes(JSON.stringify(message))),
    );
    fc.assert(
      fc.property(frame, (data) => {
        const decoded = decodeFrame(data);
        const told = isConsoleFrame(data);
        if (!('bad' in decoded)) expect(told).toBe(decoded.event === 'console output');
      }),
    );
  });
});

describe('isCuredByNewToken', () => {
  it.each([
    'jwt: token expired',
    'jwt: token has expired',
    'JWT is EXPIRED',
    'jwt: created too far in past (denylist)',
    'jwt: token is on the deny list',
    'token is not yet valid',
    'token was revoked',
    'jwt: exp claim is invalid',
    'jwt: iat claim is invalid',
    'jwt: nbf claim is invalid',
  ])('%s', (text) => {
    expect(isCuredByNewToken(text)).toBe(true);
  });

  it.each([
    '',
    'jwt: no jwt present',
    'jwt: missing connect permission',
    'jwt: server uuid mismatch',
    'jwt: aud claim is invalid',
    'an unexpected error was encountered while handling this request',
  ])('not: %s', (text) => {
    expect(isCuredByNewToken(text)).toBe(false);
  });
});
