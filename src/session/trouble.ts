import { printable } from '../domain/printable.ts';
import type { BlockedReason } from '../domain/server.ts';
import { lastingRefusal, PanelError } from '../panel/errors.ts';
import { wantsClientCertificate } from '../panel/transport-trouble.ts';
import type { Failure } from './failure.ts';

/** Refusals of the credentials endpoint that say nothing of the resources endpoint. */
const MAYBE_READABLE: ReadonlySet<BlockedReason> = new Set(['unauthorized', 'forbidden']);

/** What a failed call for credentials means for the session. */
export function tokenFailure(error: unknown): Failure {
  const trouble = error instanceof Error ? printable(error.message) : 'the call for credentials failed';
  if (!(error instanceof PanelError)) return { reason: 'no_token', trouble, pollable: true };
  const lasting = lastingRefusal(error);
  const retryAfter = error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs };
  if (lasting === undefined) return { reason: 'no_token', trouble, pollable: true, ...retryAfter };
  return { reason: 'no_token', trouble, lasting, pollable: MAYBE_READABLE.has(lasting) };
}

/** What a socket address that may not be used means: only a change of the configuration or the panel cures it. */
export function addressFailure(problem: string): Failure {
  return { reason: 'no_token', trouble: problem, lasting: 'forbidden', pollable: true };
}

/** What a refused upgrade means; `origin` is what was sent. */
export function upgradeFailure(
  problem: { readonly status?: number; readonly error: Error },
  origin: string,
): Failure {
  const { status } = problem;
  if (status === undefined) {
    return { reason: 'connect_failed', trouble: networkTrouble(problem.error), pollable: true };
  }
  const refused = `the node refused the socket's upgrade (${status})`;
  const base = { reason: 'upgrade_refused', pollable: true } as const;
  if (status === 403) {
    const cure = `it takes another Origin than "${origin}"; set origin for this panel to the panel's own address, letter for letter`;
    return { ...base, trouble: `${refused}: most likely ${cure}`, lasting: 'forbidden' };
  }
  if (status === 400)
    return { ...base, trouble: `${refused}: it holds too many sockets of this server already` };
  if (status >= 300 && status < 400) {
    return { ...base, trouble: `${refused}: it redirects, which is not followed`, dropToken: true };
  }
  return { ...base, trouble: refused, dropToken: status < 500 };
}

const NETWORK_WORDS: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', "nothing listens there; is the node's daemon up, and its port open?"],
  ['ECONNRESET', 'the connection was cut'],
  ['EHOSTUNREACH', 'there is no route to the node'],
  ['ENETUNREACH', 'there is no route to the node'],
  ['ETIMEDOUT', 'the node did not answer'],
  ['ENOTFOUND', "the node's name does not resolve; check its FQDN in the panel"],
  ['EAI_AGAIN', 'the name server did not answer'],
  ['EMFILE', 'this process is out of file descriptors; raise its limit (ulimit -n, LimitNOFILE)'],
  ['CERT_HAS_EXPIRED', "the node's certificate has expired"],
  ['ERR_TLS_CERT_ALTNAME_INVALID', "the node's certificate is for another name"],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', "the node's certificate is self-signed; set tls_config.ca_file"],
  ['SELF_SIGNED_CERT_IN_CHAIN', "the node's certificate comes from an unknown CA; set tls_config.ca_file"],
  [
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    "the node's certificate comes from an unknown CA; set tls_config.ca_file",
  ],
  [
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    "the node's certificate comes from an unknown CA; set tls_config.ca_file",
  ],
]);

const CLIENT_CERTIFICATE_WORDS =
  'the node wants a client certificate that it knows; check tls_config.cert_file and key_file';

function networkTrouble(failure: Error): string {
  // A name with several addresses fails once for each; the message of the whole is empty.
  const error =
    failure instanceof AggregateError ? ((failure.errors[0] as Error | undefined) ?? failure) : failure;
  const code = (error as NodeJS.ErrnoException).code ?? '';
  const words = wantsClientCertificate(code) ? CLIENT_CERTIFICATE_WORDS : NETWORK_WORDS.get(code);
  const said = printable(error.message);
  return `the node could not be reached: ${words === undefined ? said : `${words} (${said})`}`;
}
