// Faults of TLS.
import { readFile } from 'node:fs/promises';
import type { TlsOptions } from 'node:tls';
import { expect } from 'vitest';
import { shortTitle } from '../../../src/diagnosis/causes.ts';
import type { CauseCode } from '../../../src/domain/problems.ts';
import type { Authority, Certificate } from '../../support/certificates.ts';
import { DARK, POLLED } from '../../support/fault-picture.ts';
import type { FaultRow } from '../../support/fault-row.ts';
import { loseToken } from '../../support/fault-scene.ts';
import { TARGET, TARGET_UUID } from '../../support/fault-stage.ts';
import { type NameService, startNameService } from '../../support/name-service.ts';
import { AT_ONCE_MS, REFUSED_MS, TOKENS_MS, TRIAL_GAP_MS } from './bounds.ts';

/** A mistake in the TLS of a port, and the expected messages. */
interface BadTls {
  readonly what: string;
  readonly make: (authorities: Authorities) => Promise<Certificate>;
  /**
   * Matches the code of OpenSSL or Node.js in the log, or OpenSSL's message if the code is EPROTO.
   */
  readonly code: RegExp;
  readonly panel: CauseCode;
  readonly node: CauseCode;
}

/** An authority that the exporter trusts, and one that it doesn't. */
interface Authorities {
  readonly trusted: Authority;
  readonly unknown: Authority;
}

const HERE = 'IP:127.0.0.1';

/** A certificate, and further TLS options of a Node.js server. */
type Settings = Certificate & Pick<TlsOptions, 'ca' | 'requestCert' | 'minVersion' | 'maxVersion'>;

const BAD_TLS: readonly BadTls[] = [
  {
    what: 'an expired certificate',
    make: ({ trusted }) => trusted.issue(HERE, 'expired'),
    code: /CERT_HAS_EXPIRED/,
    panel: 'tls_expired',
    node: 'node_tls_expired',
  },
  {
    what: 'a certificate that is not yet valid',
    make: ({ trusted }) => trusted.issue(HERE, 'not yet valid'),
    code: /CERT_NOT_YET_VALID/,
    panel: 'tls_not_yet_valid',
    node: 'node_tls_not_yet_valid',
  },
  {
    what: 'a certificate for another name',
    make: ({ trusted }) => trusted.issue('DNS:panel.example.com'),
    code: /ERR_TLS_CERT_ALTNAME_INVALID/,
    panel: 'tls_wrong_name',
    node: 'node_tls_wrong_name',
  },
  {
    what: 'a certificate from an unknown CA',
    make: ({ unknown }) => unknown.issue(HERE),
    code: /UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT_LOCALLY/,
    panel: 'tls_unknown_ca',
    node: 'node_tls_unknown_ca',
  },
  {
    what: 'TLS that requires a client certificate',
    make: async ({ trusted }): Promise<Settings> => {
      const [certificate, ca] = await Promise.all([trusted.issue(HERE), readFile(trusted.file, 'utf8')]);
      return { ...certificate, ca, requestCert: true };
    },
    code: /ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED|alert certificate required/,
    panel: 'tls_client_certificate',
    node: 'node_tls_client_certificate',
  },
  {
    what: 'TLS of an old version only',
    make: async ({ trusted }): Promise<Settings> => ({
      ...(await trusted.issue(HERE)),
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
    }),
    code: /no common TLS version/,
    panel: 'tls',
    node: 'node_tls',
  },
];

/** A row whose certificates are created when it runs. */
export interface TlsRow {
  readonly name: string;
  readonly cause: CauseCode;
  readonly play: (authorities: Authorities) => Promise<FaultRow>;
}

interface Material {
  readonly trusted: Authority;
  readonly good: Certificate;
  readonly bad: Certificate;
}

async function materialFor({ make }: BadTls, authorities: Authorities): Promise<Material> {
  const { trusted } = authorities;
  return { trusted, good: await trusted.issue(HERE), bad: await make(authorities) };
}

