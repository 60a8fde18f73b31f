import { afterAll, beforeAll, describe, it } from 'vitest';
import { type Authority, createAuthority } from '../support/certificates.ts';
import { expectRow } from '../support/fault-row.ts';
import { BAD_CERTIFICATES, badNode, badPanel } from './rows/certificates.ts';

let trusted: Authority;
let unknown: Authority;

beforeAll(async () => {
  [trusted, unknown] = await Promise.all([createAuthority(), createAuthority()]);
});

afterAll(async () => {
  await Promise.all([trusted.end(), unknown.end()]);
});

describe.each(BAD_CERTIFICATES)('a certificate that $what', (certificate) => {
  const material = async () => ({
    trusted,
    good: await trusted.issue('IP:127.0.0.1'),
    bad: await certificate.make(trusted, unknown),
  });

  it("is the panel's", async () => expectRow(badPanel(certificate, await material())));

  it("is a node's", async () => expectRow(badNode(certificate, await material())));
});
