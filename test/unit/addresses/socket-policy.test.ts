import type { LookupAddress, LookupOptions } from 'node:dns';
import { isIP } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nodeLookup, type ResolveName } from '../../../src/addresses/name-lookups.ts';
import {
  guardedNames,
  type SocketPolicy,
  socketAddressProblem,
} from '../../../src/addresses/socket-policy.ts';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import { readTransportError } from '../../../src/diagnosis/transport-errors.ts';
import type { CauseCode } from '../../../src/domain/problems.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const PUBLIC: SocketPolicy = { panelUrl: 'https://panel.example.com', allowInsecure: false };
const LOCAL: SocketPolicy = { panelUrl: 'http://127.0.0.1:8080', allowInsecure: false };
const path = '/api/servers/1a7ce997-259b-452e-8b4e-cecc464142ca/ws';

describe('an allowed address', () => {
  it.each<[string, string, SocketPolicy]>([
    ['a node', `wss://node.example.com:8080${path}`, PUBLIC],
    ['a node without a port', `wss://node.example.com${path}`, PUBLIC],
    ['a node with a public address', `wss://203.0.113.7:8080${path}`, PUBLIC],
    ['a node with an IPv6 address', `wss://[2001:db8::7]:8080${path}`, PUBLIC],
    ['a node in a private network', `wss://10.0.0.7:8080${path}`, PUBLIC],
    ['a name that ends like localhost', `wss://notlocalhost:8080${path}`, PUBLIC],
    ['a name that begins with localhost', `wss://localhost.example.com${path}`, PUBLIC],
    ['plain ws if allowed', `ws://node.example.com${path}`, { ...PUBLIC, allowInsecure: true }],
    ['plain ws, with the panel on loopback', `ws://127.0.0.1:9000${path}`, LOCAL],
    ['loopback by name, with the panel on loopback', `ws://localhost:9000${path}`, LOCAL],
    ['a public node, with the panel on loopback', `wss://node.example.com${path}`, LOCAL],
    [
      'a host in socket_hosts',
      `wss://node.example.com${path}`,
      { ...PUBLIC, socketHosts: ['NODE.example.com'] },
    ],
    ['loopback in socket_hosts', `wss://127.0.0.1:8080${path}`, { ...PUBLIC, socketHosts: ['127.0.0.1'] }],
    ['IPv6 in socket_hosts', `wss://[::1]:8080${path}`, { ...PUBLIC, socketHosts: ['::1'] }],
    ['bracketed IPv6 in socket_hosts', `wss://[::1]:8080${path}`, { ...PUBLIC, socketHosts: ['[::1]'] }],
  ])('%s', (_, address, policy) => {
    expect(socketAddressProblem(address, policy)).toBeUndefined();
  });
});

const LOCAL_ADDRESS = {
  cause: 'socket_address_local',
  detail: expect.stringContaining('a loopback or link-local address') as string,
};

const NOT_LISTED = 'the host is not in `socket_hosts`';
const NOT_ALLOWED = 'socket_address_not_allowed';

