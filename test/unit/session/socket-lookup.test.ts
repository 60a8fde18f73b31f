import type { LookupAddress, LookupOptions } from 'node:dns';
import { describe, expect, it } from 'vitest';
import { guardedLookup } from '../../../src/session/socket-lookup.ts';

interface Found {
  readonly error: Error | null;
  readonly address: string | LookupAddress[];
  readonly family: number | undefined;
}

// Addresses resolve to themselves, so that no name server is asked.
function resolve(hostname: string, options: LookupOptions = {}): Promise<Found> {
  return new Promise((done) => {
    guardedLookup(hostname, options, (error, address, family) => done({ error, address, family }));
  });
}

describe('guardedLookup', () => {
  it('gives one address, as a connect asks for it', async () => {
    expect(await resolve('203.0.113.7')).toEqual({ error: null, address: '203.0.113.7', family: 4 });
  });

  it('gives all addresses where all are asked for', async () => {
    const { address } = await resolve('2001:db8::7', { all: true });
    expect(address).toEqual([{ address: '2001:db8::7', family: 6 }]);
  });

  it.each(['localhost', '127.0.0.1', '::1', '169.254.169.254', '::ffff:127.0.0.1'])(
    'refuses %s, which leads here',
    async (hostname) => {
      for (const options of [{}, { all: true }]) {
        const { error, address } = await resolve(hostname, options);
        expect(error?.message.startsWith(`"${hostname}" leads to `)).toBe(true);
        expect(error?.message).toContain('; name the host in socket_hosts if that is right');
        expect(address).toEqual([]);
      }
    },
  );

  // A label of 64 characters is refused before any name server is asked.
  it('passes on why a name does not resolve', async () => {
    const { error } = await resolve(`${'x'.repeat(64)}.example`);
    expect(error).toMatchObject({ code: expect.stringMatching(/^E/) as string });
  });
});
