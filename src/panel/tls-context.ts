// The TLS context that all connections to one address share.

import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls';

/**
 * The TLS options for connections to this address, which share one context if the address uses TLS.
 * A context for each connection would cost 0.25 ms when it is created, and again when it is
 * collected.
 */
export function tlsOptions(
  address: string,
  material: SecureContextOptions,
): SecureContextOptions & { readonly secureContext: SecureContext | undefined } {
  let secureContext: SecureContext | undefined;
  try {
    if (new URL(address).protocol === 'https:') secureContext = createSecureContext(material);
  } catch {
    // Each connection tries again, and reports why it fails.
  }
  return { ...material, secureContext };
}
