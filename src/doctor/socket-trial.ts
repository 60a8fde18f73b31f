import type { Clock } from '../domain/clock.ts';
import type { ServerState } from '../domain/state.ts';
import type { PanelTelemetry } from '../domain/telemetry.ts';
import type { Credentials } from '../panel/decode.ts';
import { AUTH_TIMEOUT, CONNECT_TIMEOUT, SILENT } from '../session/failure.ts';
import { type FrameHandler, handleFrame } from '../session/frames.ts';
import type { ConsoleSocket, SocketListener } from '../session/socket.ts';
import { Timers } from '../session/timers.ts';
import { SILENCE_MS } from '../session/transitions.ts';
import { Cut, wordsOf } from './attempt.ts';
import type { Cause } from './causes.ts';
import { type AddressRules, addressCause } from './node-cause.ts';
import {
  closedTrouble,
  jwtTrouble,
  refusedTrouble,
  type SocketResult,
  type SocketStep,
  type SocketTrouble,
} from './socket-result.ts';

/** How one panel's sockets are tried. */
export interface SocketTrialOptions {
  readonly clock: Clock;
  readonly telemetry: PanelTelemetry;
  readonly origin: string;
  readonly connectTimeoutMs: number;
  readonly authTimeoutMs: number;
  readonly openSocket: (url: string, listener: SocketListener) => ConsoleSocket;
  readonly addressProblem: (url: string) => string | undefined;
  readonly isProxied: (url: string) => boolean;
  readonly addressRules: AddressRules;
  /** Told when a step begins. */
  readonly onStep: (step: SocketStep) => void;
}

const LATE: Readonly<Record<SocketStep, SocketTrouble>> = {
  upgrade: { cause: 'node_timeout', detail: CONNECT_TIMEOUT.trouble },
  auth: { cause: 'auth_unanswered', detail: AUTH_TIMEOUT.trouble },
  stats: { cause: 'no_stats', detail: SILENT.trouble },
};

/** Opens a server's console socket once, authenticates, waits for stats and closes it; sends `auth` and `send stats` alone. */
export class SocketTrial {
  readonly #options: SocketTrialOptions;
  readonly #credentials: Credentials;
  readonly #timers: Timers<'deadline'>;
  #step: SocketStep = 'upgrade';
  #socket: ConsoleSocket | undefined;
  #settle: (end: SocketTrouble | ServerState | undefined) => void = () => undefined;

  constructor(options: SocketTrialOptions, credentials: Credentials) {
    this.#options = options;
    this.#credentials = credentials;
    this.#timers = new Timers(options.clock, () => this.#settle(LATE[this.#step]));
  }

  /** Resolves with how far the socket came, at the latest when all of its deadlines passed or the signal aborts. */
  async run(signal: AbortSignal): Promise<SocketResult> {
    const { origin, addressRules, addressProblem } = this.#options;
    const { socketUrl } = this.#credentials;
    const host = URL.canParse(socketUrl) ? new URL(socketUrl).host : '';
    const problem = addressProblem(socketUrl);
    if (problem !== undefined) {
      const trouble = { cause: addressCause(socketUrl, addressRules), detail: problem };
      return { failedAt: 'upgrade', trouble, host, origin };
    }
    const onAbort = () => this.#settle(cutTrouble(signal.reason));
    const end = new Promise<SocketTrouble | ServerState | undefined>((resolve) => {
      this.#settle = resolve;
    });
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    else this.#open(socketUrl);
    const trouble = await end;
    signal.removeEventListener('abort', onAbort);
    await this.#leave();
    if (typeof trouble === 'object') return { failedAt: this.#step, trouble, host, origin };
    return { host, origin, ...(trouble === undefined ? {} : { state: trouble }) };
  }

  async #leave(): Promise<void> {
    this.#timers.cancelAll();
    this.#settle = () => undefined;
    await this.#socket?.close();
  }

  #open(url: string): void {
    const { connectTimeoutMs, origin, openSocket, isProxied } = this.#options;
    this.#begin('upgrade', connectTimeoutMs);
    const refused = (problem: Parameters<SocketListener['refused']>[0]) =>
      this.#settle(refusedTrouble(problem, origin, isProxied(url)));
    const frames = this.#frames();
    try {
      this.#socket = openSocket(url, {
        opened: () => this.#authenticate(),
        refused,
        message: (frame, isBinary) => handleFrame(frame, isBinary, frames),
        closed: (closing) => this.#settle(closedTrouble(closing)),
      });
    } catch (error) {
      // ws refuses some addresses outright.
      refused({ error: error as Error });
    }
  }

  #begin(step: SocketStep, deadlineMs: number): void {
    this.#step = step;
    this.#timers.set('deadline', deadlineMs);
    this.#options.onStep(step);
  }

  #authenticate(): void {
    this.#begin('auth', this.#options.authTimeoutMs);
    this.#socket?.send({ event: 'auth', token: this.#credentials.token });
  }

  #frames(): FrameHandler {
    return {
      telemetry: this.#options.telemetry,
      consoleLine: () => undefined,
      status: () => undefined,
      tokenEnding: () => undefined,
      stats: ({ state }) => {
        if (this.#step === 'stats') this.#settle(state);
      },
      authenticated: () => {
        if (this.#step !== 'auth') return;
        this.#begin('stats', SILENCE_MS);
        this.#socket?.send({ event: 'send stats' });
      },
      jwtError: (text) => this.#settle(jwtTrouble(text)),
    };
  }
}

function cutTrouble(reason: unknown): SocketTrouble {
  const cause: Cause | undefined = reason instanceof Cut ? reason.remedy : 'unexpected';
  return { cause, detail: wordsOf(reason) };
}
