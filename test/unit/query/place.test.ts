import { expect, it } from 'vitest';
import type { ServerTarget } from '../../../src/domain/server.ts';
import { queryPlace } from '../../../src/query/place.ts';

type Described = Parameters<typeof queryPlace>[0];
const query = (address?: string): ServerTarget['query'] => ({
  type: 'minecraft',
  intervalMs: 60_000,
  address,
});

it.each<[string, Described, unknown]>([
  [
    'its default allocation',
    { allocation: '192.0.2.1:25565' },
    { host: '192.0.2.1', port: 25_565, isQueryPort: false },
  ],
  [
    'its address, without an allocation',
    { address: '192.0.2.1:25565' },
    { host: '192.0.2.1', port: 25_565, isQueryPort: false },
  ],
  [
    'the configured port',
    { query: query('game.example.com:27016'), allocation: '192.0.2.1:25565' },
    { host: 'game.example.com', port: 27_016, isQueryPort: true },
  ],
  [
    'the configured host with the port of the allocation',
    { query: query('game.example.com'), allocation: '192.0.2.1:25565' },
    { host: 'game.example.com', port: 25_565, isQueryPort: false },
  ],
])('a server is queried at %s', (_what, server, expected) => {
  expect(queryPlace(server)).toEqual(expected);
});

it.each<[string, Described, RegExp]>([
  ['no allocation', {}, /^the server list has no default allocation$/],
  ['a configured host only', { query: query('game.example.com') }, /^query\.address has no port/],
  ['an allocation without a host', { allocation: ':25565' }, /^the default allocation is 0\.0\.0\.0 or ::/],
])('a server with %s can’t be queried', (_what, server, detail) => {
  expect(queryPlace(server)).toEqual({
    cause: 'query_address_missing',
    detail: expect.stringMatching(detail),
  });
});
