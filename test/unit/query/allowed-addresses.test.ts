import { describe, expect, it } from 'vitest';
import { allowedAddresses, type QueryPolicy } from '../../../src/query/allowed-addresses.ts';

const REMOTE: QueryPolicy = { panelUrl: 'https://panel.example.com' };
const LOCAL: QueryPolicy = { panelUrl: 'http://127.0.0.1:8080' };

/** Asks for a host whose name has these addresses. */
const ask = (host: string, policy = REMOTE, addresses: readonly string[] = []) =>
  allowedAddresses(host, policy, async () => addresses.map((address) => ({ address, family: 4 })));

describe('the addresses of a host', () => {
  it.each<[string, string, QueryPolicy, readonly string[], readonly string[]]>([
    ['are an address itself', '192.0.2.1', REMOTE, [], ['192.0.2.1']],
    [
      'are those of its name',
      'game.example.com',
      REMOTE,
      ['198.51.100.1', '198.51.100.2'],
      ['198.51.100.1', '198.51.100.2'],
    ],
    [
      'are the first four',
      'game.example.com',
      REMOTE,
      ['198.51.100.1', '198.51.100.2', '198.51.100.3', '198.51.100.4', '198.51.100.5'],
      ['198.51.100.1', '198.51.100.2', '198.51.100.3', '198.51.100.4'],
    ],
    ['are loopback beside a local panel', '127.0.0.1', LOCAL, [], ['127.0.0.1']],
    [
      'are any for a named host',
      'game.example.com',
      { ...REMOTE, queryHosts: ['GAME.example.com'] },
      ['127.0.0.1'],
      ['127.0.0.1'],
    ],
    [
      'are a named address',
      'game.example.com',
      { ...REMOTE, queryHosts: ['127.0.0.1'] },
      ['127.0.0.1'],
      ['127.0.0.1'],
    ],
  ])('%s', async (_what, host, policy, addresses, expected) => {
    await expect(ask(host, policy, addresses)).resolves.toEqual(expected);
  });

  it.each<[string, string, readonly string[], string]>([
    [
      'loopback',
      '127.0.0.1',
      [],
      '127.0.0.1: a loopback or link-local address, but the panel is on another machine',
    ],
    [
      'a name of loopback',
      'game.example.com',
      ['198.51.100.1', '::1'],
      '"game.example.com" resolves to ::1: a loopback or link-local address, but the panel is on another machine',
    ],
    ['metadata', '169.254.169.254', [], '169.254.169.254: a cloud metadata address'],
    ['multicast', '224.0.0.1', [], '224.0.0.1: a multicast or reserved address'],
  ])('are none for %s', async (_what, host, addresses, detail) => {
    await expect(ask(host, REMOTE, addresses)).resolves.toEqual({
      cause: 'query_address_not_allowed',
      detail,
    });
  });

  it.each<[string, () => Promise<never[]>, string]>([
    ['that has none', async () => [], '"game.example.com" has no address'],
    [
      'that doesn’t exist',
      () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' })),
      '"game.example.com": ENOTFOUND',
    ],
    [
      'that is not resolved in time',
      () => Promise.reject(new Error('late')),
      '"game.example.com": not resolved in time',
    ],
  ])('are none for a name %s', async (_what, resolve, detail) => {
    await expect(allowedAddresses('game.example.com', REMOTE, resolve)).resolves.toEqual({
      cause: 'query_dns',
      detail,
    });
  });
});
