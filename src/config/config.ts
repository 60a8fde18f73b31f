import { KNOWN_SECRETS } from '../domain/known-secrets.ts';
import { Secret } from '../domain/secret.ts';
import type { Settings } from './schema.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

/** `auto` means pretty in a terminal and JSON elsewhere. */
export const LOG_FORMATS = ['json', 'pretty', 'auto'] as const;

/** Other exporters whose metric names can be served in addition to the exporter's own. */
export const COMPATIBILITIES = ['pterodactyl_exporter', 'pelican_exporter'] as const;

/** The configuration with its secrets guarded. The schema's output has their texts, because a thread can pass on only those. */
export function withSecrets({ panels, ...settings }: Settings) {
  return { ...settings, panels: panels.map(guarded) };
}

function guarded({ apiKey, tls, nodes, ...panel }: Settings['panels'][number]) {
  if (panel.proxyUrl !== undefined) KNOWN_SECRETS.addCredentials(new URL(panel.proxyUrl));
  return {
    ...panel,
    apiKey: new Secret(apiKey),
    tls: tls && { ...tls, key: tls.key === undefined ? undefined : new Secret(tls.key) },
    nodes: nodes && { ...nodes, apiKey: new Secret(nodes.apiKey) },
  };
}

/** The whole configuration: valid, complete, and with all files read. */
export type Config = ReturnType<typeof withSecrets>;

/** One panel entry. */
export type PanelConfig = Config['panels'][number];

/** What a setting of a panel determines: `panel` is which panel it is. */
type Concern = 'panel' | 'key' | 'calls' | 'sockets' | 'rest';

/** The settings that determine more than the rest. `servers` is compared server by server, and the source of the key changes nothing. */
const CONCERNS: { readonly [Key in keyof PanelConfig]?: readonly Concern[] } = {
  name: ['panel'],
  url: ['panel'],
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
  const changed = keys.filter((key) => comparable(before[key]) !== comparable(after[key]));
  return new Set(changed.flatMap((key) => CONCERNS[key] ?? ['rest']));
}

/** A secret hides its text from comparisons too. */
function comparable(setting: unknown): string {
  return JSON.stringify(
    { setting },
    function reveal(this: Readonly<Record<string, unknown>>, key, value: unknown) {
      const held = this[key];
      return held instanceof Secret ? held.reveal() : value;
    },
  );
}
