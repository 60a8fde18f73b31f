// The environment variables with the addresses of proxies.
import { vi } from 'vitest';

const NAMES = ['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy', 'ws_proxy', 'wss_proxy'];

/** Clears the machine's own variables, and sets these until `vi.unstubAllEnvs()`. */
export function setProxyVariables(variables: Readonly<Record<string, string>> = {}): void {
  for (const name of NAMES) {
    vi.stubEnv(name, undefined);
    vi.stubEnv(name.toUpperCase(), undefined);
  }
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
}