function scene({ trusted, good, bad }: Material): NonNullable<FaultRow['scene']> {
  return {
    networks: true,
    panel: { tls: good },
    impostor: { tls: bad },
    settings: [`tls_config: { ca_file: "${trusted.file}" }`],
  };
}

/** A panel with a mistake in its TLS from the start. */
function badPanel({ code, panel: cause }: BadTls, material: Material): Omit<FaultRow, 'name'> {
  let port = 0;
  return {
    scene: scene(material),
    scope: 'panel',
    before: ({ networks, impostorPort }) => {
      port = networks.api.targetPort;
      networks.api.targetPort = impostorPort;
    },
    during: { ...DARK, panelUp: 0 },
    cause,
    log: new RegExp(`${shortTitle(cause)}: .*TLS with .* failed: .*(?:${code.source})`),
    lift: ({ networks }) => {
      networks.api.targetPort = port;
    },
    recoveryMs: TRIAL_GAP_MS + TOKENS_MS,
    afterwards: ({ exporter }) => {
      const loud = exporter.lines.filter(({ level }) => level === 'error' || level === 'warn');
      expect(loud).toHaveLength(1);
    },
  };
}

/** A node that gets a mistake in its TLS while its server streams. */
function badNode({ code, node: cause }: BadTls, material: Material): Omit<FaultRow, 'name'> {
  let port = 0;
  return {
    scene: scene(material),
    arrange: ({ networks, impostorPort }) => {
      port = networks.node.targetPort;
      networks.node.targetPort = impostorPort;
      networks.node.cut();
    },
    during: POLLED,
    reconnects: 'connect_failed',
    cause,
    log: new RegExp(`connecting to the node failed: .*(?:${code.source})`),
    lift: ({ networks }) => {
      networks.node.targetPort = port;
    },
    recoveryMs: AT_ONCE_MS,
  };
}

/** A panel with TLS whose name looks remote, and a node without TLS. */
function plainNode(trusted: Authority, good: Certificate): Omit<FaultRow, 'name'> {
  let names: NameService | undefined;
  return {
    scene: {
      address: `https://${REMOTE}`,
      panel: { tls: good },
      settings: [`tls_config: { ca_file: "${trusted.file}" }`, 'socket_hosts: [127.0.0.1]'],
    },
    before: ({ panel }) => {
      names = startNameService();
      names.add(REMOTE);
      panel.set({ expectedOrigin: `https://${REMOTE}:${new URL(panel.url).port}` });
    },
    arrange: ({ panel }) => {
      const { host } = new URL(panel.url);
      panel.advertise(TARGET, `ws://${host}/api/servers/${TARGET_UUID}/ws`);
      loseToken(panel);
    },
    during: POLLED,
    log: /plain ws is not allowed/,
    lift: ({ panel }) => panel.advertise(TARGET, undefined),
    recoveryMs: REFUSED_MS,
    clean: () => names?.end(),
  };
}

const REMOTE = 'panel.faults.test';

const insecure: TlsRow = {
  name: 'a node without TLS, for a panel on another machine',
  cause: 'socket_address_insecure',
  play: async ({ trusted }) => ({
    name: insecure.name,
    ...plainNode(trusted, await trusted.issue(`DNS:${REMOTE},${HERE}`)),
    cause: insecure.cause,
  }),
};

/** All mistakes, once of the panel and once of a node. */
export const TLS_ROWS: readonly TlsRow[] = [
  ...BAD_TLS.flatMap((trouble): readonly TlsRow[] => {
    const row = (whose: string, cause: CauseCode, build: typeof badPanel): TlsRow => {
      const name = `${whose}: ${trouble.what}`;
      const play = async (authorities: Authorities) => ({
        name,
        ...build(trouble, await materialFor(trouble, authorities)),
      });
      return { name, cause, play };
    };
    return [row('the panel', trouble.panel, badPanel), row('a node', trouble.node, badNode)];
  }),
  insecure,
];
