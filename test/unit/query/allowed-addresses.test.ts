import { isIP } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allowedAddresses, type QueryPolicy } from '../../../src/query/allowed-addresses.ts';

const PUBLIC: QueryPolicy = { panelUrl: 'https://panel.example.com' };
const LOCAL: QueryPolicy = { panelUrl: 'http://127.0.0.1:8080' };
const naming = (...queryHosts: string[]): QueryPolicy => ({ ...PUBLIC, queryHosts });

const entry = (address: string) => ({ address, family: isIP(address) });

/** A resolver that knows only these names. */
const names = (known: Readonly<Record<string, readonly string[]>>) => (name: string) => {
  const addresses = known[name];
  return addresses === undefined
    ? Promise.reject(Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' }))
    : Promise.resolve(addresses.map(entry));
};

const unused = names({});

describe('an address that may be queried', () => {
  it.each<[string, string, QueryPolicy]>([
    ['a public address', '203.0.113.7', PUBLIC],
    ['a public IPv6 address', '2001:db8::7', PUBLIC],
    ['a private address (RFC 1918)', '10.0.0.7', PUBLIC],
    ['a unique local IPv6 address', 'fd12:3456::7', PUBLIC],
    ['loopback, if the panel is on loopback', '127.0.0.1', LOCAL],
    ['loopback, if the panel is at localhost', '::1', { panelUrl: 'http://localhost' }],
    ['link-local, if the panel is local', '169.254.7.7', { panelUrl: 'http://169.254.1.1' }],
    ['loopback in query_hosts', '127.0.0.1', naming('127.0.0.1')],
    ['IPv6 loopback in query_hosts', '::1', naming('[::1]')],
    ['IPv6 in a different notation', '0:0:0:0:0:0:0:1', naming('[::1]')],
    ['link-local in query_hosts', '169.254.7.7', naming('169.254.7.7')],
    ['a metadata address in query_hosts', '169.254.169.254', naming('169.254.169.254')],
    [
      "the panel's own address, even if it is a metadata address",
      '100.100.100.200',
      { panelUrl: 'http://100.100.100.200' },
    ],
  ])('%s: %s', async (_, address, policy) => {
    expect(await allowedAddresses(address, policy, unused)).toEqual([address]);
  });

  it.each<[string, readonly string[], QueryPolicy]>([
    ['a name', ['203.0.113.7', '2001:db8::7'], PUBLIC],
    ['a name with only IPv6', ['2001:db8::7'], PUBLIC],
    ['a name in query_hosts that resolves to loopback', ['127.0.0.1'], naming('GAMES.local')],
    ['a name that resolves to an address in query_hosts', ['127.0.0.1'], naming('127.0.0.1')],
    ['a name that resolves to loopback, with the panel on loopback', ['127.0.0.1'], LOCAL],
  ])('%s', async (_, addresses, policy) => {
    const resolve = names({ 'games.local': addresses });
    expect(await allowedAddresses('games.local', policy, resolve)).toEqual(addresses);
  });

  it('is one of the first four of a name', async () => {
    const addresses = ['198.51.100.1', '198.51.100.2', '198.51.100.3', '198.51.100.4', '198.51.100.5'];
    const resolve = names({ 'games.local': addresses });
    expect(await allowedAddresses('games.local', PUBLIC, resolve)).toEqual(addresses.slice(0, 4));
  });
});

describe('an address that must not be queried', () => {
  const LOCAL_MESSAGE = /a loopback or link-local address/;

  it.each<[string, QueryPolicy, RegExp]>([
    ['127.0.0.1', PUBLIC, LOCAL_MESSAGE],
    ['::ffff:127.0.0.1', PUBLIC, LOCAL_MESSAGE],
    ['64:ff9b::7f00:1', PUBLIC, LOCAL_MESSAGE],
    ['169.254.7.7', PUBLIC, LOCAL_MESSAGE],
    ['0.0.0.0', PUBLIC, LOCAL_MESSAGE],
    ['127.0.0.1', naming('127.0.0.2'), LOCAL_MESSAGE],
    ['169.254.169.254', PUBLIC, /metadata/],
    ['169.254.169.254', LOCAL, /metadata/],
    ['::ffff:169.254.169.254', LOCAL, /metadata/],
    ['224.0.0.251', LOCAL, /multicast/],
  ])('%s (%j)', async (address, policy, words) => {
    const problem = { cause: 'query_address_not_allowed', detail: expect.stringMatching(words) as string };
    expect(await allowedAddresses(address, policy, unused)).toEqual(problem);
    // The same is true for a name that resolves to this address, even among others.
    const resolve = names({ 'play.example.com': ['203.0.113.7', address] });
    expect(await allowedAddresses('play.example.com', policy, resolve)).toEqual(problem);
  });

  it.each<[string, readonly string[], string]>([
    ['127.0.0.1', [], '127.0.0.1: a loopback or link-local address, but the panel is on another machine'],
    [
      'play.example.com',
      ['198.51.100.1', '::1'],
      '"play.example.com" resolves to ::1: a loopback or link-local address, but the panel is on another machine',
    ],
    ['169.254.169.254', [], '169.254.169.254: a cloud metadata address'],
    ['224.0.0.1', [], '224.0.0.1: a multicast or reserved address'],
  ])('is shown with its reason: %s', async (host, addresses, detail) => {
    const problem = { cause: 'query_address_not_allowed', detail };
    expect(await allowedAddresses(host, PUBLIC, names({ [host]: addresses }))).toEqual(problem);
  });

  it('is not resolved if it is a literal', async () => {
    const asked: string[] = [];
    const resolve = (name: string) => {
      asked.push(name);
      return Promise.resolve([entry('203.0.113.7')]);
    };
    await allowedAddresses('127.0.0.1', PUBLIC, resolve);
    await allowedAddresses('::1', PUBLIC, resolve);
    expect(asked).toEqual([]);
  });
});

describe('a name that does not resolve', () => {
  it.each([
    ['is unknown', names({}), '"play.example.com": ENOTFOUND'],
    ['has no address', names({ 'play.example.com': [] }), '"play.example.com" has no address'],
    [
      'is not resolved in time',
      () => Promise.reject(new Error('late')),
      '"play.example.com": not resolved in time',
    ],
  ])('has its own cause if it %s', async (_, resolve, detail) => {
    expect(await allowedAddresses('play.example.com', PUBLIC, resolve)).toEqual({
      cause: 'query_dns',
      detail,
    });
  });
});

it('a name is resolved once, and the result is one of the checked addresses', async () => {
  // A hostile name server can send another response to a second request.
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(fc.ipV4(), fc.ipV6()), { minLength: 1, maxLength: 4 }),
      async (found) => {
        let questions = 0;
        const answer = await allowedAddresses('play.example.com', PUBLIC, () => {
          questions += 1;
          return Promise.resolve((questions === 1 ? found : ['127.0.0.1']).map(entry));
        });
        expect(questions).toBe(1);
        if ('cause' in answer) expect(answer.cause).toBe('query_address_not_allowed');
        else expect(answer).toEqual(found);
      },
    ),
  );
});
