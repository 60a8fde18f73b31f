// A simulated server, as its spec describes it.

import type { Cancel } from '../domain/clock.ts';
import { MIB } from '../domain/units.ts';
import type { ConsoleConnection } from './connection.ts';
import { killsSilently } from './crash-reactions.ts';
import {
  type GameServer,
  type GameServerTraits,
  type GameUsage,
  newServer,
  reported,
  runningServer,
} from './game-server.ts';
import type { ListingEntry } from './panel-documents.ts';
import { PROFILES, type ServerProfile } from './profiles.ts';
import { type Random, seededRandom, seededUuid } from './random.ts';
import type { SimulatedAnswer } from './simulated-responses.ts';
import { newSchedule, type SimulatedSchedule } from './simulated-schedules.ts';
import type {
  AllocationSpec,
  BackupSpec,
  Conflict,
  DaemonType,
  ProfileName,
  ServerSpec,
  UsagePin,
} from './simulator-schema.ts';
import type { SimulatorSettings } from './simulator-settings.ts';

/** The memory limit that the socket of an unlimited server reports: the host's RAM. */
const HOST_MEMORY_BYTES = 64 * 1_024 * MIB;
/**
 * The node's memory limit relative to that in the server list, with room for the runtime itself.
 */
const MEMORY_OVERHEAD = 1.05;
const LONGEST_UPTIME_MS = 3 * 86_400_000;
const DEFAULT_BACKUP_LIMIT = 3;
const DEFAULT_LIMITS = { memory: 4_096, swap: 0, disk: 20_480, cpu: 200, io: 500 };

/** The complete state of one simulated server. */
export interface SimulatedServer {
  readonly uuid: string;
  readonly identifier: string;
  readonly name: string;
  readonly profileName: ProfileName;
  readonly profile: ServerProfile;
  readonly memoryLimitBytes: number;
  readonly limits: ListingEntry['limits'];
  readonly egg: string;
  readonly owned: boolean;
  readonly daemonType: DaemonType;
  readonly death: ServerSpec['death'];
  readonly backups: BackupSpec[];
  readonly schedules: readonly SimulatedSchedule[];
  readonly backupLimit: number;
  readonly allocationSpec: AllocationSpec | null;
  readonly variables: Readonly<Record<string, string>>;
  readonly nodeAddress: string;
  readonly backupEveryMs: number | undefined;
  readonly players: ServerSpec['players'];
  /** When it last made a scheduled backup. */
  backedUpAt: number;
  readonly random: Random;
  readonly connections: Set<ConsoleConnection>;
  /** The disk usage until the disk is filled. */
  readonly usualDiskBytes: number;
  game: GameServer;
  pin: UsagePin | undefined;
  conflict: Conflict | undefined;
  /** The node whose port its sockets are on. */
  node: 0 | 1;
  nodeDown: boolean;
  /** The node's name in the server list, if the spec contains one. */
  readonly nodeName: string | undefined;
  advertised: string | undefined;
  /** The cached resources response, and when it was created. */
  resources: { readonly at: number; readonly answer: SimulatedAnswer } | undefined;
  /** A limited number of console lines, newest last. */
  readonly log: string[];
  /** The number of console lines that are due, including a fraction of a line. */
  linesOwed: number;
  cancelDue: Cancel;
  /** When the daemon last restarted it after a crash. */
  revivedAt: number | undefined;
  /** The number of its next starts that fail. */
  startsToFail: number;
  /** Cancels the daemon's pending output and actions after the end of a run. */
  cancelDaemon: Cancel;
}

