import { expect } from 'vitest';
import { PROBE_INTERVAL_MS } from '../../../src/panel/breaker.ts';
import type { Authority, Certificate } from '../../support/certificates.ts';
import { DARK, POLLED } from '../../support/fault-picture.ts';
import { type FaultRow } from '../../support/fault-row.ts';
import { AT_ONCE_MS, TOKENS_MS } from './bounds.ts';

/** What there is to be wrong with a certificate, and the words for it. */
export interface BadCertificate {
  readonly what: string;
  readonly make: (trusted: Authority, unknown: Authority) => Promise<Certificate>;
  /** OpenSSL's or Node's code, which the line about a panel names. */
  readonly code: RegExp;
  /** What the page says of a node. */
  readonly words: RegExp;
}

const HERE = 'IP:127.0.0.1';

export const BAD_CERTIFICATES: readonly BadCertificate[] = [
  {
    what: 'has expired',
    make: (trusted) => trusted.issue(HERE, 'expired'),
    code: /CERT_HAS_EXPIRED/,
    words: /certificate has expired/,
  },
  {
    what: 'is for another name',
    make: (trusted) => trusted.issue('DNS:panel.example.com'),
    code: /ERR_TLS_CERT_ALTNAME_INVALID/,
    words: /certificate is for another name/,
  },
  {
    what: 'comes from an unknown CA',
    make: (_, unknown) => unknown.issue(HERE),
    code: /UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT_LOCALLY/,
    words: /certificate comes from an unknown CA; set tls_config\.ca_file/,
  },
];

interface Material {
  readonly trusted: Authority;
  readonly good: Certificate;
  readonly bad: Certificate;
}

function scene({ trusted, good, bad }: Material): NonNullable<FaultRow['scene']> {
  return {
    networks: true,
    panel: { tls: good },
    impostor: { tls: bad },
    settings: [`tls_config: { ca_file: "${trusted.file}" }`],
  };
}

/** The panel shows the bad certificate from the first, until it gets a good one. */
export function badPanel({ code }: BadCertificate, material: Material): FaultRow {
  let port = 0;
  return {
    name: 'the panel',
    scene: scene(material),
    scope: 'panel',
    before: ({ networks, impostorPort }) => {
      port = networks.api.targetPort;
      networks.api.targetPort = impostorPort;
    },
    during: { ...DARK, panelUp: 0 },
    log: new RegExp(`can't be reached.*TLS with .* failed \\((${code.source})\\).*check the certificate`),
    lift: ({ networks }) => {
      networks.api.targetPort = port;
    },
    recoveryMs: PROBE_INTERVAL_MS + TOKENS_MS,
    afterwards: ({ exporter }) => {
      const loud = exporter.lines.filter(({ level }) => level === 'error' || level === 'warn');
      expect(loud).toHaveLength(1);
    },
  };
}

/** The struck server's node gets a bad certificate, and then a good one. */
export function badNode({ words }: BadCertificate, material: Material): FaultRow {
  let port = 0;
  return {
    name: 'a node',
    scene: scene(material),
    arrange: ({ networks, impostorPort }) => {
      port = networks.node.targetPort;
      networks.node.targetPort = impostorPort;
      networks.node.cut();
    },
    during: POLLED,
    reconnects: 'connect_failed',
    page: words,
    log: words,
    lift: ({ networks }) => {
      networks.node.targetPort = port;
    },
    recoveryMs: AT_ONCE_MS,
  };
}
