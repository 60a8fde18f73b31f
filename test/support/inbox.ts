// Local servers that record notifications.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';

/** A server on the loopback interface that records all messages. */
export interface Inbox {
  readonly port: number;
  /**
   * The messages: the `Authorization` and the body of a request, or the header and the body of a
   * mail.
   */
  readonly messages: readonly string[];
  close(): void;
}

/** Starts an inbox for HTTP requests. It responds with 200. */
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

/** Starts an inbox for mail. It accepts every message, without a password and without TLS. */
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

/** The server's part of SMTP (RFC 5321), as far as a client without extensions needs it. */
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
