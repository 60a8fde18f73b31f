import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isLocalAddress,
  isLocalHost,
  type SocketPolicy,
  socketAddressProblem,
} from '../../../src/session/socket-address.ts';

const PUBLIC: SocketPolicy = { panelUrl: 'https://panel.example.com', allowInsecure: false };
const LOCAL: SocketPolicy = { panelUrl: 'http://127.0.0.1:8080', allowInsecure: false };
const path = '/api/servers/1a7ce997-259b-452e-8b4e-cecc464142ca/ws';

describe('an address that may be used', () => {
  it.each<[string, string, SocketPolicy]>([
    ['a node', `wss://node.example.com:8080${path}`, PUBLIC],
    ['a node without a port', `wss://node.example.com${path}`, PUBLIC],
    ['a node by its public address', `wss://203.0.113.7:8080${path}`, PUBLIC],
    ['a node by its IPv6 address', `wss://[2001:db8::7]:8080${path}`, PUBLIC],
    ['a node in a private network', `wss://10.0.0.7:8080${path}`, PUBLIC],
    ['plain ws where that is allowed', `ws://node.example.com${path}`, { ...PUBLIC, allowInsecure: true }],
    ['plain ws from a panel on loopback', `ws://127.0.0.1:9000${path}`, LOCAL],
    ['loopback by name from a panel on loopback', `ws://localhost:9000${path}`, LOCAL],
    ['a public node from a panel on loopback', `wss://node.example.com${path}`, LOCAL],
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

describe('an address that is refused', () => {
  it.each<[string, string, SocketPolicy, string]>([
    ['nothing', '', PUBLIC, 'expected a wss:// socket address from the panel, got ""'],
    ['no address', 'node 1', PUBLIC, 'expected a wss:// socket address from the panel, got "node 1"'],
    ['a path alone', path, PUBLIC, `expected a wss:// socket address from the panel, got "${path}"`],
    [
      'https',
      'https://node.example.com/ws',
      PUBLIC,
      'socket address "https://node.example.com": expected the scheme wss',
    ],
    ['a file', 'file:///etc/passwd', PUBLIC, 'socket address "file://": expected the scheme wss'],
    [
      'user info',
      'wss://user:pass@node.example.com/ws',
      PUBLIC,
      'socket address "wss://node.example.com": it carries user info, which is refused',
    ],
    [
      'a user alone',
      'wss://user@node.example.com/ws',
      PUBLIC,
      'socket address "wss://node.example.com": it carries user info, which is refused',
    ],
    [
      'plain ws',
      'ws://node.example.com:8080/ws',
      PUBLIC,
      'socket address "ws://node.example.com:8080": plain ws is refused; give the node a certificate, or set allow_insecure: true for this panel',
    ],
    [
      'loopback',
      'wss://127.0.0.1:8080/ws',
      PUBLIC,
      'socket address "wss://127.0.0.1:8080": a loopback or link-local address from a panel that is not there itself; name the host in socket_hosts if it is right',
    ],
    [
      'a host that is not in socket_hosts',
      'wss://other.example.com/ws',
      { ...PUBLIC, socketHosts: ['node.example.com'] },
      'socket address "wss://other.example.com": the host is not in socket_hosts; add it if it is a node of yours',
    ],
    [
      'a host that only ends like one in socket_hosts',
      'wss://evil-node.example.com/ws',
      { ...PUBLIC, socketHosts: ['node.example.com'] },
      'socket address "wss://evil-node.example.com": the host is not in socket_hosts; add it if it is a node of yours',
    ],
    [
      'any host where socket_hosts is empty',
      'wss://node.example.com/ws',
      { ...PUBLIC, socketHosts: [] },
      'socket address "wss://node.example.com": the host is not in socket_hosts; add it if it is a node of yours',
    ],
  ])('%s', (_, address, policy, problem) => {
    expect(socketAddressProblem(address, policy)).toBe(problem);
  });

  it.each([
    'localhost',
    'LOCALHOST',
    'localhost.',
    'panel.localhost',
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f.0.0.1',
    '017700000001',
    '0.0.0.0',
    '169.254.169.254',
    '[::1]',
    '[::]',
    '[fe80::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:a9fe:a9fe]',
  ])('a local host written %s', (host) => {
    expect(socketAddressProblem(`wss://${host}:8080/ws`, PUBLIC)).toMatch(/loopback or link-local/);
  });

  it('allow_insecure does not open the way to loopback', () => {
    const policy = { ...PUBLIC, allowInsecure: true };
    expect(socketAddressProblem('ws://127.0.0.1:8080/ws', policy)).toMatch(/loopback or link-local/);
  });

  it('socket_hosts does not open the way to plain ws', () => {
    const policy = { ...PUBLIC, socketHosts: ['node.example.com'] };
    expect(socketAddressProblem('ws://node.example.com/ws', policy)).toMatch(/plain ws is refused/);
  });

  it('shows no control characters, and no more than a line of what came', () => {
    const problem = socketAddressProblem(`\u001b[31m${'x'.repeat(5_000)}\n`, PUBLIC) ?? '';
    expect(problem).toMatch(/^[\x20-\x7e…]{1,300}$/);
  });

  it('shows no more than a line of an overlong host', () => {
    const problem = socketAddressProblem(`https://${'x'.repeat(5_000)}/ws`, PUBLIC) ?? '';
    expect(problem.length).toBeLessThan(300);
  });

  it('shows no path or query, which may carry what is not for logs', () => {
    expect(socketAddressProblem('https://node.example.com/ws?token=abc', PUBLIC)).not.toContain('abc');
  });
});

it('never throws for any text', () => {
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
      else expect(problem).toMatch(/^(expected a wss|socket address ")/);
    }),
  );
});

describe('local addresses', () => {
  it.each([
    ['127.0.0.1', true],
    ['127.255.255.254', true],
    ['128.0.0.1', false],
    ['0.0.0.0', true],
    ['169.254.0.1', true],
    ['169.253.255.255', false],
    ['192.168.1.1', false],
    ['::1', true],
    ['::', true],
    ['::2', false],
    ['fe80::1', true],
    ['fe80::1%eth0', true],
    ['febf::1', true],
    ['fec0::1', false],
    ['::ffff:127.0.0.1', true],
    ['::ffff:169.254.169.254', true],
    ['::ffff:8.8.8.8', false],
    ['2001:db8::1', false],
    ['localhost', false],
    ['', false],
  ])('%s: %s', (address, local) => {
    expect(isLocalAddress(address)).toBe(local);
  });

  it.each([
    ['localhost', true],
    ['a.localhost', true],
    ['notlocalhost', false],
    ['localhost.example.com', false],
    ['[::1]', true],
    ['[2001:db8::1]', false],
    ['127.0.0.1', true],
    ['', false],
  ])('host %s: %s', (host, local) => {
    expect(isLocalHost(host)).toBe(local);
  });
});
