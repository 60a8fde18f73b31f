/** The interface of a dialect: what differs between families of panels. */

import type { ListingType } from '../domain/listing-settings.ts';
import type { ServerState } from '../domain/power-states.ts';
import type { CauseCode, Problem } from '../domain/problems.ts';
import type { NodeCapacity } from '../domain/reading.ts';
import type { Sample } from '../domain/sample.ts';
import type { ServerTarget } from '../domain/server.ts';
import type { ApiEndpoint, BadMessageKind, PanelTelemetry } from '../domain/telemetry.ts';
import type { DialectFacts } from './dialects/facts.ts';

/** A family of panels with the same API. */
export interface Dialect extends DialectFacts {
  readonly requests: Requests;
  /** The request for the resources of all of a node's servers, by UUID, if the panel has one. */
  readonly resourcesOfNode?: (nodeId: string) => PanelRequest<ReadonlyMap<string, Resources>>;
  readonly socket: SocketCodec;
  readonly refusals: Refusals;
  readonly rate: RateForm;
  readonly permissions: Readonly<Partial<Record<ApiEndpoint, string>>>;
  /** The dialect that it extends: a response in that one doesn't rule this one out. */
  readonly extends?: Dialect;
  /** Is the response in a form that only this dialect has? */
  readonly recognizes: (answer: PanelAnswerText) => boolean;
}

/** A response of a panel whose dialect isn't certain. */
export interface PanelAnswerText {
  readonly status: number;
  /** The parsed body; undefined if it isn't JSON. */
  readonly body: unknown;
}

/** The requests that exist. */
export type Requests = {
  readonly [Endpoint in ApiEndpoint]: (what: Requested) => PanelRequest<Responses[Endpoint]>;
};

/** How a panel limits the calls of its API. */
export interface RateForm {
  /** Whose calls are counted together. */
  readonly scope: 'account' | 'address';
  /**
   * The period, in milliseconds, for which a response's header gives the number of allowed calls.
   */
  readonly windowMs: number;
  /**
   * When no call may be made, for panels that restart their count only if the end of a window has
   * no calls.
   */
  readonly quiet?: Quiet;
  /**
   * The limit of an unchanged installation, in calls per minute, for panels that report theirs
   * late.
   */
  readonly defaultPerMinute?: number;
}

/** A time without calls, in milliseconds after the first call of a window. */
export interface Quiet {
  readonly fromMs: number;
  /** The next call begins another window. */
  readonly untilMs: number;
}

/** How refused calls are read. */
export interface Refusals {
  /** Reads the body in any form seen in the field. Never throws. */
  readonly read: (text: string, contentType: string) => ErrorBody;
  /** Why the panel refused a call, in a response of its own form. */
  readonly cause: (refusal: PanelRefusal) => CauseCode;
}

/** A GET request and the decoder of its response. */
export interface PanelRequest<T> {
  /** Path and query below the panel's base address. */
  readonly path: string;
  /** Decodes the response. Throws a ShapeError if it has another shape. */
  readonly decode: (body: unknown) => T;
}

/** Thrown for JSON that differs from the contract; the message contains what was expected. */
export class ShapeError extends Error {
  override readonly name = 'ShapeError';
}

/** Which page of the server list to request, and of whose servers. */
export interface ListingQuery {
  readonly page: number;
  /** At most 100. */
  readonly perPage: number;
  readonly type?: ListingType;
}

/** What the paths and responses of a server's endpoints contain. */
export type ServerAddress = Pick<ServerTarget, 'id' | 'daemon' | 'uuid' | 'nodeId'>;

/**
 * The subject of a call, as far as its endpoint needs it. The default query is the shortest list.
 */
export interface Requested extends Partial<ServerAddress>, Partial<ListingQuery> {}

/** The decoded responses of the endpoints. */
export interface Responses extends Readonly<Record<ApiEndpoint, unknown>> {
  readonly listing: ListingPage;
  readonly websocket: Credentials;
  readonly resources: Resources;
  readonly backups: BackupsPage;
  readonly schedules: readonly Schedule[];
  readonly nodes: NodesPage;
  readonly account: Account;
}

/** A page of a list that has several. */
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
export interface Account {
  readonly username: string;
  readonly isAdmin: boolean;
  /** Whether the key may do what its account may; false if it has permissions of its own. */
  readonly isKeyUnlimited: boolean;
}

/** The maximum age of a resources response, because the panel caches it (field notes, REST). */
export const POLL_CACHE_MS = 20_000;

/** The problem of a server for which the panel responded without data. */
export const NO_DATA: Problem = {
  cause: 'node_unreachable',
  detail: "the panel has no data: it can't reach the node",
};

/** What the resources endpoint reports about a server. */
export interface Resources {
  /** Undefined if the panel has no data, which is not the same as zeros. */
  readonly sample: Sample | undefined;
  readonly suspended: boolean;
  readonly badFields: number;
  /** When the panel was asked, in monotonic milliseconds; absent if this poll asked it. */
  readonly requestedAt?: number;
}

/** What is needed to open a server's console socket. */
export interface Credentials {
  /** A secret: it must not appear in any log, error or page. */
  readonly token: string;
  readonly socketUrl: string;
  /** The token's lifetime from its receipt, in milliseconds. */
  readonly lifetimeMs: number;
}

/** One server as the panel's server list describes it. */
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
  /** Entries that can't be used, or are beyond the requested ones. */
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

/** One page of a server's backups, of which only completed ones are listed. */
export interface BackupsPage extends Page {
  readonly backups: readonly Backup[];
}

