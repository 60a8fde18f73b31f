// What the changed settings of a panel affect: its calls, its sockets, its key, or all of it.

import type { PanelConfig } from './config.ts';
import { disclose } from './config-text.ts';

/** What a setting of a panel affects; `panel` if another value means another panel. */
type Affected = 'panel' | 'key' | 'calls' | 'sockets' | 'rest';

/**
 * The settings that affect more than the rest. `servers` is compared server by server, and the
 * source of the key affects nothing.
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

/** What the changed settings of a panel affect; empty if no setting changed. */
export function affectedByChanges(before: PanelConfig, after: PanelConfig): ReadonlySet<Affected> {
  const keys = Object.keys({ ...before, ...after }) as (keyof PanelConfig)[];
  const isChanged = (key: keyof PanelConfig) =>
    AFFECTS[key]?.length !== 0 && disclose(before[key]) !== disclose(after[key]);
  const changed = keys.filter(isChanged);
  return new Set(changed.flatMap((key) => AFFECTS[key] ?? ['rest']));
}
