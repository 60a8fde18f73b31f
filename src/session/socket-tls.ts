import { createSecureContext, type SecureContext } from 'node:tls';

/** Material for TLS towards the nodes; PEM texts. */
export interface TlsMaterial {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly insecureSkipVerify?: boolean;
}

/** What `tls.connect` needs to know of a panel's nodes; throws where the material is none. */
export type SocketTls = () => {
  readonly secureContext: SecureContext;
  readonly rejectUnauthorized: boolean;
};

/** TLS for the sockets of one panel, which share one context: of its own it would cost each of them some 40 kB. */
export function socketTls({ insecureSkipVerify, ...material }: TlsMaterial = {}): SocketTls {
  let secureContext: SecureContext | undefined;
  return () => {
    secureContext ??= createSecureContext(material);
    return { secureContext, rejectUnauthorized: insecureSkipVerify !== true };
  };
}
