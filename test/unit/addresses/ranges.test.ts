import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isLinkLocal,
  isLocalHost,
  isLoopback,
  isMetadataAddress,
  isPrivateHost,
  isUnspecified,
} from '../../../src/addresses/ranges.ts';

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
    ['::2', true],
    ['::8.8.8.8', false],
    ['::ffff:0:8.8.8.8', false],
    ['fe80::1', true],
    ['fe80::1%eth0', true],
    ['febf::1', true],
    ['fec0::1', false],
    ['::ffff:127.0.0.1', true],
    ['::ffff:169.254.169.254', true],
    ['::ffff:8.8.8.8', false],
    ['2001:db8::1', false],
    ['[::1]', true],
    ['localhost', true],
    ['game.localhost.', true],
    ['localhost.example.com', false],
    ['', false],
  ])('%s is local: %s', (address, local) => {
    expect(isLocalHost(address)).toBe(local);
  });

  it.each([
    ['64:ff9b::127.0.0.1', true],
    ['64:ff9b:1:ffff:ff:ffff:7f00:1', true],
    ['2002:7f00:1::1', true],
    ['::127.0.0.1', true],
    ['::7f00:1', true],
    ['::ffff:0:127.0.0.1', true],
    ['2001:db8::5efe:127.0.0.1', true],
    ['2001:db8::200:5efe:169.254.1.1', true],
    ['64:ff9b::10.0.0.1', false],
    ['::10.0.0.1', false],
    ['2001:db8::5efe:10.0.0.1', false],
  ])('include an IPv4 address embedded in IPv6: %s (%s)', (address, local) => {
    expect(isLocalHost(address)).toBe(local);
  });
});

it.each([
  ['127.0.0.1', true],
  ['127.8.9.10', true],
  ['::1', true],
  ['[::1]', true],
  ['localhost', true],
  ['panel.localhost', true],
  ['localhost.', true],
  ['::ffff:127.0.0.1', true],
  ['0.0.0.0', false],
  ['169.254.1.1', false],
  ['fe80::1', false],
  ['10.0.0.1', false],
  ['localhost.example.com', false],
  ['127.0.0.1.example.com', false],
  ['', false],
])('%s is loopback: %s', (host, loopback) => {
  expect(isLoopback(host)).toBe(loopback);
});

describe("the addresses of clouds' metadata services", () => {
  it.each([
    ['169.254.169.254', true],
    ['169.254.170.2', true],
    ['169.254.170.23', true],
    ['100.100.100.200', true],
    ['168.63.129.16', true],
    ['fd00:ec2::254', true],
    ['FD00:0EC2:0:0:0:0:0:254', true],
    ['fd00:ec2::23', true],
    ['fd20:ce::254', true],
    ['fd20:ce::254%eth0', true],
    ['::ffff:169.254.169.254', true],
    ['::ffff:6464:64c8', true],
    ['64:ff9b::a9fe:a9fe', true],
    ['64:ff9b::168.63.129.16', true],
    ['64:ff9b:1::169.254.169.254', true],
    ['64:ff9b:1:a9fe:a9:fe00::', true],
    ['64:ff9b:1:a9:fe:a9fe::', true],
    ['64:ff9b:1:0:a9:fea9:fe00:0', true],
    ['2002:a9fe:a9fe::', true],
    ['2001:db8:64::a9fe:a9fe', true],
    ['::169.254.169.254', true],
    ['100.100.100.201', false],
    ['168.63.129.17', false],
    ['10.0.0.1', false],
    ['192.168.1.1', false],
    ['172.17.0.1', false],
    ['100.64.0.1', false],
    ['203.0.113.7', false],
    ['127.0.0.1', false],
    ['::1', false],
    ['fd12:3456:789a::1', false],
    ['fd00::1', false],
    ['64:ff9b::8.8.8.8', false],
    ['2001:db8::1', false],
    ['metadata.google.internal', false],
    ['', false],
  ])('%s is one: %s', (address, isMetadata) => {
    expect(isMetadataAddress(address)).toBe(isMetadata);
  });

  it('are recognized in any notation, and no address causes an exception', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string({ maxLength: 40 })), (address) => {
        expect([isLocalHost(address), isMetadataAddress(address)]).toHaveLength(2);
      }),
    );
    fc.assert(
      fc.property(
        fc.constantFrom('169.254.169.254', '100.100.100.200', '168.63.129.16'),
        fc.nat(0xffff),
        (quad, site) => {
          expect(isMetadataAddress(`2001:db8:${site.toString(16)}::${quad}`)).toBe(true);
        },
      ),
    );
  });
});

it.each([
  ['10.1.2.3', true],
  ['172.16.0.1', true],
  ['172.32.0.1', false],
  ['192.168.1.5', true],
  ['100.64.0.1', true],
  ['127.0.0.1', true],
  ['203.0.113.7', false],
  ['[fd12::5]', true],
  ['[2001:db8::1]', false],
  ['localhost', true],
  ['panel', true],
  ['panel.lan', true],
  ['nas.home.arpa', true],
  ['panel.example.com', false],
  ['lan.example.com', false],
])('the host %s is in a private network: %s', (host, isPrivate) => {
  expect(isPrivateHost(host)).toBe(isPrivate);
});

it.each([
  ['0.0.0.0', 'unspecified'],
  ['0.1.2.3', 'unspecified'],
  ['::', 'unspecified'],
  ['::ffff:0.0.0.0', 'unspecified'],
  ['169.254.7.7', 'link-local'],
  ['fe80::7', 'link-local'],
  ['127.0.0.1', 'neither'],
  ['::1', 'neither'],
  ['203.0.113.7', 'neither'],
  ['2001:db8::7', 'neither'],
  ['0', 'neither'],
  ['play.example.com', 'neither'],
])('the host %s is %s', (host, kind) => {
  expect([isUnspecified(host), isLinkLocal(host)]).toEqual([kind === 'unspecified', kind === 'link-local']);
});
