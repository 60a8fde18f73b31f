import type { CauseCode } from './problem.ts';
import { identityOf, type ServerTarget } from './server.ts';

/** The parts of a pino logger that the program uses; tests pass a logger that collects lines. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Logs nothing, for parts that have no log to write to. */
export const QUIET_LOG: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** The kinds of server events in the log: the field `event` of its lines. */
export const SERVER_EVENTS = [
  'streaming',
  'streaming_again',
  'polling',
  'polling_again',
  'closed',
  'failing',
  'fallback',
  'blocked',
  'moved',
  'crashed',
  'out_of_memory',
  'disk_full',
  'gave_up',
  'query_failed',
  'query_answered',
] as const;

export type ServerEvent = (typeof SERVER_EVENTS)[number];

/** The fields that identify the server in a log line. */
interface LogSubject {
  readonly panel: string;
  /** Its name, as in the label `server`. */
  readonly server: string;
  /** As in the label `server_id`: two servers may have the same name. */
  readonly server_id: string;
  readonly node?: string | undefined;
}

/** The fields of a log line about a server event. */
export interface ServerEventFields extends LogSubject {
  readonly event: ServerEvent;
  readonly cause?: CauseCode | undefined;
}

/** The fields of a server, and of its node if that is known. */
export function subjectOf(target: ServerTarget, node: string | undefined): LogSubject {
  return {
    panel: target.panel,
    server: target.name,
    server_id: identityOf(target),
    node,
  };
}
