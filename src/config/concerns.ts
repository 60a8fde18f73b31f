// What a changed panel concerns: its calls, its sockets, its key, or all of it.

import type { PanelConfig } from './config.ts';
import { disclose } from './disclosed.ts';

/** What a setting of a panel determines: `panel` is which panel it is. */
type Concern = 'panel' | 'key' | 'calls' | 'sockets' | 'rest';

/**
 * The settings that determine more than the rest. `servers` is compared server by server, and the
 * source of the key changes nothing.
 */
const CONCERNS: { readonly [Key in keyof PanelConfig]?: readonly Concern[] } = {
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

/** What the changed settings of a panel determine; empty if no setting changed. */
export function changedConcerns(before: PanelConfig, after: PanelConfig): ReadonlySet<Concern> {
  const keys = Object.keys({ ...before, ...after }) as (keyof PanelConfig)[];
  const isChanged = (key: keyof PanelConfig) =>
    CONCERNS[key]?.length !== 0 && disclose(before[key]) !== disclose(after[key]);
  const changed = keys.filter(isChanged);
  return new Set(changed.flatMap((key) => CONCERNS[key] ?? ['rest']));
}
