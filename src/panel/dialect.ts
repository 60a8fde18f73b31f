import type { TokenClaims } from '../diagnosis/node-answer.ts';
import type { ListingType } from '../domain/discovery.ts';
import type { CauseCode } from '../domain/problem.ts';
import type { Limits, Sample, ServerState } from '../domain/server.ts';
import type { BadMessageKind, PanelTelemetry } from '../domain/telemetry.ts';
import type { DaemonWords } from './dialects/daemon-words.ts';

/**
 * What differs between families of panels on the wire. Everything else in the program speaks of samples, credentials and states, so
 * that a new family is one more object of this form.
 */
export interface PanelDialect {
  readonly apiKeys: ApiKeyForms;
  /** A token for the server's console socket, and the socket's address. */
  readonly credentials: (server: string) => PanelRequest<Credentials>;
  readonly resources: (server: string) => PanelRequest<Resources>;
  /** One page of the servers that the key's account can see. */
  readonly listing: (query: ListingQuery) => PanelRequest<ListingPage>;
  /** Whose key it is. */
  readonly account: () => PanelRequest<Account>;
  /** One page of the server's backups; pages count from 1. */
  readonly backups: (server: string, page: number) => PanelRequest<BackupsPage>;
  /** The words of an error answer, in whichever form it came. Never throws. */
  readonly decodeErrorBody: (text: string, contentType: string) => ErrorBody;
  readonly socket: SocketCodec;
}

/** How the panel's API keys are told apart. */
export interface ApiKeyForms {
  /** The forms of the keys that the client API takes, in words. */
  readonly client: string;
  /** Whether the key is for the application API, which can't read what the exporter needs. */
  readonly isApplicationKey: (key: string) => boolean;
}

/** A GET request, and how its answer is read. */
export interface PanelRequest<T> {
  /** Path and query below the panel's base address. */
  readonly path: string;
  /** Throws a ShapeError for an answer of another shape. */
  readonly decode: (body: unknown) => T;
}

/** An answer that is JSON but not of the shape that the contract gives; the message says what was expected. */
export class ShapeError extends Error {
  override readonly name = 'ShapeError';
}

/** The account of an API key. */
export interface Account {
  readonly username: string;
  /** It may do everything on the panel. */
  readonly isAdmin: boolean;
}

/** Which page of the listing is wanted, and of whose servers. */
export interface ListingQuery {
  readonly page: number;
  /** At most 100. */
  readonly perPage: number;
  readonly type?: ListingType;
}

/** What the resources endpoint says of a server. */
export interface Resources {
  /** Undefined where the panel has no data, which is not the same as zeros. */
  readonly sample: Sample | undefined;
  readonly suspended: boolean;
  readonly badFields: number;
}

/** What it takes to open a server's console socket. */
export interface Credentials {
  /** A secret: it must appear in no log, error or page. */
  readonly token: string;
  readonly socketUrl: string;
  /** How long the token lives from its receipt, in milliseconds. */
  readonly lifetimeMs: number;
}

/** One server as the panel's listing describes it. */
export interface ListedServer {
  /** The short id. */
  readonly identifier: string;
  readonly uuid: string;
  readonly name: string;
  readonly node?: string;
  readonly egg?: string;
  /** The panel's word where it has one, as `installing` or `restoring_backup`. */
  readonly status?: string;
  readonly suspended: boolean;
  readonly installing: boolean;
  readonly transferring: boolean;
  readonly underMaintenance: boolean;
  readonly restoring: boolean;
  /** The panel allows it no backups. */
  readonly withoutBackups: boolean;
  /** `host:port` of its default allocation; absent where there is none that can be used. */
  readonly address?: string;
  /** What is left of the allocation otherwise: `host:port` of a link-local address, or `:port`. */
  readonly allocation?: string;
  readonly limits: Limits;
}