describe('a rejected address', () => {
  it.each(['', 'node 1', path])('%j, which is none', (address) => {
    const detail = `expected a wss:// socket address from the panel, got ${JSON.stringify(address)}`;
    expect(socketAddressProblem(address, PUBLIC)).toEqual({ cause: 'socket_address', detail });
  });

  const listed = { ...PUBLIC, socketHosts: ['node.example.com'] };

  it.each<
    [what: string, origin: string, rest: string, why: string, cause?: CauseCode, policy?: SocketPolicy]
  >([
    ['https', 'https://node.example.com', '/ws', 'expected the scheme wss'],
    ['a file', 'file://', '/etc/passwd', 'expected the scheme wss'],
    ['a fragment', 'wss://node.example.com', `${path}#part`, 'a fragment is not allowed'],
    ['plain ws', 'ws://node.example.com:8080', '/ws', 'plain ws is not allowed', 'socket_address_insecure'],
    [
      'loopback',
      'wss://127.0.0.1:8080',
      '/ws',
      'a loopback or link-local address, but the panel is on another machine',
      'socket_address_local',
    ],
    ['a host that is not in socket_hosts', 'wss://other.example.com', '/ws', NOT_LISTED, NOT_ALLOWED, listed],
    [
      'a host that only ends like one in socket_hosts',
      'wss://evil-node.example.com',
      '/ws',
      NOT_LISTED,
      NOT_ALLOWED,
      listed,
    ],
    [
      'any host if socket_hosts is empty',
      'wss://node.example.com',
      '/ws',
      NOT_LISTED,
      NOT_ALLOWED,
      { ...PUBLIC, socketHosts: [] },
    ],
  ])('%s', (_, origin, rest, why, cause = 'socket_address', policy = PUBLIC) => {
    const detail = `socket address "${origin}": ${why}`;
    expect(socketAddressProblem(`${origin}${rest}`, policy)).toEqual({ cause, detail });
  });

  it.each(['user:pass@', 'user@'])('user info, which is not shown: %s', (user) => {
    const detail = 'socket address "wss://node.example.com": user info is not allowed';
    const address = `wss://${user}node.example.com/ws`;
    expect(socketAddressProblem(address, PUBLIC)).toEqual({ cause: 'socket_address', detail });
  });

  it.each([
    'localhost',
    'localhost.',
    '127.0.0.1',
    '2130706433',
    '017700000001',
    '0.0.0.0',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::127.0.0.1]',
    '[::ffff:0:127.0.0.1]',
  ])('a local host written as %s', (host) => {
    expect(socketAddressProblem(`wss://${host}:8080/ws`, PUBLIC)).toMatchObject(LOCAL_ADDRESS);
  });

  it('loopback, even with allow_insecure', () => {
    const policy = { ...PUBLIC, allowInsecure: true };
    expect(socketAddressProblem('ws://127.0.0.1:8080/ws', policy)).toMatchObject(LOCAL_ADDRESS);
  });

  it('plain ws, even with socket_hosts', () => {
    const policy = { ...PUBLIC, socketHosts: ['node.example.com'] };
    expect(socketAddressProblem('ws://node.example.com/ws', policy)).toMatchObject({
      cause: 'socket_address_insecure',
      detail: expect.stringContaining('plain ws is not allowed') as string,
    });
  });

  it('is shown in one line without control characters', () => {
    const problem = socketAddressProblem(`\u001b[31m${'x'.repeat(5_000)}\n`, PUBLIC);
    expect(problem?.detail).toMatch(/^[\x20-\x7e…]{1,300}$/);
  });

  it('is shown in one line if its host is too long', () => {
    const problem = socketAddressProblem(`https://${'x'.repeat(5_000)}/ws`, PUBLIC);
    expect(problem?.detail.length).toBeLessThan(300);
  });

  it('is shown without its path and query, which may contain secrets', () => {
    const problem = socketAddressProblem('https://node.example.com/ws?token=abc', PUBLIC);
    expect(problem?.detail).toContain('https://node.example.com');
    expect(problem?.detail).not.toContain('abc');
  });
});

it('checking an address never throws', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.webUrl(),
    fc
      .tuple(fc.constantFrom('ws', 'wss', 'http', 'data', ''), fc.string())
      .map(([s, rest]) => `${s}://${rest}`),
  );
  const policy = fc.constantFrom(PUBLIC, LOCAL, { ...PUBLIC, socketHosts: ['node.example.com', '::1'] });
  fc.assert(
    fc.property(text, policy, (address, settings) => {
      const problem = socketAddressProblem(address, settings);
      if (problem === undefined) expect(new URL(address).protocol).toMatch(/^wss?:$/);
      else {
        expect(problem.detail).toMatch(/^(expected a wss|socket address ")/);
        const { scope, lasting } = CAUSES[problem.cause];
        expect(scope === 'node' && lasting).toBe(true);
      }
    }),
  );
});

