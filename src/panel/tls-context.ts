// The TLS context that all connections to one address share.

import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls';

/**
 * The TLS options of connections to this address, with one context if it is reached over TLS: a
 * context of its own would cost each connection a quarter of a millisecond, and as much when it is
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
