import type { SecureContextOptions } from 'node:tls';

/** The requirements for client certificates. */
export interface ClientCertificates {
  /** Whether clients are asked for a certificate, and must have one. */
  readonly asked: 'no' | 'optional' | 'required';
  /** Whether it must be signed by an authority of the context's `ca`. */
  readonly verified: boolean;
  /** If set, the certificate must contain one of these as a subject alternative name, exactly. */
  readonly allowedSans?: readonly string[];
}

/** The TLS settings of the server. */
export interface TlsSettings {
  /** Certificate, key, client authorities, versions, cipher suites and curves. */
  readonly context: SecureContextOptions;
  readonly clients: ClientCertificates;
}

/** A token bucket: one request per `intervalMs`, with bursts of `burst` requests. */
export interface RequestRateLimit {
  readonly intervalMs: number;
  readonly burst: number;
}

/** Authentication, and the headers of every response. */
export interface WebSettings {
  /** Plain HTTP if absent. */
  readonly tls?: TlsSettings;
  /** The bcrypt hash of each user's password; without users, everybody is admitted. */
  readonly users: ReadonlyMap<string, string>;
  /** Headers of every response, in addition to the program's own. */
  readonly headers: Readonly<Record<string, string>>;
  /** With users: one limit shared by all authenticated clients, and one for each other client. */
  readonly rateLimit?: RequestRateLimit;
}

/** Settings that may change while they are in use. */
export interface WebSettingsSource {
  readonly current: WebSettings;
  /** Calls `listener` after each change; returns a function that unsubscribes. */
  onChange(listener: () => void): () => void;
}

/** Plain HTTP without authentication, always. */
export const OPEN: WebSettingsSource = {
  current: { users: new Map(), headers: {} },
  onChange: () => () => undefined,
};
