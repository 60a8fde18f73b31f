import { z } from 'zod';

// One schema gives both the types of the in-process API and the checks of the control endpoint.

const count = z.int().min(0);
const positive = z.number().positive();

/** How a simulated server behaves while nobody touches it. */
export const temperSchema = z.enum(['steady', 'busy', 'idle', 'offline', 'crashing', 'suspended', 'chatty']);

/** States in which the panel answers 409 for a server. */
export const conflictSchema = z.enum([
  'suspended',
  'installing',
  'install_failed',
  'reinstall_failed',
  'restoring_backup',
  'transferring',
  'maintenance',
]);

export const powerActionSchema = z.enum(['start', 'stop', 'restart', 'kill']);

/** Limits as the listing names them: MiB, percent of a core; 0 = unlimited. */
export const wireLimitsSchema = z.strictObject({
  memory: count.optional(),
  swap: z.int().min(-1).optional(),
  disk: count.optional(),
  cpu: count.optional(),
  io: z.int().min(10).max(1000).optional(),
});

export const backupSchema = z.strictObject({
  is_successful: z.boolean(),
  /** ISO time, or null while it is being made. */
  completed_at: z.string().nullable(),
  bytes: count,
});

export const serverSpecSchema = z.strictObject({
  name: z.string().min(1),
  temper: temperSchema.optional(),
  uuid: z.uuid().optional(),
  limits: wireLimitsSchema.optional(),
  node: z.string().optional(),
  egg: z.string().optional(),
  /** The key's owner is this server's owner; false shows it only to `type=admin…`. */
  owned: z.boolean().optional(),
  /** Console lines a second. */
  consoleLinesPerSecond: z.number().min(0).optional(),
  /** Milliseconds that a run lasts before the server dies by itself. */
  crashEveryMs: positive.optional(),
  backups: z.array(backupSchema).optional(),
  /** How many backups the panel allows it; 0 = none. */
  backupLimit: count.optional(),
});

/** Values that a server reports instead of simulated ones. */
export const usageSchema = z.strictObject({
  memoryBytes: z.number().optional(),
  memoryLimitBytes: z.number().optional(),
  cpuAbsolute: z.number().optional(),
  diskBytes: z.number().optional(),
  rxBytes: z.number().optional(),
  txBytes: z.number().optional(),
  readBytes: z.number().optional(),
  writtenBytes: z.number().optional(),
  uptimeMs: z.number().optional(),
});

/** `errors`: the envelope; `message`: `{error, message}`; `html`: a proxy's page. */
export const bodyShapeSchema = z.enum(['errors', 'message', 'html']);

export const settingsSchema = z.strictObject({
  /** REST calls a minute that the panel allows its user. */
  rateLimitPerMinute: z.int().positive(),
  /** Credential calls a minute per server; 0 turns this limit off. */
  websocketLimitPerMinute: count,
  /** Where a 429 says when to come back. */
  rateLimitHints: z.array(z.enum(['retry-after', 'reset', 'message'])),
  tokenLifetimeSeconds: positive,
  /** What the panel's user may do, as console tokens tell the nodes. */
  tokenPermissions: z.array(z.string()),
  /** How often sockets' tokens are looked at; 0 derives it from the lifetime. */
  tokenCheckMs: z.number().min(0),
  /** The most that one page of the listing or of backups holds. */
  maxPerPage: z.int().min(1).max(100),
  resourcesCacheMs: z.number().min(0),
  resourceObject: z.enum(['stats', 'server_resource']),
  resourceUptime: z.boolean(),
  resourceSuspendedFlag: z.boolean(),
  errorShape: bodyShapeSchema,
  rateLimitShape: bodyShapeSchema,
  /** What resources say when the node is down: 504, or 200 with `missing` and zeros. */
  unreachable: z.enum(['504', 'missing']),
  unreachableDelayMs: z.number().min(0),
  /** Credentials of a suspended server: 409, or issued, so that its socket opens and is closed with 4409. */
  suspendedCredentials: z.enum(['refuse', 'issue']),
  /** Resources of a server in a 409 state: 409 too, or answered all the same. */
  conflictResources: z.enum(['refuse', 'answer']),
  trailingNewline: z.boolean(),
  sendTokenExpired: z.boolean(),
  statsDiskIo: z.boolean(),
  statsUptime: z.boolean(),
  statsShuffleKeys: z.boolean(),
  /** The only `Origin` that may open a socket; empty for the panel's own base URL. */
  expectedOrigin: z.string(),
  maxSocketsPerServer: z.int().positive(),
  framesPerSecond: positive,
  frameBurst: z.int().positive(),
  startMs: z.number().min(0),
  stopMs: z.number().min(0),
  /** Milliseconds from a crash to the restart of a `crashing` server. */
  reviveMs: z.number().min(0),
});