/** One page of the listing. */
export interface ListingPage {
  readonly servers: readonly ListedServer[];
  readonly totalPages: number;
  /** Entries that name no server and were left out. */
  readonly badEntries: number;
  /** Entries beyond as many as were asked for, which are not decoded. */
  readonly surplusEntries: number;
}

/** A backup that has ended. */
export interface Backup {
  /** False if the backup failed. */
  readonly isSuccessful: boolean;
  /** When it ended, in Unix milliseconds. */
  readonly completedAtMs: number;
  /** Absent where the panel doesn't say. */
  readonly bytes?: number;
}

/** One page of a server's backups. */
export interface BackupsPage {
  /** Those that have ended; a backup in progress is left out. */
  readonly backups: readonly Backup[];
  readonly totalPages: number;
}

/** What the body of a refused call is, and its words as plain text where it has any. */
export interface ErrorBody {
  /**
   * `envelope` is the panel's `errors` list, `message` its flat object, `foreign` everything else: mostly the page of a proxy or
   * firewall before the panel.
   */
  readonly form: 'envelope' | 'message' | 'foreign';
  /** The class of the panel's error. */
  readonly code?: string;
  /** The panel passes on what the server's node answered, or that it did not. */
  readonly fromNode?: boolean;
  readonly detail?: string;
}

/**
 * The messages of the console socket. Functions without `this`: a session takes the ones that it calls for every frame from here once.
 */
export interface SocketCodec {
  /** The far end drops longer frames without a word. */
  readonly maxFrameBytes: number;
  /** The text of one frame; throws a RangeError for a frame longer than `maxFrameBytes`. */
  readonly encode: (message: ClientMessage) => string;
  /** Reads any text frame; never throws. */
  readonly decode: (frame: Buffer) => DecodedFrame;
  /** Reads one frame and tells the handler; never throws because of what the frame holds. */
  readonly handleFrame: (frame: Buffer, isBinary: boolean, handler: FrameHandler) => void;
  /**
   * What the daemon says on the console about a stop, in a frame with a console line; undefined if it says nothing. Unless a stop is to be
   * explained, the line on a full disk alone is looked for, which comes before one.
   */
  readonly daemonWords: (frame: Buffer, isStopToExplain: boolean) => DaemonWords | undefined;
  /** Why the far end closed the socket with this code. */
  readonly closeCause: (code: number) => CauseCode;
  /** Why the node rejected a token with these words; `claims` are the token's. */
  readonly jwtErrorCause: (words: string, claims?: TokenClaims) => CauseCode;
}

/** What the far end may be asked to do with a server (`set state`). */
export const POWER_ACTIONS = ['start', 'stop', 'restart', 'kill'] as const;
export type PowerAction = (typeof POWER_ACTIONS)[number];

/** Every message of the contract that a client may send. */
export type ClientMessage =
  | { readonly event: 'auth'; readonly token: string }
  | { readonly event: 'send stats' }
  | { readonly event: 'send logs' }
  | { readonly event: 'set state'; readonly action: PowerAction }
  | { readonly event: 'send command'; readonly command: string };

/** A frame of the far end: the event's name as it came, and those of its args that are strings. */
export interface ServerMessage {
  readonly event: string;
  readonly args: readonly string[];
}

/** A message, or the reason why a frame holds none. */
export type DecodedFrame = ServerMessage | { readonly bad: BadMessageKind };

/** Who is told what a frame says; what a session doesn't act upon is only counted. */
export interface FrameHandler {
  readonly telemetry: PanelTelemetry;
  /** A console line, as the frame that carries it: few are ever read. */
  consoleLine(frame: Buffer): void;
  stats(sample: Sample): void;
  status(state: ServerState): void;
  authenticated(): void;
  /** `token expiring` or `token expired`. */
  tokenEnding(): void;
  /** `curable` if a new token would be accepted. */
  jwtError(text: string, curable: boolean): void;
  /** The node failed to handle a message, such as the token. */
  daemonError(text: string): void;
  /** A backup of the server ended, successfully or not. */
  backupCompleted(): void;
}
