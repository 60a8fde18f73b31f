import type { ListingType, Sample, ServerState, ServerTarget } from '../domain/server.ts';
import type { ApiEndpoint, BadMessageKind, PanelTelemetry } from '../domain/telemetry.ts';
import type { decodeBackupsPage, decodeListingPage } from './dialects/pterodactyl/responses.ts';
import type { PTERODACTYL_SOCKET, readJwtError } from './dialects/pterodactyl/socket.ts';
import type { PTERODACTYL } from './dialects/pterodactyl.ts';

/** A GET request and the decoder of its response. */
export interface PanelRequest<T> {
  /** Path and query below the panel's base address. */
  readonly path: string;
  /** Decodes the response. Throws a ShapeError if it has another shape. */
  readonly decode: (body: unknown) => T;
}

/** A response that is JSON but doesn't have the shape that the contract specifies; the message contains what was expected. */
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

/** What the paths of a server's endpoints contain. */
export type ServerAddress = Pick<ServerTarget, 'id' | 'daemon'>;

/** What a call is about, as far as its endpoint needs it; without a query, the server list returns its smallest part. */
export interface Requested extends Partial<ServerAddress>, Partial<ListingQuery> {}

/** The decoded responses of the endpoints. */
export type Responses = {
  readonly [Endpoint in ApiEndpoint]: ReturnType<
    ReturnType<(typeof PTERODACTYL.requests)[Endpoint]>['decode']
  >;
};

/** The maximum age of a resources response, because the panel caches it (field notes, REST). */
export const POLL_CACHE_MS = 20_000;

/** What the resources endpoint reports about a server. */
export interface Resources {
  /** Undefined if the panel has no data, which is not the same as zeros. */
  readonly sample: Sample | undefined;
  readonly suspended: boolean;
  readonly badFields: number;
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
      'name' | 'node' | 'egg' | 'daemon' | 'blocked' | 'isReinstallFailed' | 'withoutBackups' | 'limits'
    >,
    Pick<ServerTarget, 'address' | 'allocation' | 'namedPort' | 'otherPorts'> {
  /** The short id. */
  readonly identifier: string;
  readonly uuid: string;
}

/** One page of the server list. */
export type ListingPage = ReturnType<typeof decodeListingPage>;

/** A completed backup. */
export interface Backup {
  /** False if the backup failed. */
  readonly isSuccessful: boolean;
  /** When it completed, in Unix milliseconds. */
  readonly completedAtMs: number;
  /** Absent if the panel doesn't report it. */
  readonly bytes?: number;
}

/** One page of a server's backups. */
export type BackupsPage = ReturnType<typeof decodeBackupsPage>;

/** A schedule of a server: tasks that the panel starts at certain times. */
export interface Schedule {
  readonly id: number;
  readonly name: string;
  /** Whether the panel would start it: it is active and has a task. */
  readonly isDue: boolean;
  /** The panel started it, and its last task hasn't ended. */
  readonly isProcessing: boolean;
  /** In Unix milliseconds; absent if it never ran. */
  readonly lastRunMs?: number;
  readonly nextRunMs?: number;
}

/** The form of the body of a refused call, and its message as plain text if it has one. */
export interface ErrorBody {
  /**
   * `envelope` is the panel's `errors` list, `message` its flat object, `foreign` everything else: usually the page or message
   * of a proxy or firewall in front of the panel.
   */
  readonly form: 'envelope' | 'message' | 'foreign';
  /** The class of the panel's error. */
  readonly code?: string;
  /** The panel asked the server's node and passes on its response, possibly with its status, or reports that there was none. */
  readonly fromNode?: { readonly status?: number };
  /** The panel has this path of the server only below the name of the server's daemon. */
  readonly needsDaemon?: boolean;
  /** The response is one of a family of panels that isn't supported. */
  readonly isUnsupported?: boolean;
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
export type DaemonWords =
  | { readonly kind: 'crash detected' }
  | { readonly kind: 'exit code'; readonly code: number }
  | { readonly kind: 'out of memory'; readonly killed: boolean }
  | { readonly kind: 'restart aborted' }
  | { readonly kind: 'restart disabled' }
  | { readonly kind: 'disk full' };

/** A node's message about a token. */
export type JwtError = ReturnType<typeof readJwtError>;

/** The messages of the console socket. */
export type SocketCodec = typeof PTERODACTYL_SOCKET;

/** What the far end can be asked to do with a server (`set state`). */
export const POWER_ACTIONS = ['start', 'stop', 'restart', 'kill'] as const;
export type PowerAction = (typeof POWER_ACTIONS)[number];

/** All messages of the contract that a client may send. */
export type ClientMessage =
  | { readonly event: 'auth'; readonly token: string }
  | { readonly event: 'send stats' }
  | { readonly event: 'send logs' }
  | { readonly event: 'set state'; readonly action: PowerAction }
  | { readonly event: 'send command'; readonly command: string };

/** A frame from the far end: the event's name as received, and those of its args that are strings. */
export interface ServerMessage {
  readonly event: string;
  readonly args: readonly string[];
}

/** A message, or the reason why a frame contains none. */
export type DecodedFrame = ServerMessage | { readonly bad: BadMessageKind };

/** Receives what a frame contains; messages that a session doesn't act on are only counted. */
export interface FrameHandler {
  readonly telemetry: PanelTelemetry;
  /** A text isn't JSON: to find that out takes longer than to read a message. */
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
  daemonError(words: string): void;
  /** A backup of the server completed, successfully or not. */
  backupCompleted(): void;
}
