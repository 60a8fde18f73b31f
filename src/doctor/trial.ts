import type { Clock } from '../domain/clock.ts';
import { QUIET_LOG } from '../domain/log.ts';
import type { Problem } from '../domain/problem.ts';
import type { CollectionStatus, SocketState } from '../domain/reading.ts';
import type { CollectionMode, ServerState, ServerTarget } from '../domain/server.ts';
import type { PanelTelemetry } from '../domain/telemetry.ts';
import { untilAborted } from '../domain/until-aborted.ts';
import type { Credentials } from '../panel/dialect.ts';
import type { PanelGateway } from '../panel/gateway.ts';
import type { SocketTimeouts } from '../session/machine-model.ts';
import { Session } from '../session/session.ts';
import {
  NO_CIRCUITS,
  type SessionContext,
  type SessionPanel,
  type SessionRecord,
  type SessionSettings,
  type SocketAccess,
} from '../session/session-ports.ts';
import { type Canceled, failureOf } from './canceled.ts';
import type { CallSpan } from './panel-steps.ts';
import type { ConsoleStep } from './report.ts';

/** Servers of one panel that are tried concurrently: as many as its budget allows calls in flight. */
export const SERVERS_AT_ONCE = 8;

/**
 * The usual time per server without waiting for calls, in milliseconds: a socket that opens, and stats that arrive within a
 * second or two.
 */
const USUAL_SERVER_MS = 2_000;

/** A panel's limits apply per minute: allows for a pause of that length, and for the delayed calls. */
export const PAUSE_ALLOWANCE_MS = 90_000;

const MINUTE_MS = 60_000;

/** The number of API calls needed to try a server. */
function callsFor(mode: CollectionMode): number {
  return mode === 'auto' ? 2 : 1;
}

/** The estimated time to try these servers, in milliseconds: each minute's calls may start at once, and the rest wait. */
export function estimateMs(modes: readonly CollectionMode[], perMinute: number): number {
  const calls = modes.reduce((sum, mode) => sum + callsFor(mode), 0);
  const bySockets = (Math.ceil(modes.length / SERVERS_AT_ONCE) || 0) * USUAL_SERVER_MS;
  const byCalls = (Math.ceil(calls / perMinute) - 1) * MINUTE_MS;
  return Math.max(byCalls, bySockets);
}

/** What limits the time that one server takes. */
interface ServerBounds extends SocketTimeouts {
  readonly requestTimeoutMs: number;
  readonly statsTimeoutMs: number;
  /** Calls per minute that the budget allows. */
  readonly perMinute: number;
}

/**
 * The time limit for one server, in milliseconds: the sum of its deadlines, and the time
 * in which the servers tried concurrently get their calls.
 */
export function serverDeadlineMs(bounds: ServerBounds): number {
  const { requestTimeoutMs, connectTimeoutMs, authTimeoutMs, statsTimeoutMs, perMinute } = bounds;
  const turnsMs = ((2 * SERVERS_AT_ONCE) / perMinute) * MINUTE_MS;
  return (
    2 * requestTimeoutMs + connectTimeoutMs + authTimeoutMs + statsTimeoutMs + turnsMs + PAUSE_ALLOWANCE_MS
  );
}

/** How to reach one panel's console sockets. */
export interface ConsoleAccess extends SocketAccess {
  readonly settings: SessionSettings;
}

/** Shared by all trials of one panel's servers. */
export interface TrialOptions {
  readonly clock: Clock;
  readonly gateway: PanelGateway;
  readonly telemetry: PanelTelemetry;
  readonly sockets: ConsoleAccess;
  /** Called with each token that the panel issues, and the time of the call. */
  readonly onToken: (token: string, span: CallSpan) => void;
  /** Called when a step of a server begins. */
  readonly onStep: (server: string, step: TrialStep) => void;
}

export type TrialStep = ConsoleStep | 'resources';

/** How far a session got. */
export interface TrialResult {
  /** The last step that began. */
  readonly step: TrialStep;
  /** Why that step failed or was canceled; undefined if the session has data. */
  readonly problem: Problem | Canceled | undefined;
  /** Whether the panel responded to the call. */
  readonly isAnswered: boolean;
  readonly credentials: Credentials | undefined;
  /** Undefined if it was not reported. */
  readonly state: ServerState | undefined;
}

/** The step that a session takes at each stage of its socket; before the first, it gets credentials. */
const STEPS: Readonly<Record<Exclude<SocketState, 'none'>, ConsoleStep>> = {
  connecting: 'upgrade',
  authenticating: 'auth',
  streaming: 'stats',
  refreshing: 'stats',
};

