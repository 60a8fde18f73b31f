import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';

/** A server on the loopback interface that records what it receives. */
export interface Inbox {
  readonly port: number;
  /** Each message: a request's `Authorization` and body, or a mail's header and body. */
  readonly messages: readonly string[];
  close(): void;
}

/** An inbox for HTTP requests; each is accepted with 200. */
export async function httpInbox(): Promise<Inbox> {
  const messages: string[] = [];
  const server = createServer((request, response) => {
    const receive = async () => {
      messages.push(`${request.headers.authorization ?? ''}\n${await text(request)}`);
      response.end('ok');
    };
    void receive();
  });
  const port = await listen(server);
  return {
    port,
    messages,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** An inbox for mail, which accepts every message without a password or TLS. */
export async function mailInbox(): Promise<Inbox> {
  const messages: string[] = [];
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    converse(socket, (message) => messages.push(message));
  });
  const port = await listen(server);
  return {
    port,
    messages,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** The server's side of SMTP (RFC 5321), as far as a client without extensions needs it. */
function converse(socket: Socket, keep: (message: string) => void): void {
  let unread = '';
  let isMessage = false;
  socket.setEncoding('utf8').on('error', () => undefined);
  socket.write('220 inbox\r\n');
  socket.on('data', (chunk) => {
    unread += String(chunk);
    for (;;) {
      const mark = isMessage ? '\r\n.\r\n' : '\r\n';
      const end = unread.indexOf(mark);
      if (end < 0) return;
      const taken = unread.slice(0, end);
      unread = unread.slice(end + mark.length);
      if (isMessage) keep(taken);
      isMessage = !isMessage && taken === 'DATA';
      socket.write(isMessage ? '354 go on\r\n' : '250 ok\r\n');
    }
  });
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
