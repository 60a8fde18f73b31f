/** The interface of a dialect, with the differences between families of panels. */
import type { CauseCode } from '../domain/problems.ts';
import type { ApiEndpoint } from '../domain/telemetry.ts';
import type { DialectFacts } from './dialects/facts.ts';
import type { PanelRequest, Requests } from './requests.ts';
import type { Resources } from './responses.ts';
import type { SocketCodec } from './socket-codec.ts';

/** A family of panels with the same API. */
export interface Dialect extends DialectFacts {
  readonly requests: Requests;
  /** The request for the resources of all of a node's servers by UUID, if the panel supports it. */
  readonly resourcesOfNode?: (nodeId: string) => PanelRequest<ReadonlyMap<string, Resources>>;
  readonly socket: SocketCodec;
  readonly refusals: Refusals;
  readonly rate: RateForm;
  readonly permissions: Readonly<Partial<Record<ApiEndpoint, string>>>;
  /** The dialect that this one extends. A response in that dialect may also be one in this. */
  readonly extends?: Dialect;
  /** Does the response have a form that only this dialect has? */
  readonly recognizes: (answer: PanelAnswerText) => boolean;
}

/** A response of a panel whose dialect isn't known for certain. */
export interface PanelAnswerText {
  readonly status: number;
  /** The parsed body; undefined if it isn't JSON. */
  readonly body: unknown;
}

/** How a panel limits API calls. */
export interface RateForm {
  /** Which calls are counted together. */
  readonly scope: 'account' | 'address';
  /** The period for which a response header gives the number of allowed calls, in milliseconds. */
  readonly windowMs: number;
  /**
   * A time without calls, for panels that restart their count only after a window whose end had no
   * calls.
   */
  readonly quiet?: QuietPeriod;
  /**
   * The limit of an unmodified installation in calls per minute, for panels that report theirs
   * late.
   */
  readonly defaultPerMinute?: number;
}

/** A time without calls, in milliseconds after the first call of a window. */
export interface QuietPeriod {
  readonly fromMs: number;
  /** When the next call begins another window. */
  readonly untilMs: number;
}

/** Reads the responses of rejected calls. */
export interface Refusals {
  /** Reads the body in every form that was seen in the field. Never throws. */
  readonly read: (text: string, contentType: string) => ErrorBody;
  /** Why the panel rejected a call, from a response in its own form. */
  readonly cause: (refusal: PanelRefusal) => CauseCode;
}

/** The form of a rejected call's body, and its message as plain text if there is one. */
export interface ErrorBody {
  /**
   * `envelope` is the panel's `errors` list, `message` its flat object. `foreign` is everything
   * else, usually the page or message of a proxy or firewall in front of the panel.
   */
  readonly form: 'envelope' | 'message' | 'foreign';
  /** The class of the panel's error. */
  readonly code?: string;
  /** Whether the panel passes on the response of the server's node, or reports the lack of one. */
  readonly fromNode?: { readonly status?: number };
  readonly detail?: string;
}

/** The response to a rejected call. */
export interface PanelRefusal extends ErrorBody {
  readonly endpoint: ApiEndpoint;
  readonly status: number;
  /** Whether the API key has the prefix of an application key. */
  readonly isApplicationKey: boolean;
}
