// The settings of the HTTP server that may change while it runs.
import type { SecureContextOptions } from 'node:tls';

/** The TLS settings of the server. */
export interface TlsSettings {
  /** Certificate, key, client authorities and versions. */
  readonly context: SecureContextOptions;
  /** Whether clients are asked for a certificate, and whether they need one. */
  readonly clientCertificate: 'no' | 'optional' | 'required';
  /** Whether the certificate must be signed by an authority of the context's `ca`. */
  readonly isVerified: boolean;
}

/** Settings of authentication, TLS and response headers. */
export interface WebSettings {
  /** Plain HTTP if absent. */
  readonly tls?: TlsSettings;
  /** The bcrypt hash of each user's password; without users, everybody is admitted. */
  readonly users: ReadonlyMap<string, string>;
  /** Headers of every response, in addition to the program's own. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Settings that may change during their use. */
export interface WebSettingsSource {
  readonly current: WebSettings;
  /** Calls `listener` after each change; returns a function that unsubscribes. */
  onChange(listener: () => void): () => void;
}

/** Plain HTTP without authentication. */
export const UNRESTRICTED: WebSettingsSource = {
  current: { users: new Map(), headers: {} },
  onChange: () => () => undefined,
};
