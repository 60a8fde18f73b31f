import fc from 'fast-check';
import { expect, it } from 'vitest';
import { perSite } from '../../../src/addresses/site-cache.ts';

const address = fc
  .tuple(
    fc.constantFrom('wss://', 'ws://', 'http://', ''),
    fc.constantFrom(
      'node',
      'NODE',
      'node:8080',
      'a@node',
      'node\\a',
      'no\tde',
      'n%6fde',
      '[::1]',
      '127.0.0.1',
      '',
    ),
    fc.constantFrom('', '/', '/a', '/a/b', '/#', '/#a', '/?a', '/@node', '/\\', ':443/', '@host/'),
  )
  .map((parts) => parts.join(''));

/** The parts of an address that determine its destination. */
function whereTo(address: string): string {
  if (!URL.canParse(address)) return 'nowhere';
  const { protocol, host, username, password, hash } = new URL(address);
  return [protocol, host, username, password, hash].join(' ');
}

it('whatever is asked, and after whatever else, the result is the one of the address itself', () => {
  fc.assert(
    fc.property(fc.array(address, { minLength: 60, maxLength: 60 }), (addresses) => {
      const known = perSite(whereTo);
      for (const one of addresses) expect(known(one)).toBe(whereTo(one));
    }),
  );
});

it('addresses that differ only in their paths are read once, whatever was read', () => {
  const read: string[] = [];
  const known = perSite((address) => {
    read.push(address);
    return undefined;
  });
  for (const path of ['a', 'b', 'api/servers/c-d/ws']) known(`wss://node-1.example.com:8080/${path}`);
  known('wss://node-1.example.com/a');
  known('ws://node-1.example.com:8080/a');
  expect(read).toEqual([
    'wss://node-1.example.com:8080/a',
    'wss://node-1.example.com/a',
    'ws://node-1.example.com:8080/a',
  ]);
});

it('an address that can not be read is read again', () => {
  let times = 0;
  const known = perSite(() => {
    times += 1;
    throw new Error('expected a proxy');
  });
  for (const path of ['a', 'b']) expect(() => known(`wss://node/${path}`)).toThrow('expected a proxy');
  expect(times).toBe(2);
});
