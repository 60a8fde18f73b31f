import type { BlockedReason } from '../domain/server.ts';

/** The closed set of ways in which a call to the panel can fail. */
export type PanelErrorKind =
  | 'network'
  | 'dns'
  | 'tls'
  | 'timeout'
  | 'redirect'
  | 'bad_request'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'rate_limited'
  | 'node_unreachable'
  | 'panel_unavailable'
  | 'server_error'
  | 'bad_answer';

/** What is known of a failed call beside its kind; a key is absent where nothing was said. */
export interface PanelErrorFacts {
  /** HTTP status, where there was an answer. */
  readonly status?: number;
  /** The panel's own words, as plain text. */
  readonly detail?: string;
  /** Did the panel itself answer, in one of its JSON forms, and not a proxy before it? */
  readonly fromPanel?: boolean;
  /** How long a 429 asks to wait, in milliseconds. */
  readonly retryAfterMs?: number;
  /** The `X-RateLimit-Limit` of the answer, in calls a minute. */
  readonly limitPerMinute?: number;
  readonly cause?: unknown;
}

/** A call to the panel that failed; the message is one line, says what to do and holds no secret. */
export class PanelError extends Error {
  override readonly name = 'PanelError';
  readonly kind: PanelErrorKind;
  readonly status: number | undefined;
  readonly detail: string | undefined;
  readonly fromPanel: boolean;
  readonly retryAfterMs: number | undefined;
  readonly limitPerMinute: number | undefined;

  constructor(kind: PanelErrorKind, message: string, facts: PanelErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.kind = kind;
    this.status = facts.status;
    this.detail = facts.detail;
    this.fromPanel = facts.fromPanel ?? false;
    this.retryAfterMs = facts.retryAfterMs;
    this.limitPerMinute = facts.limitPerMinute;
  }

  /** The state that the refusal stands for, where only a person or a finished job on the panel can lift it. */
  get blocked(): BlockedReason | undefined {
    return blockedReason(this.kind, this.detail);
  }
}

/** The reason for a refusal that a retry within minutes won't cure; undefined for every other trouble. */
export function lastingRefusal(error: unknown): BlockedReason | undefined {
  return error instanceof PanelError ? error.blocked : undefined;
}

const PANEL_TROUBLE: Partial<Record<PanelErrorKind, 'refused' | 'unreachable'>> = {
  unauthorized: 'refused',
  network: 'unreachable',
  dns: 'unreachable',
  tls: 'unreachable',
  timeout: 'unreachable',
  panel_unavailable: 'unreachable',
};

/**
 * Does the error speak of the whole panel and not of one server: the key was refused, or the panel could not
 * be reached? Undefined for every other trouble.
 */
export function panelTrouble(error: unknown): 'refused' | 'unreachable' | undefined {
  return error instanceof PanelError ? PANEL_TROUBLE[error.kind] : undefined;
}

function blockedReason(kind: PanelErrorKind, detail: string | undefined): BlockedReason | undefined {
  if (kind === 'unauthorized' || kind === 'forbidden' || kind === 'not_found') return kind;
  return kind === 'conflict' ? conflictReason(detail ?? '') : undefined;
}

/** Panels word their refusals differently, so only the stem of the telling word is looked for. */
const CONFLICTS: readonly (readonly [RegExp, BlockedReason])[] = [
  [/suspen/i, 'suspended'],
  [/transfer/i, 'transferring'],
  [/restor|backup/i, 'restoring'],
  [/install/i, 'installing'],
];

// A conflict in words that nobody foresaw is still a state which the panel holds the server in, and
// "maintenance" is the reason that promises nothing about who will lift it.
function conflictReason(detail: string): BlockedReason {
  return CONFLICTS.find(([stem]) => stem.test(detail))?.[1] ?? 'maintenance';
}