/** A schedule of a server: tasks that the panel starts at certain times. */
export interface Schedule {
  readonly id: number | string;
  readonly name: string;
  /** Whether the panel would start it: it is active and has a task. */
  readonly isDue: boolean;
  /** The panel started it, and its last task hasn't ended; absent if the panel doesn't know. */
  readonly isProcessing?: boolean;
  /** In Unix milliseconds; absent if it never ran. */
  readonly lastRunMs?: number;
  readonly nextRunMs?: number;
}

/** The form of the body of a refused call, and its message as plain text if it has one. */
export interface ErrorBody {
  /**
   * `envelope` is the panel's `errors` list, `message` its flat object. `foreign` is everything
   * else, usually the page or message of a proxy or firewall in front of the panel.
   */
  readonly form: 'envelope' | 'message' | 'foreign';
  /** The class of the panel's error. */
  readonly code?: string;
  /** The panel passes on the response of the server's node, or reports that there was none. */
  readonly fromNode?: { readonly status?: number };
  readonly detail?: string;
}

/** The response that came instead of a console socket. */
export interface UpgradeRefusal {
  readonly status: number;
  /** The beginning of its body. */
  readonly body?: string | undefined;
  readonly contentType?: string | undefined;
  /** Whether Cloudflare sent a challenge page. */
  readonly isChallenge?: boolean | undefined;
}

/** A call that the panel refused, and what its response shows. */
export interface PanelRefusal extends ErrorBody {
  readonly endpoint: ApiEndpoint;
  readonly status: number;
  /** Whether the API key's prefix is that of the application API. */
  readonly isApplicationKey: boolean;
}

/** What a daemon prints on a server's console about the end of a run. */
export type DaemonNotice =
  | { readonly kind: 'crash detected' }
  | { readonly kind: 'exit code'; readonly code: number }
  | { readonly kind: 'out of memory'; readonly killed: boolean }
  | { readonly kind: 'restart aborted' }
  | { readonly kind: 'restart disabled' }
  | { readonly kind: 'disk full' };

/** A node's message about a token. */
export interface JwtError {
  /** Without the random identifier, so it is the same for every server. */
  readonly message: string;
  /** A new token would be accepted. */
  readonly isFixable: boolean;
  /** The message responds to a token; otherwise, it may replace an event that the node withheld. */
  readonly answersToken: boolean;
}

/** The messages of the console socket. None of the functions uses `this`. */
export interface SocketCodec {
  /** The far end drops longer frames without a response. */
  readonly maxFrameBytes: number;
  /**
   * How many sockets without an accepted token a daemon allows for one address; any number if
   * absent.
   */
  readonly handshakesPerAddress?: number;
  /** The text of one frame; throws a RangeError if the far end would drop it for its length. */
  readonly encode: (message: ClientMessage) => string;
  /** Reads one text frame; never throws. */
  readonly decode: (frame: Buffer) => DecodedFrame;
  /**
   * Reads the frame that these bytes contain and calls the handler; never throws because of the
   * frame's content. Returns whether it is a console line, of which many may come: the reader then
   * takes a break.
   */
  readonly handleFrame: (
    bytes: Buffer,
    isBinary: boolean,
    handler: FrameHandler,
    from?: number,
    to?: number,
  ) => boolean;
  /** The notice of the daemon about a stop in a console frame; undefined if there is none. */
  readonly daemonNotice: (frame: Buffer, isStopToExplain: boolean) => DaemonNotice | 'unreadable' | undefined;
  /** Why a node, or a proxy in front of it, refused to open a socket, and its text. */
  readonly readUpgradeRefusal: (refusal: UpgradeRefusal) => {
    readonly cause: CauseCode;
    readonly message: string | undefined;
  };
  /** Why the far end closed the socket. */
  readonly closeCause: (code: number) => CauseCode;
  /** Why a node responded to this token with `jwt error`. */
  readonly jwtErrorCause: (message: string, token?: string) => CauseCode;
  /** The permissions that a token lists; undefined if it can't be read. */
  readonly readPermissions: (token: string) => readonly string[] | undefined;
}

/** The power actions that a client can request (`set state`). */
export const POWER_ACTIONS = ['start', 'stop', 'restart', 'kill'] as const;
export type PowerAction = (typeof POWER_ACTIONS)[number];

/** All messages of the contract that a client may send. */
export type ClientMessage =
  | { readonly event: 'auth'; readonly token: string }
  | { readonly event: 'send stats' }
  | { readonly event: 'send logs' }
  | { readonly event: 'set state'; readonly action: PowerAction }
  | { readonly event: 'send command'; readonly command: string };

/** A received frame: its event's name, and those of its args that are strings. */
export interface ServerMessage {
  readonly event: string;
  readonly args: readonly string[];
}

/** A message, or the reason why a frame contains none. */
export type DecodedFrame = ServerMessage | { readonly bad: BadMessageKind };

/** Receives what a frame contains; messages that a session doesn't act on are only counted. */
export interface FrameHandler {
  readonly telemetry: PanelTelemetry;
  /** The frame isn't JSON: detecting that takes longer than reading a message. */
  unreadable(): void;
  /** A console line, passed as the raw frame because few lines are ever read. */
  consoleLine(frame: Buffer): void;
  /** The sample is valid only during the call. */
  stats(sample: Sample): void;
  status(state: ServerState): void;
  authenticated(): void;
  /** `token expiring` or `token expired`. */
  tokenEnding(): void;
  jwtError(error: JwtError): void;
  /** The node failed to handle a message, such as the token. */
  daemonError(message: string): void;
  /** A backup of the server completed, successfully or not. */
  backupCompleted(): void;
}
