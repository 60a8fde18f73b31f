import {
  API_ENDPOINTS,
  type ApiEndpoint,
  BAD_MESSAGE_KINDS,
  type BadMessageKind,
  type PanelTelemetry,
  RECONNECT_REASONS,
  type ReconnectReason,
} from '../domain/telemetry.ts';

/** Events that a panel's daemon is known to send: first those of its protocol, then those seen in the field. */
export const KNOWN_EVENTS: readonly string[] = [
  'auth success',
  'status',
  'console output',
  'stats',
  'token expiring',
  'token expired',
  'jwt error',
  'daemon error',
  'daemon message',
  'throttled',
  'install started',
  'install output',
  'install completed',
  'backup completed',
  'backup restore completed',
  'transfer logs',
  'transfer status',
  'deleted',
  'feature match',
];

/** The label value for every unknown event, status or failure. */
const OTHER = 'other';

/** An HTTP status, or one of the exporter's own words for a failure; the text of an error doesn't match either. */
const STATUS = /^(?:[1-5]\d\d|[a-z][a-z_]{0,31})$/;

interface Count {
  n: number;
}

type CountsByWord = ReadonlyMap<string, Count>;

function zeros(keys: readonly string[]): Map<string, Count> {
  return new Map(keys.map((key) => [key, { n: 0 }]));
}

/**
 * One panel's counts since the start, as plain numbers: a fleet sends ten thousand messages a second, and
 * only a scrape needs the counts in another form.
 */
export class PanelCounts implements PanelTelemetry {
  readonly #other: Count = { n: 0 };
  readonly #messages = zeros(KNOWN_EVENTS).set(OTHER, this.#other);
  readonly #badMessages = zeros(BAD_MESSAGE_KINDS);
  readonly #reconnects = zeros(RECONNECT_REASONS);
  readonly #requests = new Map<ApiEndpoint, Map<string, Count>>(
    API_ENDPOINTS.map((endpoint) => [endpoint, new Map()]),
  );
  readonly #observe: (endpoint: ApiEndpoint, seconds: number) => void;

  /** `observe` is called with the duration of every call, in seconds. */
  constructor(observe: (endpoint: ApiEndpoint, seconds: number) => void) {
    this.#observe = observe;
  }

  get messages(): CountsByWord {
    return this.#messages;
  }

  get badMessages(): CountsByWord {
    return this.#badMessages;
  }

  get reconnects(): CountsByWord {
    return this.#reconnects;
  }

  /** By endpoint, then by status; a status appears with its first call. */
  get requests(): ReadonlyMap<ApiEndpoint, CountsByWord> {
    return this.#requests;
  }

  message(event: string): void {
    (this.#messages.get(event) ?? this.#other).n += 1;
  }

  badMessage(kind: BadMessageKind): void {
    count(this.#badMessages, kind);
  }

  reconnect(reason: ReconnectReason): void {
    count(this.#reconnects, reason);
  }

  request(endpoint: ApiEndpoint, status: string, seconds: number): void {
    const byStatus = this.#requests.get(endpoint) ?? new Map<string, Count>();
    this.#requests.set(endpoint, byStatus);
    count(byStatus, STATUS.test(status) ? status : OTHER);
    this.#observe(endpoint, seconds);
  }
}

function count(counts: Map<string, Count>, key: string): void {
  const found = counts.get(key);
  if (found === undefined) counts.set(key, { n: 1 });
  else found.n += 1;
}
