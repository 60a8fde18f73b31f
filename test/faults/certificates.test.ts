// Faults of TLS.
import { afterAll, beforeAll, it } from 'vitest';
import { type Authority, createAuthority } from '../support/certificates.ts';
import { expectRow } from '../support/fault-row.ts';
import { TLS_ROWS } from './rows/certificates.ts';

let trusted: Authority;
let unknown: Authority;

beforeAll(async () => {
  [trusted, unknown] = await Promise.all([createAuthority(), createAuthority()]);
});

afterAll(async () => {
  await Promise.all([trusted.end(), unknown.end()]);
});

it.each(TLS_ROWS.map((row) => [row.name, row] as const))(
  'reports this fault and recovers from it: %s',
  async (_name, { play, cause }) => expectRow({ ...(await play({ trusted, unknown })), cause }),
);
