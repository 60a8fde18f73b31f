import type { SecureContextOptions } from 'node:tls';

/** Which certificates clients need. */
export interface ClientCertificates {
  /** Are clients asked for one, and must they have one? */
  readonly asked: 'no' | 'optional' | 'required';
  /** Must an authority of the context's `ca` have signed it? */
  readonly verified: boolean;
  /** When set, it must hold one of these as a subject alternative name, letter for letter. */
  readonly allowedSans?: readonly string[];
}

/** TLS as it is served. */
export interface TlsSettings {
  /** Certificate, key, authorities of clients, versions, cipher suites and curves. */
  readonly context: SecureContextOptions;
  readonly clients: ClientCertificates;
}

/** A token bucket: one request every `intervalMs`, and `burst` of them at once. */
export interface RateLimit {
  readonly intervalMs: number;
  readonly burst: number;
}

/** How clients are let in, and what every answer says to their browsers. */
export interface WebSettings {
  /** Plain HTTP where absent. */
  readonly tls?: TlsSettings;
  /** The bcrypt hash of each user's password; everybody is let in where there is none. */
  readonly users: ReadonlyMap<string, string>;
  /** Headers of every answer beside those that the program sends of its own. */
  readonly headers: Readonly<Record<string, string>>;
  /** Where there are users, of those who are let in together, and of every other client by itself. */
  readonly rateLimit?: RateLimit;
}

/** Settings that may change while they are in use. */
export interface WebSettingsSource {
  readonly current: WebSettings;
  /** Calls `listener` after each change; gives what ends that. */
  onChange(listener: () => void): () => void;
}

/** Everybody is let in over plain HTTP, always. */
export const OPEN: WebSettingsSource = {
  current: { users: new Map(), headers: {} },
  onChange: () => () => undefined,
};
