import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { PTERODACTYL } from '../../../src/panel/dialects/pterodactyl.ts';
import { ConsoleSocket } from '../../../src/session/socket.ts';
import { socketTls } from '../../../src/session/socket-tls.ts';
import { type Authority, createAuthority } from '../../support/certificates.ts';
import { eventually } from '../../support/eventually.ts';
import { ManualClock } from '../../support/manual-clock.ts';

let authority: Authority;
let node: Server;
/** Whether each connection resumed a session. */
const resumed: boolean[] = [];

beforeAll(async () => {
  authority = await createAuthority();
  node = createServer(await authority.issue('IP:127.0.0.1'));
  node.on('secureConnection', (socket: TLSSocket) => resumed.push(socket.isSessionReused()));
  const acceptor = new WebSocketServer({ server: node });
  // When the client has read this frame, it has also read its new session.
  acceptor.on('connection', (ws) => ws.send('{"event":"status","args":["running"]}'));
  node.listen(0, '127.0.0.1');
  await once(node, 'listening');
});

afterAll(async () => {
  node.close();
  node.closeAllConnections();
  await authority.end();
});

it('a node is reached with the session of an earlier connection, and after it lost its key with another one', async () => {
  const { port } = node.address() as AddressInfo;
  const options = {
    codec: PTERODACTYL.socket,
    origin: 'https://panel.example.com',
    userAgent: 'test',
    clock: new ManualClock(),
    tls: socketTls({ ca: await readFile(authority.file, 'utf8') }),
  };
  const connect = async () => {
    const events: string[] = [];
    const socket = new ConsoleSocket(`wss://127.0.0.1:${port}/ws`, options, {
      opened: () => undefined,
      refused: ({ error }) => events.push(error.message),
      message: () => {
        events.push('message');
        return false;
      },
      oversize: () => undefined,
      closed: () => undefined,
    });
    await eventually(() => expect(events).toEqual(['message']));
    await socket.close();
  };
  await connect();
  await connect();
  await connect();
  expect(resumed).toEqual([false, true, true]);
  node.setTicketKeys(randomBytes(48));
  await connect();
  await connect();
  await connect();
  expect(resumed.slice(3)).toEqual([false, false, true]);
});
