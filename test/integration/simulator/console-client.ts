import { WebSocket } from 'ws';
import type { Simulator } from '../../../src/simulator/simulator-interface.ts';

/** Requests credentials for a server's console at one of the panel's addresses. */
export async function credentials(panel: Simulator, server: string, url = panel.url): Promise<Credentials> {
  const response = await fetch(`${url}/api/client/servers/${panel.server(server).uuid}/websocket`, {
    headers: { accept: 'application/json', authorization: `Bearer ${panel.apiKey}` },
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`no credentials: ${response.status} ${text}`);
  const body = JSON.parse(text) as { data: Credentials } | { token: string; url: string };
  return 'data' in body ? body.data : { token: body.token, socket: body.url };
}

interface Credentials {
  readonly token: string;
  readonly socket: string;
}

/** A console socket that records everything it receives. */
export class ConsoleClient {
  readonly socket: WebSocket;
  /** The texts of all frames, in order. */
  readonly frames: string[] = [];
  closed: { readonly code: number; readonly reason: string } | undefined;

  constructor(address: string, origin: string) {
    this.socket = new WebSocket(address, { origin });
    this.socket.on('message', (data) => this.frames.push((data as Buffer).toString()));
    this.socket.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() };
    });
    this.socket.on('error', () => undefined);
  }

  send(event: string, ...args: (string | null)[]): void {
    this.socket.send(JSON.stringify(args.length === 0 ? { event } : { event, args }));
  }

  /** The events in order, with name and first argument. */
  get events(): readonly string[] {
    return this.frames.map((text) => {
      const { event, args } = JSON.parse(text) as { event: string; args?: string[] };
      return event === 'stats' || args === undefined ? event : `${event} ${args[0]}`;
    });
  }
}
