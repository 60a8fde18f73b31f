// Decides which parts of a panel a reload rebuilds: calls, sockets, the key, or everything.

import type { PanelConfig } from './config.ts';
import { disclose } from './config-text.ts';

/** The part of a panel that a setting affects; `panel` if a new value means a different panel. */
type Affected = 'panel' | 'key' | 'calls' | 'sockets' | 'rest';

/**
 * The settings that affect more than `rest`. `servers` is compared server by server, and
 * `apiKeySource` affects nothing.
 */
const AFFECTS: { readonly [Key in keyof PanelConfig]?: readonly Affected[] } = {
  name: ['panel'],
  url: ['panel'],
  panel: ['panel'],
  apiKey: ['key'],
  apiKeySource: [],
  requestTimeoutMs: ['calls'],
  connectTimeoutMs: ['calls'],
  tls: ['calls', 'sockets'],
  proxyUrl: ['calls', 'sockets'],
  origin: ['sockets'],
  allowInsecure: ['sockets'],
  socketHosts: ['sockets'],
  servers: [],
};

/** The parts of a panel that its changed settings affect; empty if no setting changed. */
export function affectedByChanges(before: PanelConfig, after: PanelConfig): ReadonlySet<Affected> {
  const keys = Object.keys({ ...before, ...after }) as (keyof PanelConfig)[];
  const isChanged = (key: keyof PanelConfig) =>
    AFFECTS[key]?.length !== 0 && disclose(before[key]) !== disclose(after[key]);
  const changed = keys.filter(isChanged);
  return new Set(changed.flatMap((key) => AFFECTS[key] ?? ['rest']));
}
