// The settings of a simulated panel, with their schema and defaults.

import { z } from 'zod';
import { type PanelKind, panelKindSchema } from './simulator-schema.ts';

const count = z.int().min(0);
const positive = z.number().positive();

/**
 * A node in the application API: sizes in MiB, and the allowed overallocation in percent (-1 is
 * unlimited).
 */
export const nodeSpecSchema = z.strictObject({
  name: z.string().min(1),
  memory: count,
  memory_overallocate: z.int().min(-1),
  disk: count,
  disk_overallocate: z.int().min(-1),
  /** In percent of a core; only Pelican has these two. */
  cpu: count.optional(),
  cpu_overallocate: z.int().min(-1).optional(),
  maintenance_mode: z.boolean(),
});

export const settingsSchema = z.strictObject({
  /** The kind of panel, which determines the paths and the shapes of responses. */
  panel: panelKindSchema,
  /** Whether the account is an administrator's, which has access to every server. */
  admin: z.boolean(),
  /** The only addresses from which the keys may be used. If empty, all may be used. */
  allowedAddresses: z.array(z.string()),
  /** Whether the panel requires two-factor authentication, which the account doesn't use. */
  twoFactorRequired: z.boolean(),
  /** Whether the panel is down for maintenance. */
  maintenance: z.boolean(),
  /** REST calls per minute that the panel allows its user. */
  rateLimitPerMinute: z.int().positive(),
  /** Credential calls per minute and server; 0 disables this limit. */
  websocketLimitPerMinute: count,
  tokenLifetimeSeconds: positive,
  /** The account's permissions on every server, which the panel checks. */
  accountPermissions: z.array(z.string()),
  /** The permissions in console tokens, which the nodes check. */
  tokenPermissions: z.array(z.string()),
  /** The maximum page size of the server list and of backups. */
  maxPerPage: z.int().min(1).max(100),
  /** The resources response while the node is down: 504, or 200 with `missing` and zeros. */
  unreachable: z.enum(['504', 'missing']),
  unreachableDelayMs: z.number().min(0),
  /**
   * The response to a credentials call for a suspended server: 409, or credentials with which its
   * socket opens and is closed with code 4409.
   */
  suspendedCredentials: z.enum(['refuse', 'issue']),
  /** Whether the server list contains `serv_…` identifiers, as on Pterodactyl since 1.12. */
  longIdentifiers: z.boolean(),
  statsDiskIo: z.boolean(),
  /** The only `Origin` that may open a socket. If empty, it is the panel's own base URL. */
  expectedOrigin: z.string(),
  maxSocketsPerServer: z.int().positive(),
  startMs: z.number().min(0),
  stopMs: z.number().min(0),
  /** Milliseconds from a crash to the restart. */
  reviveMs: z.number().min(0),
  /** Which daemon's texts and colors the nodes' consoles have. */
  daemon: z.enum(['pterodactyl', 'pelican', 'calagopus']),
  /** The daemon's name in the nodes' configuration. If empty, it is the default name. */
  appName: z.string(),
  /** Whether the daemon restarts a server whose process ended by itself. */
  crashDetection: z.boolean(),
  /** The nodes in the application API's list. */
  nodes: z.array(nodeSpecSchema),
});

/** Settings to change while the panel is running. */
export const settingsChangeSchema = settingsSchema.partial();

export type NodeSpec = z.infer<typeof nodeSpecSchema>;
export type SimulatorSettings = z.infer<typeof settingsSchema>;
export type SettingsChange = z.infer<typeof settingsChangeSchema>;

/** The defaults: the behavior of real panels in the field. */
export const DEFAULT_SETTINGS: SimulatorSettings = {
  panel: 'pterodactyl',
  admin: false,
  allowedAddresses: [],
  twoFactorRequired: false,
  maintenance: false,
  rateLimitPerMinute: 240,
  websocketLimitPerMinute: 5,
  tokenLifetimeSeconds: 600,
  accountPermissions: ['*'],
  tokenPermissions: ['*'],
  maxPerPage: 100,
  unreachable: '504',
  unreachableDelayMs: 0,
  suspendedCredentials: 'refuse',
  longIdentifiers: false,
  statsDiskIo: true,
  expectedOrigin: '',
  maxSocketsPerServer: 30,
  startMs: 2_000,
  stopMs: 1_000,
  reviveMs: 5_000,
  daemon: 'pterodactyl',
  appName: '',
  crashDetection: true,
  nodes: ['node-1', 'node-2'].map((name) => ({
    name,
    memory: 65_536,
    memory_overallocate: 0,
    disk: 1_048_576,
    disk_overallocate: 0,
    maintenance_mode: false,
  })),
};

/** The different defaults of a kind of panel, which are those of an unmodified installation. */
const DEFAULTS_OF: Readonly<Partial<Record<PanelKind, SettingsChange>>> = {
  calagopus: { daemon: 'calagopus', rateLimitPerMinute: 720, websocketLimitPerMinute: 0, statsDiskIo: false },
};

/**
 * The settings in a simulator's options, with defaults for the rest. Throws if one is out of range.
 */
export function initialSettings(options: SettingsChange): SimulatorSettings {
  const given = Object.entries(options).filter(
    ([key, value]) => key in DEFAULT_SETTINGS && value !== undefined,
  );
  const ofKind = DEFAULTS_OF[options.panel ?? DEFAULT_SETTINGS.panel];
  return changedSettings({ ...DEFAULT_SETTINGS, ...ofKind }, Object.fromEntries(given));
}

/** The settings with some changes. Throws if one is out of range. */
export function changedSettings(settings: SimulatorSettings, changes: SettingsChange): SimulatorSettings {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  return settingsSchema.parse({ ...settings, ...Object.fromEntries(given) });
}

/** The remaining lifetime, in milliseconds, at which `token expiring` is sent. */
export function expiringThresholdMs(lifetimeMs: number): number {
  return Math.min(60_000, lifetimeMs / 10);
}

/** How often tokens are checked: every 30 s, or more often if their lifetime is short. */
export function tokenCheckMs({
  tokenLifetimeSeconds,
}: Pick<SimulatorSettings, 'tokenLifetimeSeconds'>): number {
  const half = expiringThresholdMs(tokenLifetimeSeconds * 1_000) / 2;
  return Math.max(20, half);
}
