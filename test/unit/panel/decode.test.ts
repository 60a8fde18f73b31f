import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeCredentials, decodeResources, decodeStats } from '../../../src/panel/decode.ts';

const FIELD_FRAME = {
  memory_bytes: 1_073_741_824,
  memory_limit_bytes: 4_509_715_660,
  cpu_absolute: 153.217,
  network: { rx_bytes: 1, tx_bytes: 2 },
  disk_io: { read_bytes: 3, write_bytes: 4 },
  uptime: 86_400_123,
  state: 'running',
  disk_bytes: 123_456_789,
};

describe('decodeStats', () => {
  it('reads every field of a frame as seen in the field', () => {
    expect(decodeStats(FIELD_FRAME)).toEqual({
      sample: {
        state: 'running',
        memoryBytes: 1_073_741_824,
        memoryLimitBytes: 4_509_715_660,
        cpuCores: 1.53217,
        diskBytes: 123_456_789,
        networkReceiveBytes: 1,
        networkTransmitBytes: 2,
        diskReadBytes: 3,
        diskWrittenBytes: 4,
        uptimeMs: 86_400_123,
      },
      badFields: 0,
    });
  });

  it.each([
    ['an empty object', {}, {}, 0],
    [
      'an old version without uptime and disk_io',
      { state: 'offline', memory_bytes: 0 },
      { state: 'offline', memoryBytes: 0 },
      0,
    ],
    ['a limit of 0, which a server never started has', { memory_limit_bytes: 0 }, {}, 0],
    ['a state that nobody knows', { state: 'hibernating' }, { state: 'unknown' }, 0],
    ['a state that is no word', { state: 1 }, {}, 1],
    ['null', { memory_bytes: null, network: null, state: null }, {}, 3],
    ['a negative number', { memory_bytes: -1, disk_bytes: 5 }, { diskBytes: 5 }, 1],
    ['minus zero', JSON.parse('{"memory_bytes":-0}'), { memoryBytes: 0 }, 0],
    ['numbers too big to count', JSON.parse('{"memory_bytes":1e308,"uptime":1e999}'), {}, 2],
    ['NaN', { cpu_absolute: Number.NaN }, {}, 1],
    ['a number in a string', { memory_bytes: '1024' }, {}, 1],
    [
      'wrong types',
      { memory_bytes: {}, cpu_absolute: [], disk_bytes: true, network: 'x', disk_io: [] },
      {},
      5,
    ],
    ['half a network', { network: { rx_bytes: 7, tx_bytes: null } }, { networkReceiveBytes: 7 }, 1],
    [
      'a poisoned prototype',
      JSON.parse('{"__proto__":{"memory_bytes":1},"disk_bytes":2}'),
      { diskBytes: 2 },
      0,
    ],
  ])('%s', (_name, payload: unknown, sample, badFields) => {
    expect(decodeStats(payload)).toStrictEqual({ sample, badFields });
  });

  it.each([[undefined], [null], [1], ['x'], [[]], [true]])('finds nothing in %j', (payload) => {
    expect(decodeStats(payload)).toEqual({ sample: {}, badFields: 1 });
  });

  it('never throws and never gives a number that is not a finite one from 0 up', () => {
    const value = fc.oneof(fc.double(), fc.integer(), fc.jsonValue(), fc.constant(undefined));
    const names = [...Object.keys(FIELD_FRAME), 'rx_bytes', 'tx_bytes', 'read_bytes', '__proto__'];
    const fields = fc.dictionary(fc.constantFrom(...names), value);
    const payload = fc.oneof(
      fc.jsonValue(),
      fields,
      fc.record({ network: fields, disk_io: fields }, { requiredKeys: [] }),
    );
    fc.assert(
      fc.property(payload, (input) => {
        const { sample, badFields } = decodeStats(input);
        expect(badFields).toBeGreaterThanOrEqual(0);
        const { state: _, ...quantities } = sample;
        for (const quantity of Object.values(quantities)) {
          expect(quantity >= 0 && quantity <= Number.MAX_SAFE_INTEGER && !Object.is(quantity, -0)).toBe(true);
        }
      }),
    );
  });
});

