/** The interface of a dialect: what differs between families of panels. */
import type { CauseCode } from '../domain/problems.ts';
import type { ApiEndpoint } from '../domain/telemetry.ts';
import type { DialectFacts } from './dialects/facts.ts';
import type { PanelRequest, Requests } from './requests.ts';
import type { Resources } from './responses.ts';
import type { SocketCodec } from './socket-codec.ts';

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

/** A refused call, with the facts in its response. */
export interface PanelRefusal extends ErrorBody {
  readonly endpoint: ApiEndpoint;
  readonly status: number;
  /** Whether the API key's prefix is that of the application API. */
  readonly isApplicationKey: boolean;
}
