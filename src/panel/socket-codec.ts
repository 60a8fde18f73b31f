/** The interface of a dialect's console sockets, which converts frames and messages. */
import type { ServerState } from '../domain/power-states.ts';
import type { CauseCode } from '../domain/problems.ts';
import type { Sample } from '../domain/sample.ts';
import type { BadMessageKind, PanelTelemetry } from '../domain/telemetry.ts';

/** Reads and writes the messages of the console socket. None of the functions uses `this`. */
export interface SocketCodec {
  /** The maximum frame length. The far end silently drops longer frames. */
  readonly maxFrameBytes: number;
  /** How many unauthenticated sockets per address a daemon allows; unlimited if absent. */
  readonly handshakesPerAddress?: number;
  /**
   * The text of one frame. Throws a RangeError if the far end would drop it because of its length.
   */
  readonly encode: (message: ClientMessage) => string;
  /** Reads one text frame; never throws. */
  readonly decode: (frame: Buffer) => DecodedFrame;
  /**
   * Reads the frame in these bytes and calls the handler. Never throws because of the frame's
   * content. Returns whether it is a console line: many of them may follow, so the reader then
   * takes a break.
   */
  readonly handleFrame: (
    bytes: Buffer,
    isBinary: boolean,
    handler: FrameHandler,
    from?: number,
    to?: number,
  ) => boolean;
  /** The daemon's notice about a stop in a console frame; undefined if there is none. */
  readonly daemonNotice: (frame: Buffer, isStopToExplain: boolean) => DaemonNotice | 'unreadable' | undefined;
  /** Why a node, or a proxy in front of it, rejected a socket, and its text. */
  readonly readUpgradeRefusal: (refusal: UpgradeRefusal) => {
    readonly cause: CauseCode;
    readonly message: string | undefined;
  };
  /** Why the far end closed the socket. */
  readonly closeCause: (code: number) => CauseCode;
  /** Why a node responded to this token with `jwt error`. */
  readonly jwtErrorCause: (message: string, token?: string) => CauseCode;
  /** The permissions in a token; undefined if it can't be read. */
  readonly readPermissions: (token: string) => readonly string[] | undefined;
}

/** The response in place of a console socket. */
export interface UpgradeRefusal {
  readonly status: number;
  /** The first part of its body. */
  readonly body?: string | undefined;
  readonly contentType?: string | undefined;
  /** Whether Cloudflare sent a challenge page. */
  readonly isChallenge?: boolean | undefined;
}

/** A daemon's notice about the end of a run, on the server's console. */
export type DaemonNotice =
  | { readonly kind: 'crash detected' }
  | { readonly kind: 'exit code'; readonly code: number }
  | { readonly kind: 'out of memory'; readonly killed: boolean }
  | { readonly kind: 'restart aborted' }
  | { readonly kind: 'restart disabled' }
  | { readonly kind: 'disk full' };

/** A node's message about a token. */
export interface JwtError {
  /** Without the random identifier, so that it is the same for every server. */
  readonly message: string;
  /** Whether a new token would be accepted. */
  readonly isFixable: boolean;
  /**
   * Whether the message responds to a token. Otherwise, it may replace an event that the node
   * withheld.
   */
  readonly answersToken: boolean;
}

/** The power actions that a client can request (`set state`). */
export const POWER_ACTIONS = ['start', 'stop', 'restart', 'kill'] as const;
export type PowerAction = (typeof POWER_ACTIONS)[number];

/** All messages that the contract allows a client to send. */
export type ClientMessage =
  | { readonly event: 'auth'; readonly token: string }
  | { readonly event: 'send stats' }
  | { readonly event: 'send logs' }
  | { readonly event: 'set state'; readonly action: PowerAction }
  | { readonly event: 'send command'; readonly command: string };

/** A received frame: the name of its event, and its text arguments. */
export interface ServerMessage {
  readonly event: string;
  readonly args: readonly string[];
}

/** A message, or the reason why a frame contains none. */
export type DecodedFrame = ServerMessage | { readonly bad: BadMessageKind };

/** Handles the content of frames. Messages without a handler are only counted. */
export interface FrameHandler {
  readonly telemetry: PanelTelemetry;
  /** The frame isn't JSON. Detecting that takes longer than reading a message. */
  unreadable(): void;
  /** A console line, as the raw frame, because few lines are ever read. */
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
  /** A backup of the server was completed, successfully or not. */
  backupCompleted(): void;
}
