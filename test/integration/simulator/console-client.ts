import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { Simulator } from '../../../src/simulator/api.ts';

/** A response of the simulated panel, its body still text. */
export interface RestAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Sends a request as a well-behaved client does. */
export async function ask(
  panel: Simulator,
  path: string,
  headers: Record<string, string> = {},
): Promise<RestAnswer> {
  const response = await fetch(`${panel.url}/api/client${path}`, {
    redirect: 'manual',
    headers: { accept: 'application/json', authorization: `Bearer ${panel.apiKey}`, ...headers },
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** Credentials for a server's console. */
export async function credentials(panel: Simulator, server: string) {
  const { status, text } = await ask(panel, `/servers/${panel.server(server).uuid}/websocket`);
  if (status !== 200) throw new Error(`no credentials: ${status} ${text}`);
  return (JSON.parse(text) as { data: { token: string; socket: string } }).data;
}

/** A console socket that keeps everything it receives. */
export class ConsoleClient {
  readonly socket: WebSocket;
  /** The texts of the frames, in order. */
  readonly frames: string[] = [];
  pongs = 0;
  closed: { readonly code: number; readonly reason: string } | undefined;

  constructor(address: string, origin: string) {
    this.socket = new WebSocket(address, { origin });
    this.socket.on('message', (data, isBinary) =>
      this.frames.push(isBinary ? `binary ${(data as Buffer).length}` : (data as Buffer).toString()),
    );
    this.socket.on('pong', () => {
      this.pongs += 1;
    });
    this.socket.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() };
    });
    this.socket.on('error', () => undefined);
  }

  send(event: string, ...args: (string | null)[]): void {
    this.socket.send(JSON.stringify(args.length === 0 ? { event } : { event, args }));
  }

  /** The events in order, each as its name and first argument. */
  get events(): readonly string[] {
    return this.frames.map((text) => {
      const { event, args } = JSON.parse(text) as { event: string; args?: string[] };
      return event === 'stats' || args === undefined ? event : `${event} ${args[0]}`;
    });
  }

  /** The payloads of the stats frames. */
  get stats(): readonly { readonly [key: string]: unknown }[] {
    return this.frames
      .map((text) => JSON.parse(text) as { event: string; args?: string[] })
      .filter(({ event }) => event === 'stats')
      .map(({ args }) => JSON.parse(args?.[0] ?? '{}') as { [key: string]: unknown });
  }
}

/** Opens a console socket; rejects if the upgrade is refused. */
export async function connect(panel: Simulator, server: string): Promise<ConsoleClient & { token: string }> {
  const { token, socket } = await credentials(panel, server);
  const client = Object.assign(new ConsoleClient(socket, panel.url), { token });
  await once(client.socket, 'open');
  return client;
}

/** Opens a console socket and authenticates. */
export async function attach(panel: Simulator, server: string): Promise<ConsoleClient & { token: string }> {
  const client = await connect(panel, server);
  client.send('auth', client.token);
  return client;
}

/** The status with which an upgrade is refused. */
export async function refusedUpgrade(address: string, origin: string): Promise<number> {
  const socket = new WebSocket(address, { origin });
  socket.on('error', () => undefined);
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode: number }];
  socket.terminate();
  return response.statusCode;
}