/** A session ends with its first poll, so these have no effect. */
const INTERVALS = { pollIntervalMs: 60_000, stalenessMs: 60_000 };

/**
 * Monitors one server by one way, with a session like the exporter's, until the first sample or the first failure. The only
 * messages it sends are `auth` and `send stats`.
 */
export class Trial {
  readonly #options: TrialOptions;
  readonly #target: ServerTarget;
  #step: TrialStep;
  /** Whether the call has ended. */
  #isCalled = false;
  #isAnswered = false;
  #credentials: Credentials | undefined;
  #state: ServerState | undefined;
  #end: (problem: Problem | undefined) => void = () => undefined;

  constructor(target: ServerTarget, way: 'socket' | 'poll', options: TrialOptions) {
    // Whatever the server list shows, the server's own calls show whether the panel blocks it.
    const { blocked: _, ...server } = target;
    this.#target = { ...server, mode: way };
    this.#options = options;
    this.#step = way === 'poll' ? 'resources' : 'credentials';
  }

  /** Resolves when the session has ended: at the latest after its own deadlines, or soon after the signal aborts. */
  async run(signal: AbortSignal): Promise<TrialResult> {
    const { gateway, clock, onStep } = this.#options;
    const session = new Session(this.#context(), this.#record());
    // Later, because the call whose failure opens a circuit has its own outcome.
    const unsubscribe = gateway.onChange(() => clock.schedule(0, () => session.follow()));
    const ended = new Promise<Problem | undefined>((resolve) => {
      this.#end = resolve;
    });
    onStep(this.#target.name, this.#step);
    if (!signal.aborted) session.start();
    const problem = await untilAborted(ended, signal).catch(failureOf);
    // What happens while the session stops isn't part of its result.
    const result = {
      step: this.#step,
      problem,
      isAnswered: this.#isAnswered,
      credentials: this.#credentials,
      state: this.#state,
    };
    unsubscribe();
    await session.stop();
    return result;
  }

  #begin(step: TrialStep): void {
    if (this.#step === step) return;
    this.#step = step;
    this.#options.onStep(this.#target.name, step);
  }

  #follow({ condition, problem }: CollectionStatus, socket: SocketState): void {
    if (socket !== 'none') this.#begin(STEPS[socket]);
    if (condition === 'polling' || condition === 'failing' || condition === 'blocked') this.#end(problem);
  }

  #context(): SessionContext {
    const { sockets, clock, telemetry } = this.#options;
    return {
      ...sockets,
      settings: { ...sockets.settings, ...INTERVALS },
      clock,
      telemetry,
      log: QUIET_LOG,
      random: () => 0.5,
      panel: this.#panel(),
    };
  }

  #panel(): SessionPanel {
    const { gateway, clock, onToken } = this.#options;
    const unixNow = () => clock.toUnixMs(clock.now());
    return {
      ...NO_CIRCUITS,
      socketHold: (node) => this.#hold(gateway.socketHold(node)),
      pollHold: (node) => this.#hold(gateway.pollHold(node)),
      credentials: async (server, ask, signal) => {
        const from = unixNow();
        const credentials = await this.#call(gateway.credentials(server, ask, signal));
        onToken(credentials.token, { from, to: unixNow() });
        this.#credentials = credentials;
        // A forbidden address is a problem of the next step.
        this.#begin('upgrade');
        return credentials;
      },
      resources: async (server, ask, signal) => {
        const resources = await this.#call(gateway.resources(server, ask, signal));
        this.#state = resources.sample?.state;
        return resources;
      },
    };
  }

  async #call<T>(call: Promise<T>): Promise<T> {
    try {
      const answer = await call;
      this.#isAnswered = true;
      return answer;
    } finally {
      this.#isCalled = true;
    }
  }

  /**
   * Why the call can't be made: a problem of the path or the account. Until it is known that the panel works otherwise, the call
   * waits, and once it has ended, its own outcome is more exact.
   */
  #hold(problem: Problem | undefined): Problem | undefined {
    if (problem === undefined || this.#isCalled) return undefined;
    return this.#options.gateway.problems.find(({ cause }) => cause === problem.cause);
  }

  #record(): SessionRecord {
    const ignored = () => undefined;
    return {
      target: this.#target,
      sampledAt: undefined,
      socketSample: ({ state }) => {
        if (this.#step !== 'stats') return;
        this.#state = state;
        this.#end(undefined);
      },
      setCollection: (status, socket) => this.#follow(status, socket),
      awaitsWords: false,
      socketBegan: ignored,
      eventsWithheld: ignored,
      stateHint: ignored,
      consoleLine: ignored,
      daemonWords: ignored,
      socketHost: ignored,
      pollSample: ignored,
      setPolledStaleness: ignored,
    };
  }
}
