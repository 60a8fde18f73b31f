// The schemas of servers, actions and faults in a simulation.

import { z } from 'zod';

// One schema defines both the types of the in-process API and the validation of the control
// endpoint.

const count = z.int().min(0);
const positive = z.number().positive();

/**
 * `errors` is the envelope, `texts` Calagopus' list of texts, `message` is `{error, message}`, and
 * `html` a proxy's page.
 */
const bodyShapeSchema = z.enum(['errors', 'texts', 'message', 'html']);

/**
 * The kinds of simulated panels, which differ in their paths and in the shapes of their responses.
 */
export const panelKindSchema = z.enum(['pterodactyl', 'pelican', 'hydrodactyl', 'calagopus']);

/** The daemons of Hydrodactyl, which are part of its paths. */
export const daemonTypeSchema = z.enum(['wings', 'elytra']);

/** The autonomous behavior of a simulated server. */
export const profileNameSchema = z.enum([
  'steady',
  'busy',
  'idle',
  'offline',
  'crashing',
  'suspended',
  'chatty',
]);

/**
 * Why a server can't be used. The panel responds with 409, except after a failed reinstallation.
 */
export const conflictSchema = z.enum([
  'suspended',
  'installing',
  'install_failed',
  'reinstall_failed',
  'restoring_backup',
  'transferring',
  'maintenance',
]);

export const powerCommandSchema = z.enum(['start', 'stop', 'restart', 'kill']);

/** Limits as in the server list: MiB and percent of a core; 0 is unlimited. */
export const wireLimitsSchema = z.strictObject({
  memory: count.optional(),
  swap: z.int().min(-1).optional(),
  disk: count.optional(),
  cpu: count.optional(),
  io: z.int().min(10).max(1000).optional(),
});

export const backupSchema = z.strictObject({
  is_successful: z.boolean(),
  /** ISO time, or null while the backup is in progress. */
  completed_at: z.string().nullable(),
  bytes: count,
});

/** A schedule of a server. By default, it is active and has one task. */
export const scheduleSchema = z.strictObject({
  name: z.string().min(1),
  everyMs: positive,
  active: z.boolean().optional(),
  tasks: count.optional(),
});

/** How a process ended. */
export const exitStateSchema = z.strictObject({
  code: z.int().min(0).max(0xff_ff_ff_ff),
  /** Whether the system killed it for its memory usage. */
  outOfMemory: z.boolean().optional(),
});

/** The result of a backup. */
export const backupEndSchema = backupSchema.omit({ completed_at: true });

export const allocationSchema = z.strictObject({
  ip: z.string().optional(),
  alias: z.string().optional(),
  port: z.int().positive().optional(),
  /** The ports of other allocations at the same address; default: the port below. */
  otherPorts: z.array(z.int().positive()).optional(),
});

export const serverSpecSchema = z.strictObject({
  name: z.string().min(1),
  profile: profileNameSchema.optional(),
  uuid: z.uuid().optional(),
  limits: wireLimitsSchema.optional(),
  node: z.string().optional(),
  egg: z.string().optional(),
  /**
   * Whether the server belongs to the key's account. If false, only an administrator can access it.
   */
  owned: z.boolean().optional(),
  /** Only Hydrodactyl has more than one. */
  daemonType: daemonTypeSchema.optional(),
  /** Console lines per second. */
  consoleLinesPerSecond: z.number().min(0).optional(),
  /** How long a run lasts before the server crashes by itself, in milliseconds. */
  crashEveryMs: positive.optional(),
  /**
   * The exit state of such a crash. Without it, the daemon reports nothing, and always restarts the
   * server.
   */
  death: z.union([exitStateSchema, z.literal('disk full')]).optional(),
  backups: z.array(backupSchema).optional(),
  schedules: z.array(scheduleSchema).optional(),
  /** The panel's limit on the server's backups; 0 is none. */
  backupLimit: count.optional(),
  /**
   * The default allocation. By default, it is at the node's address, without an alias; null is
   * none.
   */
  allocation: allocationSchema.nullable().optional(),
  /** The variables of its egg that users may see, and their values. */
  variables: z.record(z.string(), z.string()).optional(),
  /** The address of its node. */
  nodeAddress: z.string().optional(),
  /** Milliseconds between its scheduled backups, a third of which fail. */
  backupEveryMs: positive.optional(),
  /**
   * Makes its game queryable: the maximum number of players, and how many are online (by default, a
   * varying number). Not for servers added later.
   */
  players: z.strictObject({ max: z.int().positive(), online: count.optional() }).optional(),
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

export const endpointSchema = z.enum([
  'websocket',
  'resources',
  'listing',
  'backups',
  'schedules',
  'nodes',
  'account',
]);

/** A server by UUID, short id or name. */
const server = z.string().optional();
/**
 * A node by its name in the server list. The fault then affects only its servers, and the calls
 * that list them.
 */
const node = z.string().optional();
/** How many times the fault applies. By default, it applies until faults are cleared. */
const times = z.int().positive().optional();
const restScope = {
  endpoint: endpointSchema.optional(),
  server,
  node,
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
    /** The class of the error in the `errors` envelope. */
    code: z.string().optional(),
    detail: z.string().optional(),
    /** Replaces the error's own body. */
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

const socketScope = { server, node, times };

/**
 * Faults of sockets that are opened from now on. Those from `silence` on also affect open ones, and
 * last until they are cleared.
 */
export const socketFaultSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('refuse-upgrade'),
    ...socketScope,
    status: z.int().min(300).max(599),
    location: z.string().optional(),
    body: z.string().optional(),
    headers: z.record(z.string(), z.string()).optional(),
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
  /** A node's message for a token that it can't verify. */
  z.strictObject({ kind: z.literal('daemon-error-on-auth'), ...socketScope, text: z.string().optional() }),
  z.strictObject({ kind: z.literal('silence'), server, node }),
  /**
   * Freezes the node's statistics: no `stats` arrive without a request, and the response to `send
   * stats` always has the same numbers.
   */
  z.strictObject({ kind: z.literal('frozen-stats'), server, node }),
  /** Sends a `stats` frame with the previous state immediately after each `status`. */
  z.strictObject({ kind: z.literal('late-stats'), server, node }),
]);

/** An action on the open sockets of one server or of all. */
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

export type BodyShape = z.infer<typeof bodyShapeSchema>;
export type PanelKind = z.infer<typeof panelKindSchema>;
export type DaemonType = z.infer<typeof daemonTypeSchema>;
export type ProfileName = z.infer<typeof profileNameSchema>;
export type Conflict = z.infer<typeof conflictSchema>;
export type PowerCommand = z.infer<typeof powerCommandSchema>;
export type WireLimits = z.infer<typeof wireLimitsSchema>;
export type AllocationSpec = z.infer<typeof allocationSchema>;
export type ScheduleSpec = z.infer<typeof scheduleSchema>;
export type BackupSpec = z.infer<typeof backupSchema>;
export type ExitState = z.infer<typeof exitStateSchema>;
export type GameState = 'offline' | 'starting' | 'running' | 'stopping';
export type BackupEnd = z.infer<typeof backupEndSchema>;
export type ServerSpec = z.infer<typeof serverSpecSchema>;
export type UsagePin = z.infer<typeof usageSchema>;
export type PanelEndpoint = z.infer<typeof endpointSchema>;
export type RestFault = z.infer<typeof restFaultSchema>;
export type SocketFault = z.infer<typeof socketFaultSchema>;
export type SocketAction = z.infer<typeof socketActionSchema>;