/** A server according to its spec at `now`. The seed determines what the spec doesn't contain. */
export function createServer(
  spec: ServerSpec,
  seed: number,
  now: number,
  settings: Pick<SimulatorSettings, 'startMs' | 'stopMs' | 'reviveMs' | 'daemon'>,
): SimulatedServer {
  const random = seededRandom(seed);
  const profileName = spec.profile ?? 'steady';
  const uuid = spec.uuid ?? seededUuid(random);
  const limits = { ...DEFAULT_LIMITS, ...definedOnly(spec.limits ?? {}) };
  const profile = chosenProfile(spec, profileName, limits.cpu);
  const memoryLimitBytes =
    limits.memory === 0 ? HOST_MEMORY_BYTES : Math.floor(limits.memory * MIB * MEMORY_OVERHEAD);
  const diskBytes = Math.round((limits.disk === 0 ? 20_480 : limits.disk) * MIB * (0.2 + 0.5 * random()));
  const uptimeMs = Math.round(random() * (profile.crashEveryMs ?? LONGEST_UPTIME_MS));
  const traits = gameTraits({ profile, memoryLimitBytes, startsToFail: 0 }, settings);
  return {
    uuid,
    identifier: uuid.slice(0, 8),
    name: spec.name,
    profileName,
    profile,
    memoryLimitBytes,
    limits,
    egg: spec.egg ?? 'Generic',
    owned: spec.owned ?? true,
    daemonType: spec.daemonType ?? 'wings',
    death: spec.death,
    backups: [...(spec.backups ?? [])],
    schedules: (spec.schedules ?? []).map((schedule, index) => newSchedule(schedule, index, now)),
    backupLimit: spec.backupLimit ?? DEFAULT_BACKUP_LIMIT,
    allocationSpec: spec.allocation === undefined ? {} : spec.allocation,
    variables: spec.variables ?? {},
    nodeAddress: spec.nodeAddress ?? 'node.example.com',
    backupEveryMs: spec.backupEveryMs,
    players: spec.players,
    backedUpAt: now,
    random,
    connections: new Set(),
    usualDiskBytes: diskBytes,
    game: profile.startsRunning ? runningServer(diskBytes, now, uptimeMs, traits) : newServer(diskBytes, now),
    pin: undefined,
    conflict: profileName === 'suspended' ? 'suspended' : undefined,
    node: 0,
    nodeDown: false,
    nodeName: spec.node,
    advertised: undefined,
    resources: undefined,
    log: [],
    linesOwed: 0,
    cancelDue: () => undefined,
    revivedAt: undefined,
    startsToFail: 0,
    cancelDaemon: () => undefined,
  };
}

/** The maximum usual CPU usage as a share of the limit. Its peaks reach at most the limit. */
const USUAL_CPU_SHARE = 0.8;

function chosenProfile(spec: ServerSpec, name: ProfileName, cpuLimit: number): ServerProfile {
  const profile = PROFILES[name];
  const most = cpuLimit === 0 ? Number.POSITIVE_INFINITY : cpuLimit;
  const cpu = Math.min(profile.cpu, most * USUAL_CPU_SHARE);
  return {
    ...profile,
    cpu,
    cpuSwing: Math.min(profile.cpuSwing, most - cpu),
    consoleLinesPerSecond: spec.consoleLinesPerSecond ?? profile.consoleLinesPerSecond,
    crashEveryMs: spec.crashEveryMs ?? profile.crashEveryMs,
  };
}

function definedOnly<Value extends object>(value: Value): { [Key in keyof Value]: NonNullable<Value[Key]> } {
  const entries = Object.entries(value).filter(([, part]) => part !== undefined);
  return Object.fromEntries(entries) as { [Key in keyof Value]: NonNullable<Value[Key]> };
}

/** A server's traits under the current settings. */
export function gameTraits(
  {
    profile,
    memoryLimitBytes,
    startsToFail,
  }: Pick<SimulatedServer, 'profile' | 'memoryLimitBytes' | 'startsToFail'>,
  settings: Pick<SimulatorSettings, 'startMs' | 'stopMs' | 'reviveMs' | 'daemon'>,
): GameServerTraits {
  return {
    profile,
    memoryLimitBytes,
    startMs: settings.startMs,
    stopMs: settings.stopMs,
    reviveMs: profile.crashEveryMs === undefined ? undefined : settings.reviveMs,
    startFails: startsToFail > 0,
    killsSilently: killsSilently(settings),
  };
}

/** The usage that a server currently reports. */
export function currentUsage(server: SimulatedServer): GameUsage {
  return reported(server.game.usage, server.pin);
}

/** The name of its node in the server list. */
export function nodeName({ nodeName: given, node }: Pick<SimulatedServer, 'node' | 'nodeName'>): string {
  return given ?? `node-${node + 1}`;
}
