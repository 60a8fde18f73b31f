// Admits or rejects the calls to a simulated panel.

import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { Clock } from '../domain/clock.ts';
import { sleep } from '../domain/waits.ts';
import { hasPrefix } from '../text/api-keys.ts';
import type { Faults } from './faults.ts';
import { PANEL_BEHAVIORS, type PanelBehavior } from './panel-behavior.ts';
import { countCall, type RateVerdict, type RateWindow } from './rate-window.ts';
import type { Recorder } from './recorder.ts';
import { refusal, refusalAnswer, type SimulatedAnswer, textsRefusal } from './simulated-responses.ts';
import type { PanelEndpoint, RestFault } from './simulator-schema.ts';
import type { SimulatorSettings } from './simulator-settings.ts';

const GARBAGE = '{"data":{"token":"eyJ0';
const OVERSIZE_BYTES = 16 * 1_048_576;

/** The part of the panel that the gate uses. */
export interface GateHost {
  readonly clock: Clock;
  readonly settings: SimulatorSettings;
  readonly faults: Faults;
  readonly recorder: Recorder;
  /** API keys that are currently accepted. */
  readonly keys: ReadonlySet<string>;
  /** Aborts when the panel stops, so that nothing keeps waiting. */
  readonly stopped: AbortSignal;
}

/** The subject of a call. */
export interface CallTarget {
  readonly endpoint: PanelEndpoint | 'other';
  /** The UUID, or the requested id if there is no such server. */
  readonly server?: string | undefined;
  /** The name of the server's node, or of the node whose servers are listed. */
  readonly node?: string | undefined;
}

/** The keys that an API knows, and which of them it rejects. */
export interface KeyPolicy {
  readonly isKnown: (key: string, clientKeys: ReadonlySet<string>) => boolean;
  /** The detail of a 403; undefined if the key may be used. */
  readonly refusal: (
    key: string,
    clientKeys: ReadonlySet<string>,
    settings: Pick<SimulatorSettings, 'admin'>,
  ) => string | undefined;
}

const CLIENT_KEYS: KeyPolicy = {
  isKnown: (key, clientKeys) => clientKeys.has(key) || hasPrefix(key, 'application'),
  refusal: (key) =>
    hasPrefix(key, 'application')
      ? 'You are attempting to use an application API key on an endpoint that requires a client API key.'
      : undefined,
};

/** Handles every call: recording, key, limits and faults. */
export class ApiGate {
  readonly #host: GateHost;
  /** A single window, because all keys belong to one user, and the panel limits users. */
  #window: RateWindow | undefined;
  readonly #serverWindows = new Map<string, RateWindow>();

  readonly #policy: KeyPolicy;

  constructor(host: GateHost, policy = CLIENT_KEYS) {
    this.#host = host;
    this.#policy = policy;
  }

  /** Passes a call to the endpoint, unless a check before that responds. */
  async pass(
    context: Context<{ Bindings: HttpBindings }>,
    target: CallTarget,
    endpoint: () => Promise<SimulatedAnswer>,
  ): Promise<Response> {
    const { clock, faults, recorder } = this.#host;
    const answered = recorder.call({ ...target, at: clock.now(), method: context.req.method });
    const send = (answer: SimulatedAnswer, limits: Record<string, string> = {}): Response => {
      answered(answer.status);
      return new Response(answer.body, { status: answer.status, headers: { ...limits, ...answer.headers } });
    };
    const hasOwnForm = this.#behavior.limitHeaders === 'refusals';
    const refused = hasOwnForm ? undefined : this.#refuse(context, target);
    if (refused !== undefined) return send(refused);
    const limits = hasOwnForm ? () => ({}) : this.#headers(target);
    const sendLimited = (answer: SimulatedAnswer) => send(answer, limits());
    const limited =
      this.#limit(target) ?? (hasOwnForm ? this.#refuseInTexts(context, target) : this.#refuseKey(context));
    if (limited !== undefined) return sendLimited(limited);
    const page = Number(context.req.query('page') ?? 1);
    const fault = faults.takeRest(target, page);
    return fault === undefined
      ? sendLimited(await endpoint())
      : this.#applyFault(fault, context, sendLimited, endpoint);
  }

