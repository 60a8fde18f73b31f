/** The decoded responses of a panel's endpoints. */
import type { Problem } from '../domain/problems.ts';
import type { NodeCapacity } from '../domain/reading.ts';
import type { Sample } from '../domain/sample.ts';
import type { ServerTarget } from '../domain/server.ts';
import type { ApiEndpoint } from '../domain/telemetry.ts';

/** The decoded response of each endpoint. */
export interface Responses extends Readonly<Record<ApiEndpoint, unknown>> {
  readonly listing: ListingPage;
  readonly websocket: Credentials;
  readonly resources: Resources;
  readonly backups: BackupsPage;
  readonly schedules: readonly Schedule[];
  readonly nodes: NodesPage;
  readonly account: KeyAccount;
}

/** One page of a list. */
interface Page {
  /** 1 if the list reports none. */
  readonly totalPages: number;
}

/** The nodes on one page of the application API's list. */
export interface NodesPage extends Page {
  readonly nodes: readonly NodeCapacity[];
  readonly badEntries: number;
}

/** The account of an API key. */
export interface KeyAccount {
  readonly username: string;
  readonly isAdmin: boolean;
  /** Whether the key has all rights of its account; false if it has its own permissions. */
  readonly isKeyUnlimited: boolean;
}

/** The maximum age of a resources response, because panels cache it. */
export const POLL_CACHE_MS = 20_000;

/** The problem of a server about which the panel responded without data. */
export const NO_DATA: Problem = {
  cause: 'node_unreachable',
  detail: "the panel has no data: it can't reach the node",
};

/** What the resources endpoint reports about a server. */
export interface Resources {
  /** Undefined if the panel has no data, which differs from zeros. */
  readonly sample: Sample | undefined;
  readonly suspended: boolean;
  readonly badFields: number;
  /** When the panel was asked, in monotonic milliseconds; absent if this poll made the request. */
  readonly requestedAt?: number;
}

/** The credentials of a server's console socket. */
export interface Credentials {
  /** A secret: it must not appear in any log, error or page. */
  readonly token: string;
  readonly socketUrl: string;
  /** The token's lifetime from its arrival, in milliseconds. */
  readonly lifetimeMs: number;
}

/** One server in the panel's server list. */
export interface ListedServer
  extends Pick<
      ServerTarget,
      | 'name'
      | 'node'
      | 'nodeId'
      | 'egg'
      | 'daemon'
      | 'blocked'
      | 'isReinstallFailed'
      | 'withoutBackups'
      | 'limits'
    >,
    Pick<ServerTarget, 'address' | 'allocation' | 'namedPort' | 'otherPorts'> {
  /** The short id. */
  readonly identifier: string;
  readonly uuid: string;
}

/** One page of the server list, in the panel's order. */
export interface ListingPage extends Page {
  readonly servers: readonly ListedServer[];
  /** The number of unusable entries, and of entries beyond the requested ones. */
  readonly badEntries: number;
}

/** A completed backup. */
export interface Backup {
  /** False if the backup failed. */
  readonly isSuccessful: boolean;
  /** When it completed, in Unix milliseconds. */
  readonly completedAtMs: number;
  /** Absent if the panel doesn't report it. */
  readonly bytes?: number;
}

/** One page of a server's completed backups. */
export interface BackupsPage extends Page {
  readonly backups: readonly Backup[];
}

/** A schedule of a server: tasks that the panel starts at certain times. */
export interface Schedule {
  readonly id: number | string;
  readonly name: string;
  /** Whether the panel would start it: it is active and has a task. */
  readonly isDue: boolean;
  /** Whether it is running; absent if the panel doesn't know. */
  readonly isProcessing?: boolean;
  /** In Unix milliseconds; absent if it never ran. */
  readonly lastRunMs?: number;
  readonly nextRunMs?: number;
}

/** The error for JSON that differs from the contract. The message contains the expectation. */
export class ShapeError extends Error {
  override readonly name = 'ShapeError';
}
