// A fake node for tests of console commands.
import type { ConsoleAccess } from '../../src/console/console-session.ts';
import type { PanelApi } from '../../src/panel/panel-api.ts';
import type { PanelError } from '../../src/panel/panel-error.ts';
import type { ClientMessage } from '../../src/panel/socket-codec.ts';
import type { SocketListener } from '../../src/session/socket.ts';
import { SETTINGS, STATS, socketsOpenedBy } from './fleet-bench.ts';
import type { ManualClock } from './manual-clock.ts';
import { target } from './targets.ts';

/** A token with these permissions. */
const tokenWith = (...permissions: readonly string[]) =>
  ['e30', Buffer.from(JSON.stringify({ permissions })).toString('base64url'), 'x'].join('.');

/** The console socket of a node. It accepts every token, and then sends the server's state. */
export class NodeSocket {
  readonly sent: ClientMessage[] = [];
  isOpen = true;
  /** Resolves when the client has closed the socket. */
  closed = Promise.resolve();
  readonly #listener: SocketListener;
  #state: string;

  constructor(listener: SocketListener, state: string) {
    this.#listener = listener;
    this.#state = state;
    queueMicrotask(() => this.#listener.opened());
  }

  send(message: ClientMessage): void {
    if (message.event === 'send stats') this.#sends(STATS.replace('running', this.#state));
    else if (message.event === 'auth') {
      this.receives('auth success');
      this.receives('status', this.#state);
    } else this.sent.push(message);
  }

  /** Changes the server's state. */
  becomes(state: string): void {
    this.#state = state;
    this.receives('status', state);
  }

  receives(event: string, ...args: readonly string[]): void {
    this.#sends(JSON.stringify({ event, args }));
  }

  drops(): void {
    this.isOpen = false;
    this.#listener.closed({ code: 1006, text: '', oversize: false });
  }

  close(): Promise<void> {
    this.isOpen = false;
    return this.closed;
  }

  #sends(frame: string): void {
    queueMicrotask(() => {
      if (this.isOpen) this.#listener.message(Buffer.from(frame), false);
    });
  }
}

/** A server's state and permissions, or the panel's error instead of a token. */
export interface NodeSetup {
  readonly state?: string;
  readonly permissions?: readonly string[];
  readonly refusal?: PanelError;
}

/** Console access to one server, and the sockets that it opens. */
export function consoleNode(
  clock: ManualClock,
  { state = 'running', permissions = ['*'], refusal }: NodeSetup,
): { readonly access: ConsoleAccess; readonly sockets: readonly NodeSocket[] } {
  const sockets: NodeSocket[] = [];
  const credentials = { token: tokenWith(...permissions), socketUrl: 'wss://node/ws', lifetimeMs: 600_000 };
  const get = () =>
    refusal === undefined ? Promise.resolve({ value: credentials }) : Promise.reject(refusal);
  const access: ConsoleAccess = {
    api: { get } as unknown as Pick<PanelApi, 'get'>,
    sockets: socketsOpenedBy((_url, listener) => {
      const socket = new NodeSocket(listener, state);
      sockets.push(socket);
      return socket;
    }),
    target: target(),
    settings: SETTINGS,
    clock,
    random: () => 0.5,
  };
  return { access, sockets };
}
