import { type Settings, type SettingsChange, settingsSchema } from './schema.ts';

/** How a panel behaves unless told otherwise: as the real ones do in the field. */
const DEFAULT_SETTINGS: Settings = {
  rateLimitPerMinute: 240,
  websocketLimitPerMinute: 5,
  rateLimitHints: ['retry-after', 'reset', 'message'],
  tokenLifetimeSeconds: 600,
  tokenPermissions: ['*'],
  tokenCheckMs: 0,
  maxPerPage: 100,
  resourcesCacheMs: 20_000,
  resourceObject: 'stats',
  resourceUptime: true,
  resourceSuspendedFlag: true,
  errorShape: 'errors',
  rateLimitShape: 'message',
  unreachable: '504',
  unreachableDelayMs: 0,
  suspendedCredentials: 'refuse',
  conflictResources: 'refuse',
  trailingNewline: false,
  sendTokenExpired: false,
  statsDiskIo: true,
  statsUptime: true,
  statsShuffleKeys: false,
  expectedOrigin: '',
  maxSocketsPerServer: 30,
  framesPerSecond: 2,
  frameBurst: 4,
  startMs: 2_000,
  stopMs: 1_000,
  reviveMs: 5_000,
};

/** The settings among a simulator's options, with defaults for the rest; throws where one is out of range. */
export function initialSettings(options: SettingsChange): Settings {
  const given = Object.entries(options).filter(([key]) => key in DEFAULT_SETTINGS);
  return changedSettings(DEFAULT_SETTINGS, Object.fromEntries(given));
}

/** The settings with some of them changed; throws where one is out of range. */
export function changedSettings(settings: Settings, changes: SettingsChange): Settings {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  return settingsSchema.parse({ ...settings, ...Object.fromEntries(given) });
}

/** `token expiring` is sent when this little of a token's life is left. */
export function expiringThresholdMs(lifetimeMs: number): number {
  return Math.min(60_000, lifetimeMs / 10);
}

/** How often sockets' tokens are looked at: every 30 s, oftener where tokens are short. */
export function tokenCheckMs(settings: Pick<Settings, 'tokenCheckMs' | 'tokenLifetimeSeconds'>): number {
  if (settings.tokenCheckMs > 0) return settings.tokenCheckMs;
  const half = expiringThresholdMs(settings.tokenLifetimeSeconds * 1_000) / 2;
  return Math.max(20, half);
}