describe('decodeResources', () => {
  const body = (attributes: object, object = 'stats') => ({ object, attributes });
  const resources = {
    memory_bytes: 10,
    cpu_absolute: 50,
    disk_bytes: 20,
    network_rx_bytes: 30,
    network_tx_bytes: 40,
    uptime: 5_000,
  };
  const sample = {
    state: 'running',
    memoryBytes: 10,
    cpuCores: 0.5,
    diskBytes: 20,
    networkReceiveBytes: 30,
    networkTransmitBytes: 40,
    uptimeMs: 5_000,
  };

  it.each(['stats', 'server_resource'])('reads an answer whose object is %s', (object) => {
    expect(
      decodeResources(body({ current_state: 'running', is_suspended: false, resources }, object)),
    ).toEqual({
      sample,
      suspended: false,
      badFields: 0,
    });
  });

  it('takes missing for no data, not for zeros', () => {
    const zeros = {
      memory_bytes: 0,
      cpu_absolute: 0,
      disk_bytes: 0,
      network_rx_bytes: 0,
      network_tx_bytes: 0,
    };
    expect(
      decodeResources(body({ current_state: 'missing', is_suspended: false, resources: zeros })),
    ).toEqual({
      sample: undefined,
      suspended: false,
      badFields: 0,
    });
  });

  it('tells a suspended server', () => {
    expect(
      decodeResources(body({ current_state: 'offline', is_suspended: true, resources: {} })),
    ).toMatchObject({
      sample: { state: 'offline' },
      suspended: true,
    });
  });

  it('uses what it can and counts the rest', () => {
    const attributes = {
      current_state: null,
      is_suspended: 'no',
      resources: { ...resources, disk_bytes: -1 },
    };
    const { state: _, diskBytes: __, ...usable } = sample;
    expect(decodeResources(body(attributes))).toStrictEqual({
      sample: usable,
      suspended: false,
      badFields: 3,
    });
    expect(decodeResources(body({ current_state: 'running', resources: null })).badFields).toBe(1);
  });

  it.each([[null], [[]], [{}], [{ attributes: {} }], ['x']])('refuses %j', (answer) => {
    expect(() => decodeResources(answer)).toThrow(/expected/);
  });
});

describe('decodeCredentials', () => {
  const socket = 'wss://node.example.com:8080/api/servers/1/ws';
  const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const jwt = (claims: unknown) => `${base64({ alg: 'HS256' })}.${base64(claims)}.c2ln`;
  const lifetimeOf = (token: string) => decodeCredentials({ data: { token, socket } }).lifetimeMs;

  it('gives token and address', () => {
    expect(decodeCredentials({ data: { token: 'abc', socket } })).toMatchObject({
      token: 'abc',
      socketUrl: socket,
    });
  });

  it.each([
    ['exp − iat', jwt({ iat: 1_700_000_000, exp: 1_700_000_900 }), 900_000],
    ['10 min without iat, since exp alone needs a wall clock', jwt({ exp: 1_700_000_900 }), 600_000],
    ['10 min for claims that run backwards', jwt({ iat: 5, exp: 5 }), 600_000],
    ['10 min for claims that are no numbers', jwt({ iat: '1', exp: '2' }), 600_000],
    ['10 min for claims that are no object', jwt(7), 600_000],
    ['10 min for a token that is no JWT', 'opaque', 600_000],
    ['10 min for a JWT that is damaged', 'a.%%%.c', 600_000],
    ['a day at most', jwt({ iat: 0, exp: 1e12 }), 86_400_000],
  ])('counts a life of %s', (_name, token, lifetimeMs) => {
    expect(lifetimeOf(token)).toBe(lifetimeMs);
  });

  it('counts a life from 0 to a day, whatever the token is', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ minLength: 1 }), fc.jsonValue().map(jwt)), (token) => {
        expect(lifetimeOf(token)).toBeGreaterThan(0);
        expect(lifetimeOf(token)).toBeLessThanOrEqual(86_400_000);
      }),
    );
  });

  it.each([
    [{}],
    [null],
    [{ data: { token: '', socket } }],
    [{ data: { token: 'abc' } }],
    [{ data: { token: 1, socket } }],
  ])('refuses %j, without repeating it', (answer) => {
    expect(() => decodeCredentials(answer)).toThrow('expected "token" and "socket" in "data"');
  });
});

it('a token that no auth frame can carry is refused', () => {
  const body = (length: number) => ({ data: { token: 'x'.repeat(length), socket: 'wss://node/ws' } });
  expect(decodeCredentials(body(3_900)).token).toHaveLength(3_900);
  expect(() => decodeCredentials(body(4_001))).toThrow('expected a token of at most 4000 bytes');
});

it('an uptime of over a hundred years is none', () => {
  expect(decodeStats({ state: 'running', uptime: 4e12 })).toEqual({
    sample: { state: 'running' },
    badFields: 1,
  });
});