interface Found {
  readonly error: Error | null;
  readonly address: string | LookupAddress[];
  readonly family: number | undefined;
}

/** Resolves addresses to themselves. */
const names: ResolveName = (name) => {
  if (name === 'unknown.example')
    return Promise.reject(Object.assign(new Error(name), { code: 'ENOTFOUND' }));
  const address = name === 'localhost' ? '127.0.0.1' : name;
  return Promise.resolve([{ address, family: isIP(address) }]);
};

function resolve(
  hostname: string,
  options: LookupOptions = {},
  policy: Pick<SocketPolicy, 'panelUrl' | 'socketHosts'> = PUBLIC,
): Promise<Found> {
  const lookup = nodeLookup(guardedNames(policy, names), { clock: new ManualClock(), timeoutMs: 7_000 });
  return new Promise((done) => {
    lookup(hostname, options, (error, address, family) => done({ error, address, family }));
  });
}

const METADATA_HOSTS = [
  '[fd00:ec2::254]',
  '100.100.100.200',
  '[64:ff9b::169.254.169.254]',
  '[::ffff:100.100.100.200]',
];

describe("a cloud's metadata service", () => {
  it.each(METADATA_HOSTS)('is rejected at %s, wherever the panel is', (host) => {
    for (const policy of [PUBLIC, LOCAL, { ...LOCAL, allowInsecure: true }]) {
      expect(socketAddressProblem(`wss://${host}:8080/ws`, policy)?.cause).toBe('socket_address_local');
    }
    expect(socketAddressProblem(`wss://${host}/ws`, LOCAL)?.detail).toContain(': a cloud metadata address');
  });

  it.each(METADATA_HOSTS)(
    'is allowed at %s if socket_hosts lists it, and not if socket_hosts lists another host',
    (host) => {
      const address = `wss://${host}/ws`;
      expect(
        socketAddressProblem(address, { ...PUBLIC, socketHosts: [new URL(address).hostname] }),
      ).toBeUndefined();
      const cause = 'socket_address_not_allowed';
      const others = { ...PUBLIC, socketHosts: ['node.example.com'] };
      expect(socketAddressProblem(address, others)).toMatchObject({ cause });
    },
  );

  it.each(['fd00:ec2::254', '100.100.100.200', '64:ff9b::a9fe:a9fe'])(
    'is rejected as the address of a name: %s, even with the panel on this machine',
    async (address) => {
      for (const { panelUrl } of [PUBLIC, LOCAL]) {
        const found = await resolve(address, {}, { panelUrl });
        expect(found.error?.message).toBe(`"${address}" resolves to ${address}`);
        expect(found.address).toEqual([]);
      }
    },
  );

  it('does not restrict local nodes of a panel on this machine, or names in socket_hosts', async () => {
    const { panelUrl } = LOCAL;
    expect(await resolve('127.0.0.1', {}, { panelUrl })).toMatchObject({ error: null });
    const listed = { panelUrl: PUBLIC.panelUrl, socketHosts: ['node.example.com'] };
    expect(await resolve('127.0.0.1', {}, listed)).toMatchObject({ error: null });
  });
});

describe('the lookup of a node', () => {
  it.each(['localhost', '127.0.0.1', '::1', '169.254.169.254', '::ffff:127.0.0.1'])(
    'rejects %s, which resolves to this machine',
    async (hostname) => {
      for (const options of [{}, { all: true }]) {
        const { error, address } = await resolve(hostname, options);
        expect(error?.message).toMatch(/" resolves to \S+$/);
        expect(error?.message.startsWith(`"${hostname}" resolves to `)).toBe(true);
        // The cause already contains the advice.
        expect(readTransportError(error).kind).toBe('address');
        expect(address).toEqual([]);
      }
    },
  );

  it('passes on the error of a name that does not resolve', async () => {
    const { error } = await resolve('unknown.example');
    expect(error).toMatchObject({ code: 'ENOTFOUND' });
  });
});
