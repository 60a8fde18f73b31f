// The TLS options of a panel's console sockets.

import { createSecureContext, type SecureContext } from 'node:tls';
import type { PanelTls } from '../panel/panel-connections.ts';
import { TlsSessions } from './tls-sessions.ts';

/**
 * Returns the options of `tls.connect` for a panel's nodes. Throws if the certificates or keys are
 * invalid.
 */
export type SocketTls = () => {
  readonly secureContext: SecureContext;
  readonly rejectUnauthorized: boolean;
  readonly sessions: TlsSessions;
};

/**
 * The TLS options for the sockets of one panel, which share one context: separate contexts would
 * need about 40 kB each.
 */
export function socketTls({ insecureSkipVerify, ...material }: Omit<PanelTls, 'serverName'> = {}): SocketTls {
  const sessions = new TlsSessions();
  let secureContext: SecureContext | undefined;
  return () => {
    secureContext ??= createSecureContext(material);
    return { secureContext, rejectUnauthorized: insecureSkipVerify !== true, sessions };
  };
}