/** Some of the settings, to change them while the panel runs. */
export const settingsChangeSchema = settingsSchema.partial();

export const endpointSchema = z.enum(['websocket', 'resources', 'listing', 'backups']);

/** A server by uuid, short id or name. */
const server = z.string().optional();
/** How many times the fault strikes; without it, until faults are cleared. */
const times = z.int().positive().optional();
const restScope = {
  endpoint: endpointSchema.optional(),
  server,
  times,
  /** Only calls for this page of a list. */
  page: z.int().positive().optional(),
};

export const restFaultSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('refuse'),
    ...restScope,
    status: z.int().min(200).max(599),
    shape: bodyShapeSchema.optional(),
    detail: z.string().optional(),
    /** Sent instead of the error's own body. */
    body: z.string().optional(),
    headers: z.record(z.string(), z.string()).optional(),
  }),
  z.strictObject({ kind: z.literal('delay'), ...restScope, ms: z.number().min(0) }),
  z.strictObject({ kind: z.literal('hang'), ...restScope, before: z.enum(['headers', 'body']).optional() }),
  z.strictObject({ kind: z.literal('garbage'), ...restScope, body: z.string().optional() }),
  z.strictObject({ kind: z.literal('oversize'), ...restScope, bytes: z.int().positive().optional() }),
  z.strictObject({ kind: z.literal('redirect'), ...restScope, location: z.string().optional() }),
  z.strictObject({ kind: z.literal('drop'), ...restScope }),
]);

const socketScope = { server, times };

/** What befalls sockets that are opened from now on (`silence`: also those that are open). */
export const socketFaultSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('refuse-upgrade'),
    ...socketScope,
    status: z.int().min(300).max(599),
    location: z.string().optional(),
  }),
  z.strictObject({ kind: z.literal('hang-upgrade'), ...socketScope }),
  z.strictObject({ kind: z.literal('drop-upgrade'), ...socketScope }),
  z.strictObject({
    kind: z.literal('close-on-open'),
    ...socketScope,
    code: z.int().min(1000).max(4999),
    reason: z.string().optional(),
  }),
  z.strictObject({ kind: z.literal('half-open-on-open'), ...socketScope }),
  z.strictObject({ kind: z.literal('ignore-auth'), ...socketScope }),
  z.strictObject({ kind: z.literal('jwt-error-on-auth'), ...socketScope, text: z.string().optional() }),
  z.strictObject({ kind: z.literal('silence'), server }),
]);

/** What is done to the sockets that are open now: one server's, or all. */
export const socketActionSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('drop'), server }),
  z.strictObject({ kind: z.literal('half-open'), server }),
  z.strictObject({
    kind: z.literal('close'),
    server,
    code: z.int().min(1000).max(4999),
    reason: z.string().optional(),
  }),
  z.strictObject({
    kind: z.literal('send'),
    server,
    event: z.string(),
    args: z.array(z.string()).optional(),
  }),
  z.strictObject({ kind: z.literal('raw'), server, text: z.string() }),
  z.strictObject({ kind: z.literal('binary'), server, base64: z.string() }),
  z.strictObject({ kind: z.literal('garbage'), server }),
  z.strictObject({ kind: z.literal('oversize'), server, bytes: z.int().positive().optional() }),
  z.strictObject({ kind: z.literal('expire'), server }),
]);

export type Temper = z.infer<typeof temperSchema>;
export type Conflict = z.infer<typeof conflictSchema>;
export type PowerAction = z.infer<typeof powerActionSchema>;
export type WireLimits = z.infer<typeof wireLimitsSchema>;
export type BackupSpec = z.infer<typeof backupSchema>;
export type ServerSpec = z.infer<typeof serverSpecSchema>;
export type UsagePin = z.infer<typeof usageSchema>;
export type BodyShape = z.infer<typeof bodyShapeSchema>;
export type Settings = z.infer<typeof settingsSchema>;
export type SettingsChange = z.infer<typeof settingsChangeSchema>;
export type Endpoint = z.infer<typeof endpointSchema>;
export type RestFault = z.infer<typeof restFaultSchema>;
export type SocketFault = z.infer<typeof socketFaultSchema>;
export type SocketAction = z.infer<typeof socketActionSchema>;