  get #behavior(): PanelBehavior {
    return PANEL_BEHAVIORS[this.#host.settings.panel];
  }

  /** Calagopus' refusals after the limit check (backend/src/routes/api/client/mod.rs). */
  #refuseInTexts(
    context: Context<{ Bindings: HttpBindings }>,
    target: CallTarget,
  ): SimulatedAnswer | undefined {
    const { keys, settings } = this.#host;
    if (settings.maintenance) return textsRefusal(503, 'internal server error');
    const given = context.req.header('authorization') ?? '';
    if (given.length !== CALAGOPUS_HEADER_LENGTH) return textsRefusal(401, 'invalid authorization header');
    if (!keys.has(sentKey(context))) return textsRefusal(401, 'invalid api key');
    const address = context.env.incoming.socket.remoteAddress ?? '';
    if (settings.allowedAddresses.length > 0 && !settings.allowedAddresses.includes(address))
      return textsRefusal(403, 'ip address not allowed for this api key');
    return settings.twoFactorRequired && target.endpoint !== 'account'
      ? textsRefusal(403, 'two-factor authentication required')
      : undefined;
  }

  /** The refusals before the limit check, in this order. They have no rate limit headers. */
  #refuse(context: Context<{ Bindings: HttpBindings }>, target: CallTarget): SimulatedAnswer | undefined {
    const { keys, settings } = this.#host;
    const refuse = (status: number, detail?: string, code?: string) =>
      refusalAnswer(refusal(status, detail, code));
    if (settings.maintenance) return refuse(503);
    const key = sentKey(context);
    if (!this.#policy.isKnown(key, keys)) {
      // A browser without a session is redirected to the login page; the panel recognizes browsers
      // by their Accept header.
      return acceptsJson(context) ? refuse(401) : redirect('/auth/login');
    }
    if (settings.twoFactorRequired && target.endpoint !== 'account') {
      const detail =
        'Two-factor authentication is required on this account in order to access this endpoint.';
      return refuse(400, detail, 'TwoFactorAuthRequiredException');
    }
    const address = context.env.incoming.socket.remoteAddress ?? '';
    if (settings.allowedAddresses.length > 0 && !settings.allowedAddresses.includes(address)) {
      const detail = `This IP address (${address}) does not have permission to access the API using these credentials.`;
      return refuse(403, detail);
    }
    return isWellFormed(context.req.raw.url) ? undefined : refuse(400);
  }

  #refuseKey(context: Context): SimulatedAnswer | undefined {
    const { keys, settings } = this.#host;
    const detail = this.#policy.refusal(sentKey(context), keys, settings);
    return detail === undefined ? undefined : refusalAnswer(refusal(403, detail));
  }

  #limit({ endpoint, server }: CallTarget): SimulatedAnswer | undefined {
    const { clock, recorder, settings } = this.#host;
    const now = clock.now();
    const { limit: form, limitHeaders } = this.#behavior;
    const limit = (settings.rateLimitPerMinute * form.windowMs) / 60_000;
    const panel = countCall(this.#window, limit, now, form);
    this.#window = panel.window;
    if (!panel.allowed) {
      recorder.count('panelLimited');
      return limitHeaders === 'refusals' ? tooManyInTexts(panel, limit, clock) : this.#tooMany(panel);
    }
    if (endpoint !== 'websocket' || server === undefined || settings.websocketLimitPerMinute === 0) {
      return undefined;
    }
    const own = countCall(this.#serverWindows.get(server), settings.websocketLimitPerMinute, now);
    this.#serverWindows.set(server, own.window);
    if (own.allowed) return undefined;
    recorder.count('websocketLimited');
    return this.#tooMany(own);
  }

  #tooMany({ resetMs }: RateVerdict): SimulatedAnswer {
    const { clock } = this.#host;
    const seconds = Math.max(1, Math.ceil(resetMs / 1_000));
    const resetAt = Math.ceil((clock.toUnixMs(clock.now()) + resetMs) / 1_000);
    const answer = refusalAnswer(refusal(429));
    return {
      ...answer,
      headers: {
        ...answer.headers,
        'retry-after': String(seconds),
        'x-ratelimit-reset': String(resetAt),
      },
    };
  }

  /**
   * Returns a function for the rate limit headers of a response, which is called when the response
   * is sent. For credentials, they contain the server's limit.
   */
  #headers({ endpoint, server }: CallTarget): () => Record<string, string> {
    return () => {
      const { clock, settings } = this.#host;
      const own = endpoint === 'websocket' && server !== undefined && settings.websocketLimitPerMinute > 0;
      const limit = own ? settings.websocketLimitPerMinute : settings.rateLimitPerMinute;
      const window = own ? this.#serverWindows.get(server) : this.#window;
      const used = window === undefined || clock.now() >= window.endsAt ? 0 : window.used;
      return {
        'x-ratelimit-limit': String(limit),
        'x-ratelimit-remaining': String(Math.max(0, limit - used)),
      };
    };
  }

  async #applyFault(
    fault: RestFault,
    context: Context<{ Bindings: HttpBindings }>,
    send: (answer: SimulatedAnswer) => Response,
    endpoint: () => Promise<SimulatedAnswer>,
  ): Promise<Response> {
    const { clock, stopped } = this.#host;
    switch (fault.kind) {
      case 'refuse': {
        const shape = fault.shape ?? (this.#behavior.limitHeaders === 'refusals' ? 'texts' : 'errors');
        const answer = refusalAnswer(refusal(fault.status, fault.detail, fault.code), shape);
        const headers = { ...answer.headers, ...fault.headers };
        return send({ ...answer, headers, body: fault.body ?? answer.body });
      }
      case 'delay':
        await pause(clock, fault.ms, stopped);
        return send(await endpoint());
      case 'hang':
        if (fault.before === 'body') return unfinishedResponse(stopped);
        await aborted(stopped);
        break;
      case 'garbage':
        return send({
          status: 200,
          headers: { 'content-type': 'application/json' },
          body: fault.body ?? GARBAGE,
        });
      case 'oversize': {
        const padding = 'x'.repeat(fault.bytes ?? OVERSIZE_BYTES);
        return send({
          status: 200,
          headers: { 'content-type': 'application/json' },
          body: `{"data":"${padding}"}`,
        });
      }
      case 'redirect':
        return send(redirect(fault.location ?? '/auth/login'));
      case 'drop':
        break;
    }
    context.env.incoming.socket.destroy();
    // Never sent, because the connection is closed. It must not be recorded as a response either.
    return new Response(null, { status: 500 });
  }
}

/** "Bearer " and a key (`UserApiKey` in shared/src/models/user_api_key.rs of calagopus/panel). */
const CALAGOPUS_HEADER_LENGTH = 55;

/**
 * Calagopus sends rate limit headers only with this response. The limit is that of a 30 s window
 * (shared/src/cache.rs).
 */
function tooManyInTexts({ resetMs, remaining }: RateVerdict, limit: number, clock: Clock): SimulatedAnswer {
  const seconds = Math.max(1, Math.ceil(resetMs / 1_000));
  const answer = textsRefusal(429, `you are ratelimited, retry in ${seconds}s`);
  const headers = {
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(Math.ceil((clock.toUnixMs(clock.now()) + resetMs) / 1_000)),
    'retry-after': String(seconds),
  };
  return { ...answer, headers: { ...answer.headers, ...headers } };
}

function redirect(location: string): SimulatedAnswer {
  return { status: 302, headers: { location, 'content-type': 'text/html; charset=utf-8' }, body: '' };
}

function sentKey(context: Context): string {
  return /^Bearer (\S+)$/.exec(context.req.header('authorization') ?? '')?.[1] ?? '';
}

function acceptsJson(context: Context): boolean {
  return /[/+]json\b/.test(context.req.header('accept') ?? '');
}

function isWellFormed(url: string): boolean {
  try {
    decodeURIComponent(new URL(url).pathname);
    return true;
  } catch {
    return false;
  }
}

/** Waits until the time has passed or the panel stops. */
export async function pause(clock: Clock, delayMs: number, stopped: AbortSignal): Promise<void> {
  await sleep(clock, delayMs, stopped).catch(() => undefined);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Headers and the first bytes of a body that never ends. */
function unfinishedResponse(stopped: AbortSignal): Response {
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode(GARBAGE)),
    pull: () => aborted(stopped),
  });
  return new Response(body, { status: 200, headers: { 'content-type': 'application/json' } });
}
